"""What a gate is: a question and a pure decision on the answer."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tidegate.model.probe import Answer, WorkspaceRequest
from tidegate.model.trial import Invocation
from tidegate.model.value import Value


class Seen(Value):
    """All that a gate may decide on: the answer to its own request, and the target's invocations."""

    answer: Answer | None = None
    invocations: tuple[Invocation, ...] = ()


class Decision(Value):
    """A gate's yes or no, in its own words. `detail` is stored but not shown."""

    passed: bool
    message: str
    detail: Any = None


class Gate(Value):
    """A deterministic check of what a trial left behind; the base of the family in `tidegate.gates`."""

    type: str
    description: str | None = None
    timeout_secs: float = Field(default=30, gt=0, le=86_400)
    required: bool = True

    @property
    def label(self) -> str:
        """How reports name this gate: its description, or its type and what it looks at."""
        return self.description or f"{self.type}: {self.subject}".rstrip(": ")

    @property
    def subject(self) -> str:
        """What the gate looks at, in a few words: a path, a command."""
        return ""

    def request(self) -> WorkspaceRequest | None:
        """What has to be found out in the workspace, or None if the record is enough."""
        return None

    def decide(self, seen: Seen) -> Decision:
        """Decide from what was seen; pure, so that it can be decided again from what is stored."""
        raise NotImplementedError
