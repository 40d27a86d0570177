"""JSONPath as in `jsonpath_ng.ext`, within limits, so that a hostile path cannot hang a run."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from mmap import PAGESIZE
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from tidegate.text.patterns import check_pattern, replace, search

if TYPE_CHECKING:
    from types import FrameType

    from jsonpath_ng import JSONPath
    from jsonpath_ng.ext.parser import ExtendedJsonPathParser

MOST_BYTES = 500_000_000  # of memory that one path may take
BETWEEN_LOOKS = 100_000  # function calls between two looks at the memory
MOST_CALLS = 5_000_000  # function calls per path: a few seconds

_PARSING = Lock()  # the library's parser keeps its state in itself


def check_path(path: str) -> str:
    """Return the path. Raises ValueError if it is not a JSONPath."""
    _parse(path)
    return path


def find(path: str, document: Any) -> list[Any]:
    """Return the values of all matches. Raises ValueError if the path cannot be applied to this document."""
    parsed = _parse(path)
    try:
        with _limited():
            return [match.value for match in parsed.find(document)]
    except Exception as error:  # the library raises errors of any class
        raise ValueError(f"cannot be applied: {error}") from None


def can_match_many(path: str) -> bool:
    """Return True if the path has a wildcard, slice, filter, descent, union or anything else that can match several
    values.
    """
    return _is_many(_parse(path))


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
    from jsonpath_ng.ext.parser import ExtendedJsonPathParser  # 10 ms

    return ExtendedJsonPathParser()


@contextmanager
def _limited() -> Iterator[None]:
    """Raise ValueError if the code inside makes too many function calls.

    The library has no limit, and `$..*..*..*` visits too many nodes to finish. Calls are counted instead of time, so
    that the same path and document give the same answer on every machine.
    """
    calls, start = 0, _resident()

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event != "call":
            return
        calls += 1
        if calls > MOST_CALLS:
            raise ValueError(f"too much to do: given up after {MOST_CALLS:,} steps")
        if calls % BETWEEN_LOOKS == 0 and _resident() - start > MOST_BYTES:
            raise ValueError(f"too much to do: it takes more than {MOST_BYTES // 1_000_000} MB")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def _resident() -> int:
    """Return the bytes that this process has in memory; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGESIZE
    except OSError:
        return 0


class _Sub:
    """Replaces the compiled regular expression of the library's `sub`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = check_pattern(pattern)

    def sub(self, replacement: str, text: str) -> str:
        """Like `re.sub`, with a time limit."""
        return replace(self.pattern, replacement, text)


def _guard_patterns(path: object) -> None:
    """Apply Tidegate's limits to the regular expressions in a path."""
    from jsonpath_ng.ext.filter import OPERATOR_MAP  # 10 ms
    from jsonpath_ng.ext.string import Sub

    OPERATOR_MAP["=~"] = lambda value, pattern: isinstance(value, str) and search(pattern, value) is not None
    for part in _parts(path):
        if isinstance(part, Sub):
            part.regex = _Sub(part.expr)  # type: ignore[assignment]
        elif getattr(part, "op", None) == "=~":
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
