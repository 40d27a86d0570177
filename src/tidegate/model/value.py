"""The base class of all values."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. An unknown field is an error and never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
