"""The base of every value."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value that knows all of its fields: an unknown one is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
