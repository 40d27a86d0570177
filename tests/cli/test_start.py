"""What a start costs: nothing heavy is imported before it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gh.emulated.runner import Step, load_event, pull_request_payload

HEAVY = {"anthropic", "github", "requests", "cryptography", "scipy", "numpy"}
HEAVIER_THAN_HELP = {"pydantic", "jinja2", "rich", "yaml", "jsonpath_ng", "markdown_it", "tree_sitter", "asyncio"}
PROGRAM = """
import sys
from tidegate.__main__ import main
try:
    code = main(sys.argv[1:])
except SystemExit as leaving:
    code = leaving.code
sys.stderr.write("\\nloaded: " + " ".join(sorted({name.partition(".")[0] for name in sys.modules})))
sys.exit(code)
"""


def loaded(*arguments: str, cwd: Path, environ: dict[str, str] | None = None) -> set[str]:
    """The packages that a call of tidegate imports; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=cwd,
        env=environ or dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(done.stderr.rpartition("loaded: ")[2].split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["action", "--help"], ["pr", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    assert loaded(*arguments, cwd=tmp_path) & (HEAVY | HEAVIER_THAN_HELP) == set()


@pytest.mark.parametrize("event", ["push", "a draft"])
def test_where_nothing_is_to_be_run_nothing_heavy_is_imported(event: str, tmp_path: Path) -> None:
    step = Step(tmp_path / "step", tmp_path)
    if event == "push":
        payload = load_event("push")
        environ = step.environ("push", payload, {"github_token": "t"})
    else:
        payload = pull_request_payload("acme/tool", 1, "d" * 40, "b" * 40, draft=True)
        environ = step.environ("pull_request", payload, {"github_token": "t", "drafts": "skip"})

    assert loaded("action", cwd=tmp_path, environ=environ) & HEAVY == set()
    assert step.outputs()["verdict"] == "not_run"
