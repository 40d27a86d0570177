"""More of what the reports of a real run show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.journeys.conftest import AGENTS_MD, NOTES, SUITE
from tests.journeys.test_reports import compared
from tests.journeys.test_reports import repo as repo

Make = Callable[..., Any]


SILENT = NOTES.replace('echo "$1" >> notes.txt', "echo lost >> notes.txt")


def test_a_template_that_is_not_there_on_base_is_said(repo: Any, tidegate: Make) -> None:
    repo.commit({"tidegate.yaml": SUITE + "report: {comment_template: nowhere.j2}\n"}, on="main")
    repo.git("checkout", "--quiet", "pr")
    repo.git("merge", "--quiet", "main")
    repo.commit({"nowhere.j2": "x"})
    ran = compared(repo, tidegate)
    assert ran.code == 2
    assert "report.comment_template: nowhere.j2 cannot be read on base" in ran.stderr


def test_where_nothing_fails_base_s_answer_stands_beside_head_s(repo: Any, tidegate: Make) -> None:
    """A tool that silently does something else: same commands, same exit codes."""
    repo.commit({"AGENTS.md": AGENTS_MD.replace("second\n", "second\n$ notes list\n")}, on="main")
    repo.git("checkout", "--quiet", "pr")
    repo.git("merge", "--quiet", "main")
    repo.commit({"bin/notes": SILENT})
    ran = compared(repo, tidegate)
    assert ran.code == 1, ran.stdout
    assert "  $ notes list\n-     first\n-     second\n+     lost\n+     lost\n" in ran.comment
    assert "that failed on head" not in ran.comment


def test_output_that_went_to_a_file_is_shown_from_the_files_diff(repo: Any, tidegate: Make) -> None:
    repo.commit({"bin/notes": SILENT}, on="pr")
    ran = compared(repo, tidegate)
    assert ran.code == 1, ran.stdout
    assert "  notes.txt:\n-first\n-second\n+lost\n+lost\n" in ran.comment
