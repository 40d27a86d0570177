"""One step of the agent `scripted`."""

from __future__ import annotations

import json
from typing import Any, Self

from pydantic import Field, model_validator

from tidegate.model.value import Value

LIST = "tools/list"  # how the record names the step `list_tools`


class ScriptedStep(Value):
    """One step, which is taken with the given probability: a command, a call of a tool, or the list of all tools."""

    run: str | None = None
    call: str | None = None
    input: dict[str, Any] = {}
    list_tools: bool = False
    probability: float = Field(default=1.0, ge=0, le=1)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.run is not None) + (self.call is not None) + self.list_tools != 1:
            raise ValueError("a step is one of `run`, `call` and `list_tools`")
        if self.input and self.call is None:
            raise ValueError("`input` belongs to `call`")
        return self

    def __str__(self) -> str:
        """Return what the step does, in one line."""
        if self.call is None:
            return LIST if self.run is None else self.run
        return f"{self.call} {json.dumps(self.input)}" if self.input else self.call
