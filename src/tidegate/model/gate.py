"""The gate interface: a request about the workspace, and a pure decision on the answer."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import Field

from tidegate.model.event import Invocation
from tidegate.model.probe import Answer, WorkspaceRequest
from tidegate.model.value import Value
from tidegate.text.shorten import excerpt


class GateInput(Value):
    """The input of a gate's decision: the answer to its request, and the invocations of the tool under test."""

    answer: Answer | None = None
    invocations: tuple[Invocation, ...] = ()


class GateDecision(Value):
    """A gate's decision and the message that explains it. `detail` is stored but not shown.

    `missing`: the words or the key that the gate looked for and did not find.
    """

    passed: bool
    message: str
    missing: tuple[str, ...] = ()
    detail: Any = None


class Gate(Value):
    """Base class of all gates: a deterministic check of the state that a trial leaves behind."""

    says: ClassVar[str] = ""  # what it checks, in a few words, with its fields in braces

    type: str
    description: str | None = None
    timeout_secs: float = Field(default=30, gt=0, le=86_400)
    required: bool = True

    @property
    def label(self) -> str:
        """The display name in reports: its description, or its type and what it checks."""
        return self.description or f"{self.type}: {self.subject}".rstrip(": ")

    @property
    def subject(self) -> str:
        """What the gate checks, in a few words: a path, a command."""
        return excerpt(self.says.format(**vars(self)))

    def request(self) -> WorkspaceRequest | None:
        """Return what to find out in the workspace; None if the record is enough."""
        return None

    def decide(self, seen: GateInput) -> GateDecision:
        """Decide on what was observed. Pure, so a stored trial can be decided again."""
        raise NotImplementedError


def told_apart(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels. If several are the same, each but the first gets its number: `test`, `test (2)`."""
    seen = Counter[str]()
    found = []
    for label in labels:
        seen[label] += 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return tuple(found)
