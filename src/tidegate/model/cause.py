"""The likely cause of a regression, found in what both sides did. Its sentence is made in reports/cause_text.py."""

from typing import Literal

from tidegate.model.plan import RowKey
from tidegate.model.trial_spec import Side
from tidegate.model.value import Value

CauseKind = Literal[
    "option",  # `names` are no longer accepted; head may have `new`
    "subcommand",
    "value",  # of an option or parameter
    "required",  # `new` is required now
    "type",  # the parameter `names` has the type `new`
    "parameter",  # of an MCP tool
    "parameters",  # of an MCP tool changed: which ones is not known
    "tool",  # of an MCP server
    "tool_error",  # an MCP tool reports the error `head`
    "server",  # an MCP server that ends or does not start: `head` is its message
    "json_key",
    "name",  # of a file, a variable or a value: with the docs edited from `names` to `new`, the rows pass
    "words",  # that a check no longer finds
    "output",  # `base` and `head` are lines that differ, each '' if that side has none
    "file",  # the same, in a file
    "exit_code",  # `base` and `head` are exit statuses, `new` the message on head
    "prompt",  # `head` is the question
    "hang",  # `base` and `head` are seconds
    "slow",  # `base` and `head` are seconds
    "crash",  # `head` is the error
    "signal",  # `head` is the signal's number
    "build",  # `about` is the step, `head` its error
    "guidance",  # `about` is the place in the docs, `head` the command that it shows now, `base` the one that it showed
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


class ChangedLine(Value):
    """A place that the pull request changed: the removed line, and the one that replaced it. One may be None."""

    removed: Place | None = None
    added: Place | None = None

    @property
    def at(self) -> Place | None:
        """The line to link to: head's, if it has one."""
        return self.added or self.removed


class Fix(Value):
    """An edit of head's docs that was tried: a patch for `git apply`. All trials of `rows` pass with it."""

    diff: str
    trials: int
    rows: tuple[RowKey, ...]
    named: tuple[RowKey, ...] = ()  # regressed rows whose own checks name what is gone: no edit of docs helps
    others: tuple[RowKey, ...] = ()  # regressed rows that were tried, and fail with the edit
    left: int = 0  # lines that name what is gone and were not edited, as there are too many


class Cause(Value):
    """One cause, and the rows that it explains. All texts are data.

    `about`: the calls, checks or files that show it. `names`: what is gone or refused, the most telling first. `new`:
    what head has instead.
    """

    kind: CauseKind
    rows: tuple[RowKey, ...]
    about: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    base: str = ""
    head: str = ""
    edits: tuple[ChangedLine, ...] = ()  # the places of the diff that it points to
    still_named: tuple[Place, ...] = ()  # lines of head's docs that still name what is gone
    checked_in: tuple[Place, ...] = ()  # lines of head's scenario files that still name it: these are checks
    passes: bool = False  # all checks of its rows pass

    @property
    def at(self) -> Place | None:
        """The first changed line."""
        return self.edits[0].at if self.edits else None
