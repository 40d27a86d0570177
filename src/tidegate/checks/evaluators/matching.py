"""The calls that evaluators compare with an expectation, and how they are compared."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

from tidegate.agents.invocations.metrics import in_order
from tidegate.checks.gates.assertion import kind, parse_json, same, shown
from tidegate.checks.gates.fields import NonEmpty
from tidegate.model.evaluator import EvaluatorRecord
from tidegate.model.event import CallStatus, ToolCall, ToolResult, is_traced
from tidegate.model.target import is_of_target
from tidegate.model.value import Value
from tidegate.text.patterns import check_pattern, search

NO_TRACE = "the agent does not tell which tools it called"


class ComparedCall(Value):
    """One call: `bash`, `mcp__db__query`, or a subcommand of the tool under test, such as `taskmgr:add`.

    A call of the tool under test has the input `{argv, command}` and the answer `{exit_code, status}`.
    """

    tool: str
    input: dict[str, Any] = {}
    answer: Any = None  # as it was given
    failed: bool | None = False  # None if its end is not known
    at: float = 0.0

    @cached_property
    def output(self) -> Any:
        """The answer; a text that is an object or a list of JSON is parsed when it is first compared."""
        return as_json(self.answer) if isinstance(self.answer, str) else self.answer


def calls_of(record: EvaluatorRecord, names: Collection[str]) -> tuple[ComparedCall, ...] | None:
    """Return the calls of the kinds that the names belong to (agent's tools, tool under test), in order of time.

    None if the agent's tools are needed and the agent does not report its calls, which differs from no calls.
    """
    of_target = {name for name in names if is_of_target(record.binary, name)}
    calls = _target_calls(record) if of_target else []
    if set(names) - of_target:
        if not is_traced(record.events):
            return None
        calls += _agent_calls(record)
    return tuple(sorted(calls, key=lambda call: call.at))


def _agent_calls(record: EvaluatorRecord) -> list[ComparedCall]:
    results = {event.id: event for event in record.events if isinstance(event, ToolResult)}
    calls = [event for event in record.events if isinstance(event, ToolCall)]
    return [_compared(call, results.get(call.id)) for call in calls]


def _compared(call: ToolCall, result: ToolResult | None) -> ComparedCall:
    answer, failed = (result.output, _failed(result.status)) if result else (None, None)
    return ComparedCall(tool=call.tool, input=_input(call), answer=answer, failed=failed, at=call.at)


def _failed(status: CallStatus) -> bool | None:
    return {"ok": False, "error": True, "timeout": True}.get(status)  # other calls were not sent, or have no answer


def _input(call: ToolCall) -> dict[str, Any]:
    return call.input if call.command is None else {"command": call.command, **call.input}


def as_json(text: str | None) -> Any:
    """Return the output parsed as JSON if it is an object or a list, else as text."""
    if text is None or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_json(text)
    except ValueError:
        return text


def _target_calls(record: EvaluatorRecord) -> list[ComparedCall]:
    name = record.binary.rpartition("/")[2]
    return [
        ComparedCall(
            tool=f"{name}:{call.subcommand}" if call.subcommand else name,
            input={"argv": list(call.argv), "command": shlex.join([name, *call.argv])},
            answer={"exit_code": call.exit_code, "status": call.status},
            failed=_failed(call.status),
            at=call.started_at - record.agent_started_at,
        )
        for call in in_order(record.invocations)
    ]


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
    """A call that should be made. The actual call may have more fields than `input` and `output` name.

    `args` is another name of `input`, and `any` for it matches every input. `fails`: if the call has to fail. `exact`:
    the call has no other input, and lists in its output have exactly these items, in this order.
    """

    tool: NonEmpty
    input: Annotated[Matcher, BeforeValidator(lambda given: None if given == "any" else given)] = Field(
        default=None, validation_alias=AliasChoices("input", "args")
    )
    output: Matcher = None
    fails: bool | None = None
    exact: bool = False

    def is_met_by(self, call: ComparedCall) -> bool:
        """Return True if the tool is the same and the named parts of input and output match."""
        return call.tool == self.tool and self.mismatch(call) is None

    def mismatch(self, call: ComparedCall) -> str | None:
        """Return the first part of the call's input or output that does not match; None if all parts do."""
        if (given := self.input_mismatch(call)) is not None:
            return given
        if self.fails is not None and self.fails != call.failed:
            how = {None: "may have failed or not", True: "failed", False: "did not fail"}[call.failed]
            return f"it {how}, with {shown(call.output)}"
        return None if self.output is None else mismatch(self.output, call.output, "output", subset=not self.exact)

    def input_mismatch(self, call: ComparedCall) -> str | None:
        """Return the first part of the call's input that does not match; None if all parts do."""
        if self.input is None:
            return None
        more = call.input.keys() - self.input.keys() if self.exact else ()
        return f"input has {min(more)} in addition" if more else mismatch(self.input, call.input, "input")


def matches(expected: Any, actual: Any, *, subset: bool = False) -> bool:
    """Return True if a value matches, as `mismatch` defines it."""
    return mismatch(expected, actual, subset=subset) is None


def mismatch(expected: Any, actual: Any, place: str = "", *, subset: bool = False) -> str | None:
    """Return the first part that does not match; None if all do. `place` is the value's name in the text.

    `{any: true}` matches anything, `{regex: …}` a matching string, and a mapping one that has matching fields. A list
    matches one of the same length with matching items; with `subset`, one that has a different match for each item.
    Everything else must be equal.
    """
    match expected:
        case {"any": True} if len(expected) == 1:
            return None
        case {"regex": str(pattern)} if len(expected) == 1:
            fits = isinstance(actual, str) and search(pattern, actual) is not None
            return None if fits else f"{place} is {shown(actual)}, expected a match of {pattern}"
        case dict() | list() if kind(actual) != kind(expected):
            return f"{place} is {kind(actual)}, expected {kind(expected)}"
        case dict():
            return _fields_mismatch(expected, actual, place, subset)
        case list():
            return _items_mismatch(expected, actual, place, subset)
        case _:
            return None if same(expected, actual) else f"{place} is {shown(actual)}, expected {shown(expected)}"


def _fields_mismatch(expected: dict[str, Any], actual: dict[str, Any], place: str, subset: bool) -> str | None:
    for key, value in expected.items():
        if key not in actual:
            return f"{place}.{key} is missing"
        if (found := mismatch(value, actual[key], f"{place}.{key}", subset=subset)) is not None:
            return found
    return None


def _items_mismatch(expected: list[Any], actual: list[Any], place: str, subset: bool) -> str | None:
    if subset:
        fits = partial(matches, subset=True)
        for one, met in zip(expected, matched(expected, actual, fits), strict=True):
            if not met:
                more = "other " if any(fits(one, other) for other in actual) else ""
                return f"{place} has no {more}item that matches {shown(one)}"
        return None
    if len(actual) != len(expected):
        return f"{place} has {len(actual)} items, expected {len(expected)}"
    found = (mismatch(one, other, f"{place}[{n}]") for n, (one, other) in enumerate(zip(expected, actual, strict=True)))
    return next(filter(None, found), None)


def common_length(left: Sequence[A], right: Sequence[B], is_same: Callable[[A, B], bool]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for one in left:
        before = row
        row = [0]
        for place, other in enumerate(right):
            row.append(before[place] + 1 if is_same(one, other) else max(before[place + 1], row[place]))
    return row[-1]


def matched(left: Sequence[A], right: Sequence[B], is_same: Callable[[A, B], bool]) -> Iterator[bool]:
    """Yield for each left item if it, too, can be matched to a different right item, beside those before it.

    A maximum bipartite matching, found by augmenting paths. No two items are compared twice.
    """
    owner: dict[int, int] = {}

    @cache
    def fits(one: int, place: int) -> bool:
        return is_same(left[one], right[place])

    def find(one: int, tried: set[int]) -> bool:
        for free in (True, False):
            for place in range(len(right)):
                if place not in tried and (place not in owner) is free and fits(one, place):
                    tried.add(place)
                    if free or find(owner[place], tried):
                        owner[place] = one
                        return True
        return False

    return (find(one, set()) for one in range(len(left)))
