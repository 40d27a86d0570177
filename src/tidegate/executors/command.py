"""The executor `command`."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import field_validator

from tidegate.checks.gates.fields import ShellCommand
from tidegate.model.executor import BatchJob, BatchLostError, Carry, Engine, EngineContext
from tidegate.text.placeholders import check_placeholders, filled_command, placeholders_of
from tidegate.text.shorten import excerpt

if TYPE_CHECKING:
    import asyncio

PLACEHOLDERS = ("bundle", "out", "name")
GRACE_SECS = 10.0  # between SIGTERM and SIGKILL: `sbatch --wait` cancels its job on the first
_OF_GITHUB = re.compile(r"GITHUB_TOKEN$|ACTIONS_|INPUT_")  # never passed on


class CommandExecutor(Engine):
    """Any engine that one line can start: `sbatch`, `kubectl`, `docker`, `modal run`.

    `run` runs by `sh -c` in the checkout that defines the suite, which is base's on a pull request. It has to copy
    the file `{bundle}` to a worker, run `tidegate trials run BUNDLE --out OUT` there, copy `results.zip` of OUT
    back to the empty folder `{out}`, and end with 0. `{name}` is a unique name for the job. Placeholders are
    shell-quoted already. The command gets Tidegate's environment without GITHUB_TOKEN, `ACTIONS_*` and `INPUT_*`.
    If it has to be stopped, its process group gets SIGTERM, and SIGKILL after 10 seconds.
    """

    type: Literal["command"]
    run: ShellCommand

    @field_validator("run")
    @classmethod
    def _names_both_folders(cls, run: str) -> str:
        missing = {"bundle", "out"} - placeholders_of(check_placeholders(run, PLACEHOLDERS))
        if missing:
            raise ValueError(f"lacks the placeholder {{{min(missing)}}}, what a worker reads or writes")
        return run

    @asynccontextmanager
    async def opened(self, context: EngineContext) -> AsyncIterator[Carry]:
        """Prepare to run one process per batch."""
        environ = {name: value for name, value in context.environ.items() if not _OF_GITHUB.match(name)}

        async def carry(job: BatchJob) -> None:
            await self._carry(job, context.folder, environ)

        yield carry

    async def _carry(self, job: BatchJob, folder: Path, environ: Mapping[str, str]) -> None:
        import asyncio  # it takes 20 ms, and few suites have an executor

        command = filled_command(self.run, {"bundle": str(job.bundle), "out": str(job.out), "name": job.name})
        log = job.bundle.with_name("engine.log")
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", command),
                cwd=folder,
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            async with asyncio.timeout(job.secs):
                await process.wait()
        except TimeoutError:
            raise BatchLostError(f"the executor's command did not end within {job.secs / 60:.3g} minutes") from None
        finally:
            await _stop(process)
        if process.returncode:
            said = excerpt(log.read_bytes()[-2000:].decode(errors="replace")) or "it printed nothing"
            raise BatchLostError(f"the executor's command ended with {process.returncode}: {said}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop what is left of the process group."""
    import asyncio  # 20 ms

    with suppress(ProcessLookupError):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE_SECS)
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
