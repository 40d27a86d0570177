"""The likely cause of a regression, found in the calls of both sides."""

from __future__ import annotations

from typing import Literal

from tidegate.model.plan import RowKey
from tidegate.model.trial_spec import Side
from tidegate.model.value import Value

CauseKind = Literal[
    "option",
    "subcommand",
    "argument",
    "json_key",
    "exit_code",
    "error_text",
    "output",
    "prompt",
    "hang",
    "slow",
    "crash",
    "build",
    "guidance",
    "mcp_tool",
    "mcp_parameter",
]


class Place(Value):
    """A line of a file, on the side that has it. Lines count from 1."""

    side: Side
    path: str
    line: int
    text: str

    @property
    def where(self) -> str:
        """The place as `path:line`."""
        return f"{self.path}:{self.line}"


class Cause(Value):
    """One cause, and the rows that it explains.

    `says` is a sentence without its full stop. Data is between backticks in it, and contains none. `names` are the
    words to search for in the diff and the docs, the most telling first.
    """

    kind: CauseKind
    says: str
    rows: tuple[RowKey, ...]
    names: tuple[str, ...] = ()
    removed: Place | None = None  # the line of the diff that took something away
    added: Place | None = None  # the line of the diff that replaced it, or that is new
    still_named: Place | None = None  # the line of head's docs that still names what is gone
    also_named: tuple[Place, ...] = ()  # further lines of docs
    checked_in: tuple[Place, ...] = ()  # lines of head's scenario files that still name it: these are checks

    @property
    def all_named(self) -> tuple[Place, ...]:
        """Every known line of the docs that still names what is gone."""
        return (self.still_named, *self.also_named) if self.still_named else ()
