"""JSONPath as in `jsonpath_ng.ext`, within limits, so that no path can hang a run; and `command_json_path`."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator

from tidegate.checks.gates.assertion import kind, parse_assertion, parse_json, shown
from tidegate.checks.gates.command_gate import CommandGate
from tidegate.checks.gates.fields import NonEmpty
from tidegate.model.event import CommandResult
from tidegate.model.gate import GateDecision
from tidegate.text.patterns import check_pattern, search
from tidegate.text.shorten import excerpt

if TYPE_CHECKING:
    from types import FrameType

    from jsonpath_ng import JSONPath
    from jsonpath_ng.ext.parser import ExtendedJsonPathParser

MOST_CALLS = 5_000_000  # function calls per path: a few seconds

_PARSING = Lock()  # the library's parser keeps its state in itself


def check_path(path: str) -> str:
    """Return the path. Raises ValueError if it is not a JSONPath."""
    _parse(path)
    return path


def find(path: str, document: Any) -> list[Any]:
    """Return the values of all matches. Raises ValueError if the path cannot be applied to this document."""
    return _found(_parse(path), document)


def _found(path: JSONPath, document: Any) -> list[Any]:
    try:
        with _limited():
            return [match.value for match in path.find(document)]
    except Exception as error:  # the library raises errors of any class
        raise ValueError(f"cannot be applied: {error}") from None


def can_match_many(path: str) -> bool:
    """Return True if the path has a wildcard, slice, filter, descent, union or anything else that can match several
    values.
    """
    return _is_many(_parse(path))


def _starts(path: JSONPath) -> Iterator[JSONPath]:
    """Yield each part before a wildcard, slice, filter, descent or function, which take values of several kinds:
    `$.items` of `$.items[?(@.done)].id`.
    """
    from jsonpath_ng import Child, Descendants, Fields, Index, Parent, Root, This  # 10 ms

    if isinstance(path, Child | Descendants):
        left, right = path.left, path.right
        yield from _starts(left)
        if isinstance(path, Descendants) or type(right) not in (Fields, Index, Parent, This) or _is_many(right):
            yield left
        if isinstance(right, Child):
            yield from (type(path)(left, one) for one in _starts(right))
    elif _is_many(path):
        yield Root()


@lru_cache(maxsize=1024)
def _parse(path: str) -> JSONPath:
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # old forms stay valid while the library supports them
        try:
            parsed = _parser().parse(path)
            _guard_patterns(parsed)
            return parsed
        except Exception as error:  # lexer, parser and constructors raise different classes
            raise ValueError(f"is not a JSONPath: {error}") from None


@lru_cache(maxsize=1)
def _parser() -> ExtendedJsonPathParser:
    """Return the one parser for all paths. Building its tables takes longer than parsing a path."""
    from jsonpath_ng.ext.arithmetic import OPERATOR_MAP  # 10 ms
    from jsonpath_ng.ext.parser import ExtendedJsonPathParser

    OPERATOR_MAP.update({sign: partial(_of_numbers, operation) for sign, operation in OPERATOR_MAP.items()})
    return ExtendedJsonPathParser()


def _of_numbers(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Return the result. Raises TypeError for true and false, which Python counts as 1 and 0."""
    if isinstance(left, bool) or isinstance(right, bool):
        raise TypeError("true and false are not numbers")
    return operation(left, right)


@contextmanager
def _limited() -> Iterator[None]:
    """Raise ValueError if the code inside makes too many function calls.

    The library has no limit, and `$..*..*..*` visits too many nodes to finish. Calls are counted instead of time, so
    that the same path and document give the same answer on every machine.
    """
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event != "call":
            return
        calls += 1
        if calls > MOST_CALLS:
            raise ValueError(f"too much to do: given up after {MOST_CALLS:,} steps")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def _guard_patterns(path: object) -> None:
    """Apply Tidegate's time limit to the patterns of `=~`, and refuse `sub`, whose patterns have none."""
    from jsonpath_ng.ext.filter import OPERATOR_MAP  # 10 ms
    from jsonpath_ng.ext.string import Sub

    OPERATOR_MAP["=~"] = lambda value, pattern: isinstance(value, str) and search(pattern, value) is not None
    for part in _parts(path):
        if isinstance(part, Sub):
            raise ValueError("`sub` is not supported")
        if getattr(part, "op", None) == "=~":
            check_pattern(part.value)  # type: ignore[attr-defined]


def _parts(path: object) -> Iterator[object]:
    """Yield the path and everything inside it."""
    from jsonpath_ng import JSONPath  # 8 ms

    yield path
    for value in vars(path).values():
        for child in value if isinstance(value, list | tuple) else (value,):
            if isinstance(child, JSONPath):
                yield from _parts(child)


