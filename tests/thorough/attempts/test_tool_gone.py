"""A pull request that loses the tool does not pass by a copy of it that the machine has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import start
from tests.thorough.attempts.attempt import FILES


@pytest.mark.attempt("loses the tool, of which the machine has a working copy", "regression")
def test_a_copy_of_the_tool_outside_of_the_pull_request_is_not_the_tool(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "system/notes"
    copy.parent.mkdir()
    copy.write_text(FILES["bin/notes"])
    for path in (copy, copy.parent):
        path.chmod(0o755)
    repo = Repository(tmp_path / "repo")
    repo.commit(FILES)
    repo.branch("pr", {"bin/notes": None, "bin/note": "#!/bin/sh\nexit 1\n"})

    env = {"PATH": f"{os.environ['PATH']}:{copy.parent}"}
    ran = start(tmp_path / "out", "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root, env=env)

    assert ran.code == 1, ran.stderr
    assert "`path` has no program `notes` where base has it" in ran.comment


@pytest.mark.attempt("loses a program that the tool starts, of which the machine has a working copy", "regression")
def test_a_copy_of_a_program_beside_the_tool_is_not_that_program(tmp_path: Path) -> None:
    copy, keeps = tmp_path / "system/notes-keep", '#!/bin/sh\necho "$1" >> notes.txt\n'
    copy.parent.mkdir()
    copy.write_text(keeps)
    for path in (copy, copy.parent):
        path.chmod(0o755)
    repo = Repository(tmp_path / "repo")
    tool = FILES["bin/notes"].replace('echo "$1" >> notes.txt', 'notes-keep "$1"')
    repo.commit({**FILES, "bin/notes": tool, "bin/notes-keep": keeps})
    repo.branch("pr", {"bin/notes-keep": None})

    env = {"PATH": f"{os.environ['PATH']}:{copy.parent}"}
    ran = start(tmp_path / "out", "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root, env=env)

    assert ran.code == 1, ran.stderr
    assert "notes-keep: not found" in ran.comment
