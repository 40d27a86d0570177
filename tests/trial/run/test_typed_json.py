"""Values are read as what they are, also by a process that has not imported their classes."""

from __future__ import annotations

import subprocess
import sys

from tests import make
from tidegate.agents.codex import CodexAgent
from tidegate.model.plan import PlanRow, RowKey
from tidegate.run.bundle import dump, load

CODEX = CodexAgent.model_validate({"type": "codex", "provider": {"type": "azure", "resource": "x"}})
READ = """
import sys
from tidegate.model.plan import PlanRow
from tidegate.run.bundle import dump, load
assert "tidegate.agents.codex" not in sys.modules
print(dump(load(sys.stdin.read(), PlanRow)))
"""


def test_a_process_reads_values_whose_classes_it_has_not_imported() -> None:
    key = RowKey(scenario="s", agent="a")
    row = PlanRow(key=key, scenario=make.scenario(), agent=CODEX, deterministic=False)
    done = subprocess.run([sys.executable, "-c", READ], input=dump(row), capture_output=True, text=True, check=True)
    assert load(done.stdout, PlanRow) == row
