"""The entries of a trial's record: what the agent said, did and got back, in order."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tidegate.model.value import Value

CallStatus = Literal[
    "ok",
    "error",
    "timeout",
    "denied",
    "invalid",
    "not_executed",
    "background",
    "interrupted",
    "unfinished",
    "unknown",
]
COUNTED: frozenset[CallStatus] = frozenset({"ok", "error", "timeout"})

TrialEnd = Annotated[
    str,
    Field(
        pattern=r"^(completed|timeout|max_turns|max_tokens|refused|budget|watchdog|auth|outage|crashed|killed"
        r"|cancelled|limit:[a-z_]+)$"
    ),
]


class _Event(Value):
    at: float = 0.0  # seconds since the agent was started


class ToolCall(_Event):
    """The agent calls one of its tools; for a shell, `command` holds the command line."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    tool: str
    command: str | None = None
    input: dict[str, Any] = {}


class ToolResult(_Event):
    """What came back from the call of the same id; `output` holds at most some thousand characters."""

    type: Literal["tool_result"] = "tool_result"
    id: str
    status: CallStatus
    exit_code: int | None = None
    output: str = ""


class Message(_Event):
    """Text that the agent (or the user) wrote."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system"] = "assistant"
    text: str


class ApiRetry(_Event):
    """The agent's model was asked again after a failure."""

    type: Literal["api_retry"] = "api_retry"
    text: str


class Warning(_Event):
    """Something odd that does not end the trial: a line that was skipped, a record that was damaged."""

    type: Literal["warning"] = "warning"
    text: str


class End(_Event):
    """The agent's own last word. None means that the agent reported nothing, never 0."""

    type: Literal["end"] = "end"
    end: TrialEnd
    message: str = ""
    traced: bool = True  # all calls of the agent's tools are in the record; False: it does not tell them
    turns: int | None = None
    tokens_in: int | None = None  # all of them, those from and for the cache included
    tokens_out: int | None = None
    tokens_cache_read: int | None = None  # of tokens_in
    tokens_cache_write: int | None = None  # of tokens_in
    cost_usd: float | None = None


Event = Annotated[ToolCall | ToolResult | Message | ApiRetry | Warning | End, Field(discriminator="type")]
