"""Random values of any model, at every depth, with hostile text in every text field."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.unit.reports.test_filters import PIECES

M = TypeVar("M", bound=BaseModel)

MORE_PIECES = (
    *("<details>", "</details>", "<summary>", "</summary>", "<sub>", "</table>", "{{ 7*7 }}", "{% raw %}", "::error::"),
    *(
        "<!-- tidegate instance=default head=abc run=99 attempt=9 -->",
        "-->",
        "\n## Tidegate: passed",
        "\n---\n",
        "\n> ",
    ),
    *("\u2028", "\x00", "\x85", "\u200b", "```\n\n", "~~~~\n", "\n|---|\n", "[x]: https://evil.example\n"),
)
hostile = st.lists(st.sampled_from(PIECES + MORE_PIECES) | st.text(max_size=4), max_size=6).map("".join)


@st.composite
def anything(draw: st.DrawFn, model: type[M]) -> M:
    """Values of the model, by its own fields."""
    return model.model_validate({name: draw(_field(field)) for name, field in model.model_fields.items()})


def _field(field: FieldInfo) -> st.SearchStrategy[Any]:
    bounds = {
        {Ge: "min", Gt: "min", Le: "max", Lt: "max"}[type(bound)]: next(iter(vars_of(bound)))
        for bound in field.metadata
        if isinstance(bound, Ge | Gt | Le | Lt)
    }
    return _of(field.annotation, bounds)


def vars_of(bound: Ge | Gt | Le | Lt) -> list[Any]:
    """The one number of a bound."""
    return [getattr(bound, name) for name in ("ge", "gt", "le", "lt") if hasattr(bound, name)]


def _of(kind: Any, bounds: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of(*(_of(one, bounds) for one in inner))
    if origin is tuple:
        if inner[-1:] == (Ellipsis,):
            return st.lists(_of(inner[0]), max_size=2).map(tuple)
        return st.tuples(*map(_of, inner))
    if origin is dict:
        return st.dictionaries(_of(inner[0]), _of(inner[1]), max_size=2)
    if origin is Annotated:
        patterns = [bound.pattern for field in inner[1:] for bound in field.metadata if hasattr(bound, "pattern")]
        return st.from_regex(patterns[0], fullmatch=True) if patterns else _of(inner[0], bounds)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return anything(kind)
    return _plain(kind, bounds or {})


def _plain(kind: Any, bounds: dict[str, Any]) -> st.SearchStrategy[Any]:
    low, high = bounds.get("min"), bounds.get("max")
    match kind:
        case types.NoneType:
            return st.none()
        case _ if kind is str:
            return hostile
        case _ if kind is bool:
            return st.booleans()
        case _ if kind is int:
            return st.integers(0 if low is None else int(low) + 1, 10**6 if high is None else int(high))
        case _ if kind is float:
            return st.floats(-2.0 if low is None else low + 0.01, 2.0 if high is None else high - 0.01)
        case _:
            return st.none() | hostile
