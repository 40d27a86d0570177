"""An agent's trial replayed in another run, from its record and from an exported trajectory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("form", ["events", "atif"])
def test_a_stored_trial_is_done_again(
    form: str, tmp_path: Path, make_repository: Callable[..., Any], tidegate: Callable[..., Any], files: dict[str, str]
) -> None:
    repository = make_repository()
    repository.commit(files)
    first = tmp_path / "first"
    assert tidegate("run", "--trials", "1", "--out", str(first), cwd=repository.root).code == 0
    trace = next(first.rglob("events.jsonl"))
    if form == "atif":
        tidegate("export", str(first), "--format", "atif", "--out", str(tmp_path / "out"), cwd=repository.root)
        trace = next((tmp_path / "out").rglob("*.json"))
    shutil.copy(trace, repository.root / "trace")
    agents = f"agents: {{again: {{type: replay, format: {form}, traces: {{keep_notes: trace}}}}}}\n"
    suite = files["tidegate.yaml"].partition("agents:")[0] + agents
    # The tool has changed since: it wants another word.
    repository.commit({"tidegate.yaml": suite, "bin/notes": files["bin/notes"].replace("  add)", "  append)")})
    second = tmp_path / "second"
    tidegate("run", "--out", str(second), cwd=repository.root)
    (trial,) = json.loads((second / "run.json").read_text())["trials"]
    assert [(call["command"], call["status"]) for call in trial["calls"]] == [
        ("notes add first", "error"),
        ("notes add second", "error"),
    ]
    assert (trial["outcome"], trial["end"]) == ("fail", "completed")