def _is_many(path: object) -> bool:
    from jsonpath_ng import Child, Fields, Index, JSONPath, Parent, Root, This  # 10 ms
    from jsonpath_ng.ext.arithmetic import Operation
    from jsonpath_ng.ext.iterable import Len, Path

    match path:
        case Child() | Operation():
            return _is_many(path.left) or _is_many(path.right)
        case Fields():
            return len(path.fields) > 1 or "*" in path.fields  # in older versions the wildcard is the field `*`
        case Index():
            return len(path.indices) > 1
        case _:
            return isinstance(path, JSONPath) and not isinstance(path, Root | This | Parent | Len | Path)


def _check_assertion(text: str) -> str:
    parse_assertion(text)
    return text


_LAST_KEY = re.compile(r"([A-Za-z_][\w-]*)\W*$")
Path = Annotated[NonEmpty, AfterValidator(check_path)]
Assertion = Annotated[NonEmpty, AfterValidator(_check_assertion)]


def decide_json(result: CommandResult, path: str, assertion: str) -> GateDecision:
    """Pass if the output is JSON, and the assertion holds for the value at the path."""
    try:
        document = parse_json(result.stdout)
    except ValueError as error:
        said = f"`{start}`" if (start := excerpt(result.stdout, 120)) else "it is empty"
        return GateDecision(passed=False, message=f"the output is not JSON ({excerpt(str(error))}): {said}")
    try:
        matches = find(path, document)
        starts = {str(start): _found(start, document) for start in _starts(_parse(path))}
    except ValueError as error:
        return GateDecision(passed=False, message=f"`{path}` {excerpt(str(error))}")
    decision = _decide_matches(path, assertion, matches)
    if decision.passed and starts:
        kinds = (f"{start} is {kind(one)}" for start, found in starts.items() for one in found)
        noted = [*(decision.detail or {"found": ()})["found"], *dict.fromkeys(kinds)]
        decision = decision.model_copy(update={"detail": {"found": noted}})
        # Nothing matches, as it would where the list itself is gone.
        if not matches and not any(isinstance(one, list | dict | None) for found in starts.values() for one in found):
            start = next(iter(starts))
            decision = GateDecision(passed=False, message=f"`{start}` is not a list or an object in the output")
    gone = () if decision.passed or matches else _LAST_KEY.findall(path)
    return decision.model_copy(update={"missing": tuple(key for key in gone if f'"{key}"' not in result.stdout)})


def _decide_matches(path: str, assertion: str, matches: list[object]) -> GateDecision:
    exists = assertion.strip() == "exists"
    if exists:  # a list of matches always exists, so ask for its elements
        matches = [match for match in matches if match is not None]
    many = can_match_many(path)
    if not matches and (exists or not many):
        missing = "missing or null" if exists else "missing"
        return GateDecision(passed=False, message=f"`{path}` is {missing} in the output")
    value = matches if many else matches[0]
    problem = parse_assertion(assertion)(value)
    if problem is None:
        looser = assertion.startswith(("len", "contains", "exists"))  # they hold for a text as for an array
        kinds = {kind(match) for match in matches} & ({"null"} if many else {kind(value)})
        if exists and not isinstance(value, list | dict):
            kinds = {"single"}  # another type of an id breaks nothing that `exists` asks for
        detail = {"found": [f"the value is {one}" for one in kinds]} if looser and kinds else None
        return GateDecision(passed=True, message=f"`{path}` {assertion}: {shown(value)}", detail=detail)
    return GateDecision(passed=False, message=f"`{path}` {problem}")


class CommandJsonPath(CommandGate):
    """Passes when `command` exits with `status`, prints JSON, and `assertion` holds for the value at `path`.
    No key may be twice in one object, and a float has to hold each whole number.

    `path` is a JSONPath as in jsonpath-ng with its extensions. A path that can match several values (wildcard, slice,
    filter, descent, union) gives the list of all matches; any other path gives its single value. For a list of no
    matches, what comes before that part has to be in the output: `$.items` of `$.items[*]`.

    `assertion` is one of:

    - `exists`: present and not null; for a list of matches, at least one match that is not null
    - `equals <JSON or text>`: 3 equals 3.0, but not "3"
    - `contains <text>`: the text is part of a string, or equal to an element of an array
    - `len OP N`: the length of an array, object or string
    - `OP N`: a number

    OP is one of `==` `!=` `>=` `<=` `>` `<`.
    """

    says = "{command} must print JSON with {path} {assertion}"
    type: Literal["command_json_path"] = "command_json_path"
    path: Path
    assertion: Assertion

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Parse the output as JSON, follow the path, and check the value."""
        return decide_json(result, self.path, self.assertion)
