"""One execution of the tool under test."""

from __future__ import annotations

from typing import Literal

from tidegate.model.event import CallStatus
from tidegate.model.value import Value


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
    source: Literal["recorder", "events", "transcript"] = "recorder"
