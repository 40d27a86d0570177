"""Run one shell command line under a supervisor, and return how it ended with its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tidegate.model.event import CommandResult
from tidegate.model.suite import Limits
from tidegate.trial.processes import MEGABYTE, SHELL, Command, Ended, Supervisor
from tidegate.trial.safe_files import read_output


async def run_shell(
    supervisor: Supervisor,
    command_line: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: Path,
    timeout_secs: float,
    limits: Limits,
    stdin: Path | None = None,
    interrupt_secs: float = 0,
) -> tuple[CommandResult, Ended]:
    """Run `sh -c command_line`. Its outputs go to `output` plus `.stdout` and `.stderr`; folders are created.

    The shell is the system's, regardless of PATH in `env`.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    files = [output.with_name(f"{output.name}.{stream}") for stream in ("stdout", "stderr")]
    ended = await supervisor.run(
        Command(
            argv=(SHELL, "-c", command_line),
            cwd=cwd,
            env=env,
            stdout=files[0],
            stderr=files[1],
            stdin=stdin,
            timeout_secs=timeout_secs,
            limits=limits,
            interrupt_secs=interrupt_secs,
        )
    )
    result = _result(command_line, ended, files, int(limits.output_mb * MEGABYTE))
    supervisor.confinement.note_output(f"{result.stderr}\n{result.stdout}")
    return result, ended


def _result(command_line: str, ended: Ended, files: Sequence[Path], most: int) -> CommandResult:
    """Return how the command ended, with at most that many bytes of each of its outputs."""
    (stdout, cut), (stderr, cut_too) = [read_output(file, most) for file in files]
    not_started = ended.end == "not_started"
    return CommandResult(
        command=command_line,
        end=ended.end,
        exit_code=ended.exit_code,
        signal=ended.signal,
        limit=ended.limit,
        stdout="" if not_started else stdout,
        stderr=ended.reason if not_started else stderr,
        truncated=not not_started and (cut or cut_too or ended.limit == "output"),
        duration_s=round(ended.duration_s, 3),
    )
