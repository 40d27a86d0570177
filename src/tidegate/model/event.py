"""The entries of a trial's record: what the agent wrote, did and received, in order."""

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
    at: float = 0.0  # seconds since the agent started


class ToolCall(_Event):
    """The agent calls one of its tools. For a shell, `command` is the command line."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    tool: str
    command: str | None = None
    input: dict[str, Any] = {}


class ToolResult(_Event):
    """The result of the call with the same id. `output` is cut to a few thousand characters."""

    type: Literal["tool_result"] = "tool_result"
    id: str
    status: CallStatus
    exit_code: int | None = None
    output: str = ""


class Message(_Event):
    """Text that the agent, the user or the system wrote."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system"] = "assistant"
    text: str


class ApiRetry(_Event):
    """A request to the agent's model was retried after a failure."""

    type: Literal["api_retry"] = "api_retry"
    text: str


class Warning(_Event):
    """Something unusual that does not end the trial, such as a skipped line or a damaged record."""

    type: Literal["warning"] = "warning"
    text: str


class End(_Event):
    """How the agent ended, by its own account. None means that the agent did not report the value, never 0."""

    type: Literal["end"] = "end"
    end: TrialEnd
    message: str = ""
    traced: bool = True  # False if the record may lack calls of the agent's tools
    turns: int | None = None
    tokens_in: int | None = None  # includes cache reads and writes
    tokens_out: int | None = None
    tokens_cache_read: int | None = None  # part of tokens_in
    tokens_cache_write: int | None = None  # part of tokens_in
    cost_usd: float | None = None


Event = Annotated[ToolCall | ToolResult | Message | ApiRetry | Warning | End, Field(discriminator="type")]
