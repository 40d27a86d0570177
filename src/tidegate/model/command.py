"""The result of one command of a trial."""

from __future__ import annotations

from typing import Literal

from tidegate.model.event import CallStatus
from tidegate.model.value import Value

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
