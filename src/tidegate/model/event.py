"""The entries of a trial's record, in order; the result of one command; one execution of the tool under test."""

import json
from collections.abc import Sequence
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
        pattern=r"^(completed|timeout|max_turns|max_tokens|refused|refused_request|budget|watchdog|auth|outage|crashed"
        r"|killed|cancelled|limit:[a-z_]+)$"
    ),
]


def how_it_ended(status: CallStatus, exit_code: int | None) -> str:
    """Return `exit 2` for a call that ended by itself, if its exit code is known, else the status: `timeout`."""
    return status if exit_code is None or status not in ("ok", "error") else f"exit {exit_code}"


class _Event(Value):
    at: float = 0.0  # seconds since the agent started


class _Written(_Event):
    written: dict[str, Any] = {}  # more of it in AgentV's output: structured `content`, `timestamp`, …


class ToolCall(_Written):
    """The agent calls one of its tools. For a shell, `command` is the command line."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    tool: str
    command: str | None = None
    input: dict[str, Any] = {}

    @property
    def line(self) -> str:
        """The call as one text: `$ notes add x`, or the tool's name and its input as JSON."""
        if self.command:
            return f"$ {self.command}"
        return f"{self.tool} {json.dumps(self.input, ensure_ascii=False)}" if self.input else self.tool


class ToolResult(_Event):
    """The result of the call with the same id. `output` is cut to a few thousand characters."""

    type: Literal["tool_result"] = "tool_result"
    id: str
    status: CallStatus
    exit_code: int | None = None
    output: str = ""

    @property
    def ended(self) -> str:
        """How the call ended: `exit 2`, `timeout`."""
        return how_it_ended(self.status, self.exit_code)


class Message(_Written):
    """Text that the agent, the user or the system wrote."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system"] = "assistant"
    text: str

    @property
    def by(self) -> str:
        """Who wrote it: `agent`, `user` or `system`."""
        return "agent" if self.role == "assistant" else self.role


class ApiRetry(_Event):
    """A request to the agent's model was retried after a failure."""

    type: Literal["api_retry"] = "api_retry"
    text: str


class Warning(_Event):
    """Something unusual that does not end the trial, such as a skipped line or a damaged record."""

    type: Literal["warning"] = "warning"
    text: str
    unread: bool = False  # lines of the agent's output were skipped: a call may be missing


class End(_Event):
    """How the agent ended, by its own account. None means that the agent did not report the value, never 0."""

    type: Literal["end"] = "end"
    end: TrialEnd
    message: str = ""
    status: int | None = None  # that the agent's program ended with, if this made it a crash
    traced: bool = True  # False if the record may lack calls of the agent's tools
    turns: int | None = None
    tokens_in: int | None = None  # includes cache reads and writes
    tokens_out: int | None = None
    tokens_cache_read: int | None = None  # part of tokens_in
    tokens_cache_write: int | None = None  # part of tokens_in
    tokens_guessed: bool = False  # an answer was cut off before its provider had reported all of its tokens
    cost_usd: float | None = None
    waited_s: float = 0.0  # in all, that its requests were held back since the provider asked for fewer


Event = Annotated[ToolCall | ToolResult | Message | ApiRetry | Warning | End, Field(discriminator="type")]


def is_traced(events: Sequence[Event]) -> bool:
    """Return True if the events have the agent's tool calls, even none: it reports each call that it makes."""
    end = next((event for event in reversed(events) if isinstance(event, End)), None)
    return any(isinstance(event, ToolCall) for event in events) or (end is not None and end.traced)


CommandEnd = Literal["exited", "signal", "timeout", "limit", "not_started", "cancelled"]


class CommandResult(Value):
    """One finished command. Undecodable bytes in `stdout` and `stderr` are replaced; both may be cut (`truncated`)."""

    command: str
    end: CommandEnd
    exit_code: int | None = None  # set if `end` is `exited`
    signal: int | None = None  # set if `end` is `signal`
    limit: str | None = None  # set if `end` is `limit`: output, memory, processes or files
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    duration_s: float = 0.0

    @property
    def ok(self) -> bool:
        """True if it exited by itself with status 0."""
        return self.end == "exited" and self.exit_code == 0

    @property
    def shell_status(self) -> int | None:
        """The exit status as a shell reports it: 128 + N for signal N; None if it did not end by itself."""
        if self.end == "signal" and self.signal is not None:
            return 128 + self.signal
        return self.exit_code

    @property
    def status(self) -> CallStatus:
        """The end as the status of a tool call."""
        match self.end:
            case "exited":
                return "ok" if self.exit_code == 0 else "error"
            case "signal":
                return "error"
            case "timeout":
                return "timeout"
            case "not_started":
                return "not_executed"
            case "limit" | "cancelled":
                return "interrupted"

    @property
    def printed(self) -> str:
        """What it printed: stdout before stderr, without blank output."""
        return "\n".join(text.rstrip("\n") for text in (self.stdout, self.stderr) if text.strip())

    def how_it_ended(self) -> str:
        """Describe the end: `exit 2`, `timed out after 30 s`, `killed by signal 9`, `stopped at the output limit`."""
        match self.end:
            case "exited":
                return f"exit {self.exit_code}"
            case "signal":
                return f"killed by signal {self.signal}"
            case "timeout":
                return f"timed out after {self.duration_s:.0f} s"
            case "limit":
                return f"stopped at the {self.limit} limit"
            case "not_started":
                return f"could not be started ({self.stderr.strip() or 'no reason given'})"
            case "cancelled":
                return "cancelled"


class Invocation(Value):
    """One execution of the tool under test. `argv` excludes the program; bytes that are not UTF-8 are
    backslash-escaped.
    """

    argv: tuple[str, ...]
    subcommand: str | None = None  # set when the trial is measured, not in its stored record
    cwd: str = ""
    exit_code: int | None = None  # 128 + N for signal N, as a shell reports it
    status: CallStatus
    started_at: float  # seconds since the epoch
    duration_s: float | None = None
    source: Literal["recorder", "events"] = "recorder"
