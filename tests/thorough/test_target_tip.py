"""A branch that begins at a broken commit, which the target branch has repaired or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import NOTES, Ran, start
from tests.thorough.attempts.attempt import FILES, FORGETFUL
from tests.warm import run_tidegate


@pytest.fixture
def compared(tmp_path: Path) -> Callable[..., Ran]:
    """Run a pull request whose merge base is broken, with the tool of main's tip and of head."""

    def compare(tip: str, head: str, *, recorded: bool = False) -> Ran:
        repo = Repository(tmp_path / "repo")
        repo.commit({**FILES, "bin/notes": FORGETFUL})
        repo.branch("pr", {"bin/notes": head})
        repo.commit({"bin/notes": tip}, on="main")
        if recorded:
            run_tidegate("run", "--rev", "main", "--history", cwd=repo.root)
        return start(tmp_path / "out", "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    return compare


@pytest.mark.attempt("repairs the tool, as the target branch has done since", "passed", 0)
def test_a_branch_that_repairs_the_tool_as_well_is_green(compared: Callable[[str, str], Ran]) -> None:
    ran = compared(NOTES, NOTES + "# mine\n")
    assert (ran.code, ran.row("keep_notes")["state"]) == (0, "improved"), ran.stderr


def test_a_row_that_fails_at_the_tip_too_blocks_nothing(compared: Callable[[str, str], Ran]) -> None:
    ran = compared(FORGETFUL + "# main\n", FORGETFUL + "# mine\n")
    assert (ran.code, ran.row("keep_notes")["state"]) == (0, "ok"), ran.stderr


@pytest.mark.parametrize("recorded", [False, True])
def test_the_comment_says_what_to_do(compared: Callable[..., Ran], recorded: bool) -> None:
    """Also if main's history passes: the merge base fails by what main has repaired, not by what head left behind."""
    ran = compared(NOTES, FORGETFUL + "# mine\n", recorded=recorded)
    assert (ran.code, ran.row("keep_notes")["state"]) == (5, "unconfirmed")
    assert "passes in 1 of 1 trials at the tip of main: merge main into this branch" in ran.comment
