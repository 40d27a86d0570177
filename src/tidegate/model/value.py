"""The base class of all values."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

_SHARED: set[str] = set()
_set_fields = BaseModel.__dict__["__pydantic_fields_set__"].__set__  # of the slot: faster than object.__setattr__


class Value(BaseModel):
    """A frozen value. An unknown field is an error and never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def model_post_init(self, context: Any, /) -> None:
        """Drop pydantic's set of the fields that were given: it is never used, and takes half of the memory."""
        _set_fields(self, _SHARED)
