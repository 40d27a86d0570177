"""Compare an expected call with an actual call, and lists of both with each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

from tidegate.evaluators.compared_calls import Call
from tidegate.gates.assertion import same
from tidegate.gates.fields import NonEmpty
from tidegate.model.value import Value
from tidegate.text.patterns import check_pattern, search

A = TypeVar("A")
B = TypeVar("B")


def _check_patterns(expected: Any) -> Any:
    """Return the value. Raises ValueError if a `{regex: …}` in it is not a regular expression."""
    match expected:
        case {"regex": pattern} if len(expected) == 1:
            if not isinstance(pattern, str):
                raise ValueError("holds a `regex` that is not text")
            try:
                check_pattern(pattern)
            except ValueError as error:
                raise ValueError(f"holds a `regex` that {error}") from None
        case dict():
            for value in expected.values():
                _check_patterns(value)
        case list():
            for value in expected:
                _check_patterns(value)
        case _:
            pass
    return expected


Matcher = Annotated[Any, AfterValidator(_check_patterns)]


class ExpectedCall(Value):
    """A call that should be made. The actual call may have more fields than `input` and `output` name."""

    tool: NonEmpty
    input: Matcher = None
    output: Matcher = None

    def is_met_by(self, call: Call) -> bool:
        """Return True if the tool is the same and the named parts of input and output match."""
        return (
            call.tool == self.tool
            and (self.input is None or matches(self.input, call.input))
            and (self.output is None or matches(self.output, call.output))
        )


def matches(expected: Any, actual: Any) -> bool:
    """Return True if a value matches: `{any: true}` accepts anything, `{regex: …}` a matching string.

    A mapping accepts one that has matching fields, a list one of the same length. Everything else must be equal.
    """
    match expected:
        case {"any": True} if len(expected) == 1:
            return True
        case {"regex": str(pattern)} if len(expected) == 1:
            return isinstance(actual, str) and search(pattern, actual) is not None
        case dict():
            return isinstance(actual, dict) and all(
                key in actual and matches(value, actual[key]) for key, value in expected.items()
            )
        case list():
            return isinstance(actual, list) and len(actual) == len(expected) and all(map(matches, expected, actual))
        case _:
            return same(expected, actual)


def common_length(left: Sequence[A], right: Sequence[B], is_same: Callable[[A, B], bool]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for one in left:
        before = row
        row = [0]
        for place, other in enumerate(right):
            row.append(before[place] + 1 if is_same(one, other) else max(before[place + 1], row[place]))
    return row[-1]


def pairs(left: Sequence[A], right: Sequence[B], is_same: Callable[[A, B], bool]) -> int:
    """Return how many left items can each be matched to a different right item.

    A maximum bipartite matching, found by augmenting paths.
    """
    owner: dict[int, int] = {}

    def find(one: int, tried: set[int]) -> bool:
        for place, other in enumerate(right):
            if place not in tried and is_same(left[one], other):
                tried.add(place)
                if place not in owner or find(owner[place], tried):
                    owner[place] = one
                    return True
        return False

    return sum(find(one, set()) for one in range(len(left)))
