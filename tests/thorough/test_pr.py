"""Options of `tidegate pr`: where it writes, and how its sides are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES

Make = Callable[..., Any]


def test_an_out_folder_may_be_relative_and_loses_the_reports_of_earlier_calls(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("pr", {"README.md": "x"})
    (repo.root / "elsewhere").mkdir()
    (repo.root / "elsewhere" / "comment.md").write_text("of another commit")
    broken = {"tidegate.yaml": FILES["tidegate.yaml"] + "nonsense: 1\n"}

    ran = tidegate("pr", "--base", "main", "--head", "pr", "--out", "elsewhere", cwd=repo.root)
    kept = (repo.root / "elsewhere" / "comment.md").read_text()
    repo.branch("broken", broken)
    tidegate("pr", "--base", "main", "--head", "broken", "--out", "elsewhere", cwd=repo.root)

    assert ran.code == 0, ran.stderr
    assert "passed" in kept
    assert not (repo.root / "elsewhere" / "comment.md").exists()


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["--base", "refs/heads/main", "--head", "refs/heads/pr"], {}),
        (["--base", "main"], {"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "pr"}),  # HEAD is detached, as GitLab leaves it
    ],
)
def test_a_pull_request_is_known_by_its_branch_however_that_is_named(
    make_repository: Make, tidegate: Make, arguments: list[str], env: dict[str, str]
) -> None:
    """Six passes clear a row that was red, and not one: so the earlier push must not be forgotten."""
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("pr", {"bin/notes": FILES["bin/notes"].replace("  add)", "  append)")})
    assert tidegate("pr", "--base", "main", "--head", "pr", cwd=repo.root).code == 1
    repo.commit({"bin/notes": FILES["bin/notes"] + "# repaired\n"}, on="pr")
    repo.git("checkout", "--quiet", "--detach", "HEAD")

    ran = tidegate("pr", *arguments, cwd=repo.root, env=env)

    assert ran.code == 0, ran.stderr
    assert (ran.row("keep_notes")["head"]["passes"], ran.row("keep_notes")["head"]["trials"]) == (6, 6)
    assert len([*repo.root.glob(".tidegate/store/pushes/*")]) == 1
