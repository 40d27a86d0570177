"""Fixes that are tried and not named."""

from __future__ import annotations

from tests.journeys.test_tried_fix import RENAMED, Make
from tests.thorough.test_causes import store


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


def test_a_row_whose_checks_name_the_old_option_does_not_keep_the_others_from_being_tried(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository()
    keep = store()["keep.yaml"]
    checked = keep.replace("name: keep_stock", "name: checked").replace(
        "substring: '\"stock\": 7'}]", "substring: stock}, {type: command_succeeds, command: store put --count 1}]"
    )
    suite = store()["tidegate.yaml"].replace("[keep.yaml]", "[keep.yaml, checked.yaml]")
    repo.commit({**store(), "tidegate.yaml": suite, "checked.yaml": checked})
    repo.branch("pr", {"bin/store": RENAMED})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    assert done.code == 1
    assert [row["scenario"] for row in done.result["fix"]["rows"]] == ["keep_stock"]
    assert "**This edit makes 1 of 2 regressed rows pass** (tried: 1 trial)" in done.comment
    assert "The checks of `checked` × `docs` use the old name: this row stays red until" in done.comment
