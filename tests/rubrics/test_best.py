"""The best of several works: two orders, and the majority of a panel. Each expectation is worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tidegate.model.question import AskModel, ModelAnswer, Reply
from tidegate.rubrics.best import Choice, select_best
from tidegate.rubrics.samples import Criterion

CRITERIA = (Criterion(id="a", description="A"),)


def chosen(*orders: Sequence[int], works: Sequence[str] = ("one", "two", "three")) -> Choice:
    """The choice if the judges answer with these numbers, first in the given order and then in the reverse one."""
    asking = select_best(CRITERIA, "Do it.", works)
    assert isinstance(next(asking), AskModel)
    try:
        for numbers in orders:
            replies = (
                Reply(judge=n, text=json.dumps({"reason": f"why {n}", "best": best})) for n, best in enumerate(numbers)
            )
            asking.send(ModelAnswer(replies=tuple(replies)))
    except StopIteration as end:
        return Choice(*end.value)
    raise AssertionError("it asks for more")


def test_the_same_work_in_both_orders_is_the_best() -> None:
    """The first of three in the one order is the third in the other."""
    assert chosen([1], [3])[:2] == (0, "why 0")
    assert chosen([2], [2])[:2] == (1, "why 0")


@pytest.mark.parametrize("orders", [([1], [1]), ([0], [0]), ([0], [2])])
def test_a_choice_that_changes_with_the_order_is_none(orders: tuple[list[int], list[int]]) -> None:
    assert chosen(*orders)[:2] == (None, "")


def test_more_than_half_of_a_panel_have_to_agree() -> None:
    """Works 0, 0 and 2; then 0 and 2, which is no majority."""
    found = chosen([1, 1, 3], [3, 3, 1])
    assert (found.best, {judge: own for judge, (_, own) in found.judges.items()}) == (0, {0: 0, 1: 0, 2: 2})
    assert chosen([1, 3], [3, 1]).best is None


def test_an_answer_that_cannot_be_read_is_no_choice() -> None:
    found = chosen([4], [4], [4])
    assert (found.best, found.problem) == (None, "the answer cannot be read: `best` is 4, not a number from 0 to 3")
