from __future__ import annotations

from collections.abc import Callable, Mapping

from tidegate.model.result import Links, Result
from tidegate.reports.recipe import recipe


def test_a_head_without_a_branch_is_checked_out_by_its_commit(stories: Mapping[str, Callable[[], Result]]) -> None:
    """`git switch HEAD` would fail."""
    result = stories["one_regression"]().model_copy(update={"links": Links()})
    head = result.sides.head.model_copy(update={"ref": "HEAD"})
    nameless = result.model_copy(update={"sides": result.sides.model_copy(update={"head": head})})
    assert recipe(result, result.rows[0]).splitlines()[1] == "git switch rename-prio-flag"
    assert recipe(nameless, result.rows[0]).splitlines()[1] == f"git switch --detach {head.sha}"
