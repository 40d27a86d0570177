"""What Tidegate and the supervisor tell each other: a request to run one command, and how it ended.

Before the requests comes a list: the paths that every command may read.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Request(NamedTuple):
    """One command: what to run, and its limits. `uid` and `gid` are set only if the supervisor is root."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    stdin: str
    stdout: str
    stderr: str
    timeout_secs: float | None
    interrupt_secs: float  # from SIGINT to SIGTERM, after a timeout; 0: no SIGINT
    grace_secs: float  # from SIGTERM to SIGKILL
    output_bytes: int  # stdout and stderr together
    memory_bytes: int  # resident, whole process tree
    processes: int
    files: int  # open at once, per process
    file_bytes: int  # largest file that it may write
    uid: int | None = None
    gid: int | None = None
    shares_user: bool = False  # with another supervisor's command, which continues when this one ends
    # `namespaces` to enter, or `ports` that may be connected to; `files`; `calls` to refuse
    jail: dict[str, Any] = {}


class Answer(NamedTuple):
    """How the command ended. `unended` counts processes that could not be terminated; they make the slot unusable."""

    end: str  # CommandEnd, or refused
    exit_code: int | None = None
    signal: int | None = None
    limit: str | None = None
    duration_s: float = 0.0
    left_behind: int = 0
    reason: str = ""
    peak_memory_mb: float | None = None
    killed_at: float | None = None
    unended: int = 0
    killed: tuple[int, ...] = ()  # the processes that still ran when the command ended by itself


class NotStartedError(Exception):
    """The command could not be executed; the message says why."""


class RefusedError(Exception):
    """The system could not start any command; the message says why."""
