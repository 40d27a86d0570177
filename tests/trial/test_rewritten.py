"""Which files of the template gates use, and that the trial has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.model.probe import ReadFile, RunCommand, RunScript
from tidegate.trial.rewritten import rewritten_files, used_files
from tidegate.trial.workspace import Prepared

FILES = {
    "check.sh": ". ./lib.sh\n",
    "lib.sh": "jq . data/wanted.json\n",
    "data/wanted.json": "{}\n",
    "check.py": "import scoring\nfrom pack import x\n",
    "scoring.py": "",
    "pack/__init__.py": "",
    "test_notes.py": "",
    "Makefile": "test:\n\tsh check.sh\n",
    "package.json": "{}\n",
    "README.md": "",
}


@pytest.fixture
def template(tmp_path: Path) -> Path:
    return write_files(tmp_path / "template")


def write_files(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("command", "used"),
    [
        ("sh ./check.sh", {"check.sh", "lib.sh", "data/wanted.json"}),
        ("python3 check.py", {"check.py", "scoring.py", "pack/__init__.py"}),
        ("python3 -m scoring", {"scoring.py"}),
        ("make -s test", {"Makefile", "check.sh", "lib.sh", "data/wanted.json"}),
        ("npm test", {"package.json"}),
        ("pytest -q", {"test_notes.py"}),
        ("notes list", set()),
    ],
)
def test_a_command_uses_what_it_and_its_files_name(template: Path, command: str, used: set[str]) -> None:
    assert used_files(command, template) == used


def test_changed_and_removed_files_are_named_except_guidance_and_restored_scripts(tmp_path: Path) -> None:
    prepared = Prepared(write_files(tmp_path / "template"), ("README.md#usage",))
    workspace = write_files(tmp_path / "workspace")
    for name in ("check.sh", "lib.sh", "README.md", "scoring.py"):
        (workspace / name).write_text("changed")
    (workspace / "data/wanted.json").unlink()

    script, command = (
        RunScript(command="sh check.sh", timeout_secs=1),
        RunCommand(command="cat README.md", timeout_secs=1),
    )
    requests = [script, command, ReadFile(path="scoring.py"), None]

    assert rewritten_files(requests, prepared, workspace) == ("data/wanted.json",)
    assert rewritten_files([RunCommand(command="sh check.sh", timeout_secs=1)], prepared, workspace) == (
        "check.sh",
        "data/wanted.json",
        "lib.sh",
    )
