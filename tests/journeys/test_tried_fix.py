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
    assert "**This edit makes 1 row pass** (tried: 1 of 1 trial)" in done.comment
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


def test_an_edit_that_does_not_pass_is_not_named(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(store())
    repo.branch("pr", {"bin/store": RENAMED.replace("-args.count", "-2 * args.count")})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    assert done.code == 1
    assert done.result["fix"] is None
    assert "makes" not in done.comment
    assert "**To fix:** update `AGENTS.md:4` and `AGENTS.md:5`" in done.comment
    missing = tidegate("fix", str(done.out), cwd=repo.root)
    assert (missing.code, "there is no patch" in missing.stderr) == (2, True)


def test_scenario_files_are_never_edited(make_repository: Make, tidegate: Make) -> None:
    """The scenario's own check uses the option, too: only a maintainer changes that."""
    repo = make_repository()
    checked = store()["keep.yaml"].replace(
        "substring: '\"stock\": 7'}]", "substring: stock}, {type: command_succeeds, command: store put --count 1}]"
    )
    repo.commit({**store(), "keep.yaml": checked})
    repo.branch("pr", {"bin/store": RENAMED})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    assert done.code == 1
    assert done.result["fix"] is None
    assert (repo.root / "keep.yaml").read_text() == checked
