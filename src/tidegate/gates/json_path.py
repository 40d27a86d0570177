"""JSONPath in the full language of `jsonpath_ng.ext`."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonpath_ng import JSONPath


def check_path(path: str) -> str:
    """The path itself; ValueError if it is none."""
    _parse(path)
    return path


def find(path: str, document: Any) -> list[Any]:
    """The values of all matches. ValueError if the path cannot be applied to this document."""
    parsed = _parse(path)
    try:
        return [match.value for match in parsed.find(document)]
    except Exception as error:  # the library lets errors of any class through
        raise ValueError(f"cannot be applied: {error}") from None


def can_match_many(path: str) -> bool:
    """The path holds a wildcard, slice, filter, descent, union or anything else that can match more than once."""
    return _is_many(_parse(path))


@lru_cache(maxsize=1024)
def _parse(path: str) -> JSONPath:
    from jsonpath_ng.ext.parser import parse

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # old forms stay allowed as long as the library has them
        try:
            return parse(path)
        except Exception as error:  # lexer, parser and constructors each raise classes of their own
            raise ValueError(f"is no JSONPath: {error}") from None


def _is_many(path: object) -> bool:
    from jsonpath_ng import Child, Fields, Index, JSONPath, Parent, Root, This
    from jsonpath_ng.ext.arithmetic import Operation
    from jsonpath_ng.ext.iterable import Len, Path

    match path:
        case Child() | Operation():
            return _is_many(path.left) or _is_many(path.right)
        case Fields():
            return len(path.fields) > 1 or "*" in path.fields  # older versions: the wildcard is the field `*`
        case Index():
            return len(path.indices) > 1
        case _:
            return isinstance(path, JSONPath) and not isinstance(path, Root | This | Parent | Len | Path)
