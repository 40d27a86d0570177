"""One step of the agent `scripted`."""

from __future__ import annotations

import json
from typing import Any, Self

from pydantic import Field, model_validator

from tidegate.model.probe import ServerPart
from tidegate.model.value import Value

LIST = "tools/list"  # how the record names the step `list_tools`


class ScriptedStep(Value):
    """One step, which is taken with the given probability: a command, a use of the MCP server, or its list of tools."""

    run: str | None = None
    call: str | None = None
    read: str | None = None
    prompt: str | None = None
    input: dict[str, Any] = {}
    list_tools: bool = False
    probability: float = Field(default=1.0, ge=0, le=1)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        one_of = (self.run, self.call, self.read, self.prompt)
        if sum(one is not None for one in one_of) + self.list_tools != 1:
            raise ValueError("a step is one of `run`, `call`, `read`, `prompt` and `list_tools`")
        if self.input and self.call is None and self.prompt is None:
            raise ValueError("`input` belongs to `call` or `prompt`")
        return self

    @property
    def asks(self) -> tuple[ServerPart, str] | None:
        """What it asks the server for: a call of a tool, a resource or a prompt, and its name; None if for neither."""
        uses: tuple[tuple[ServerPart, str | None], ...]
        uses = (("tool", self.call), ("resource", self.read), ("prompt", self.prompt))
        return next(((what, name) for what, name in uses if name is not None), None)

    def __str__(self) -> str:
        """Return what the step does, in one line."""
        if self.asks is None:
            return LIST if self.run is None else self.run
        name = self.asks[1]
        return f"{name} {json.dumps(self.input)}" if self.input else name
