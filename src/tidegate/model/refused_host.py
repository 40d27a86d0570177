"""A host that a trial could not reach."""

from __future__ import annotations

from typing import Literal

from tidegate.model.value import Value

NetworkStep = Literal["setup", "agent", "gates"]


class RefusedHost(Value):
    """A host that a step of a trial asked for, as the entry that would allow it, and how often it was refused."""

    step: NetworkStep
    host: str
    times: int
