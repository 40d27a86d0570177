"""What a model's tokens cost."""

from __future__ import annotations

from pydantic import Field

from tidegate.model.value import Value


class Price(Value):
    """A model's prices in USD per million tokens."""

    input: float = Field(default=0, ge=0)
    output: float = Field(default=0, ge=0)
    cache_read: float = Field(default=0, ge=0)
    cache_write: float = Field(default=0, ge=0)
