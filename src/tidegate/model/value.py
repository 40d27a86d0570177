"""The base class of all values."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

_SHARED: set[str] = set()


class Value(BaseModel):
    """A frozen value. An unknown field is an error and never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def model_post_init(self, context: Any, /) -> None:
        """Drop pydantic's set of the fields that were given: it is never used, and takes half of the memory."""
        object.__setattr__(self, "__pydantic_fields_set__", _SHARED)
