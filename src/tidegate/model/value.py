"""The base class of all values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict

_SHARED: set[str] = set()
_set_fields = BaseModel.__dict__["__pydantic_fields_set__"].__set__  # of the slot: faster than object.__setattr__


class Value(BaseModel):
    """A frozen value. An unknown field is an error and never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Set all fields of a first object: Python's objects share the keys of the class's first ones (PEP 412)."""
        _with_fields(cls, dict.fromkeys(cls.model_fields))

    def model_post_init(self, context: Any, /) -> None:
        """Drop pydantic's set of the fields that were given: it is never used, and takes half of the memory."""
        _set_fields(self, _SHARED)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update`, and without pydantic's set of them."""
        copied = super().model_copy(update=update, deep=deep)
        _set_fields(copied, _SHARED)
        return copied


V = TypeVar("V", bound=Value)


def compact(value: V) -> V:
    """Return an equal value whose fields share their keys with other values of the class, in about half of the memory.

    pydantic gives each value a dictionary of its own.
    """
    return _with_fields(type(value), value.__dict__, value.__pydantic_private__)


def _with_fields(kind: type[V], fields: Mapping[str, Any], private: dict[str, Any] | None = None) -> V:
    made = kind.__new__(kind)
    for name, field in fields.items():
        object.__setattr__(made, name, field)
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", private)
    _set_fields(made, _SHARED)
    return made
