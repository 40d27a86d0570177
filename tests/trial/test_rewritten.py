"""Which files of the template and of HOME gates use, and that the trial has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.model.probe import ReadFile, RunCommand, RunScript
from tidegate.trial.rewritten import MOST_FILES, rewritten_files, used_files
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
        ("for f in ./data/*.json; do cat $f; done", {"data/wanted.json"}),
        ('for f in "$folder"/*.sh; do sh $f; done', {"check.sh", "lib.sh", "data/wanted.json"}),
        ("find . -name 'want*'", {"data/wanted.json"}),
        ("expr 2 * 3", set()),
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

    home = tmp_path / "home"
    assert rewritten_files(requests, prepared, workspace, home) == ("data/wanted.json",)
    assert rewritten_files([RunCommand(command="sh check.sh", timeout_secs=1)], prepared, workspace, home) == (
        "check.sh",
        "data/wanted.json",
        "lib.sh",
    )


def test_what_programs_load_from_home_is_named_where_a_gate_runs_a_command(tmp_path: Path) -> None:
    packages = ".local/lib/python3.11/site-packages"
    for name in (".npmrc", f"{packages}/usercustomize.py", ".notes/state", ".local/share/x"):
        (tmp_path / "home" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / name).touch()
    empty = Prepared(tmp_path / "template", ())

    def found(request: object) -> tuple[str, ...]:
        return rewritten_files([request], empty, tmp_path / "workspace", tmp_path / "home")

    assert found(RunCommand(command="true", timeout_secs=1)) == (f"~/{packages}/usercustomize.py", "~/.npmrc")
    assert found(ReadFile(path="notes.txt")) == ()


def test_more_files_in_home_than_are_looked_at_do_not_hide_one(tmp_path: Path) -> None:
    modules = tmp_path / ".node_modules"
    modules.mkdir()
    for number in range(MOST_FILES + 1):
        (modules / str(number)).touch()
    found = rewritten_files([RunCommand(command="true", timeout_secs=1)], Prepared(tmp_path, ()), tmp_path, tmp_path)
    assert len(found) == MOST_FILES + 1
    assert "~/.node_modules/*: more than 2,000 files" in found
