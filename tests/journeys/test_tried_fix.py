"""A fix of the docs is tried in a copy of head, is named only if it passes, and can be applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.thorough.test_causes import COUNT_GUIDE, COUNTED, store

Make = Callable[..., Any]
RENAMED = COUNTED.replace('"--count"', '"--amount", dest="count"')


def test_a_rename_that_the_docs_do_not_follow_is_fixed_by_the_edit_that_was_tried(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository()
    repo.commit(store())
    repo.branch("pr", {"bin/store": RENAMED})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    assert done.code == 1
    assert "**This edit makes 1 of 1 regressed row pass** (tried: 1 trial)" in done.comment
    assert "-$ store put --count 10\n-$ store take --count 3\n+$ store put --amount 10\n" in done.comment
    patch = done.out / "fix.patch"
    assert patch.read_text() == done.result["fix"]["diff"]
    assert (repo.root / "AGENTS.md").read_text() == COUNT_GUIDE, "only a copy was edited"
    applied = tidegate("fix", str(done.out), cwd=repo.root)
    assert applied.code == 0, applied.stderr
    assert "AGENTS.md" in applied.stdout
    assert (repo.root / "AGENTS.md").read_text() == COUNT_GUIDE.replace("--count", "--amount")
    again = tidegate("fix", str(patch), cwd=repo.root)
    assert again.code == 2
    assert "does not apply" in again.stderr
    repo.commit({"AGENTS.md": COUNT_GUIDE.replace("--count", "--amount")})
    assert tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root).code == 0
    assert not patch.exists()
