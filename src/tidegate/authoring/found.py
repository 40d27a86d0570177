"""What the trying of a plan's calls found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal

from tidegate.model.value import Value

Kind = Literal["call", "option", "refused", "variation", "silent"]


class Call(Value):
    """A line that is kept, and how many seconds it takes.

    `kind`: it works; so it does with one more option, or with other arguments; it is refused; or its option changes
    nothing, or it prints nothing for an empty input. `news`: rows that it prints and its line without the option does
    not; `about`: that option.
    """

    line: str
    kind: Kind
    seconds: float
    news: int = 0
    about: str = ""


class Found(Value):
    """What a plan found: calls to keep, files that they need, and lines that failed, with the reason."""

    calls: tuple[Call, ...] = ()
    files: dict[str, str] = {}
    failed: tuple[tuple[str, str], ...] = ()

    def of(self, kind: Kind) -> tuple[str, ...]:
        """Return the lines of this kind."""
        return tuple(call.line for call in self.calls if call.kind == kind)


def read_found(messages: Iterable[str]) -> Found:
    """Return what the agent reported; nothing if it did not come to that."""
    return next((Found.model_validate(json.loads(text)) for text in messages), Found())
