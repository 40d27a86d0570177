"""The judge `command`."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from tidegate.checks.evaluators.script_files import files_of
from tidegate.checks.gates.fields import NonEmpty, ShellCommand
from tidegate.checks.script_contents import script_contents
from tidegate.model.judge import SYSTEM_PATH, Ask, AskModel, Judge, JudgeContext, Reply
from tidegate.text.shorten import excerpt

MAX_OUTPUT = 1_000_000  # bytes


class CommandJudge(Judge):
    """Any program. It reads the prompt on standard input and prints the answer as JSON on standard output.

    `command` runs by `sh -c` in the checkout that defines the suite, which is base's on a pull request, so a pull
    request cannot bring its own judge. Answers are cached by the command's text and the content of the files and
    folders in that checkout that it names: editing `judge.py` of `python3 judge.py` invalidates the cache. Changes to
    other files that the program depends on do not; remove `.tidegate/store/judge` to ask again.

    `secrets` are the variables of Tidegate's environment that the program gets. `model` is the model that it asks,
    named as for agents; it must not be the model under test. A non-zero exit status, a signal or empty output is not an
    answer.
    """

    type: Literal["command"]
    model: str = "command"
    command: ShellCommand
    secrets: tuple[Annotated[NonEmpty, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in `secrets`."""
        return self.secrets

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """The command and its folder."""
        return ((self.command, "."),)

    def identity(self, folder: Path) -> str:
        """Return the judge's settings with the content hashes of its program's files."""
        return json.dumps([super().identity(folder), *sorted(script_contents(folder, files_of([self])).items())])

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """Prepare to run one process per question."""

        async def ask(question: AskModel, sample: int) -> Reply:
            return await self._ask(question, sample, place)

        yield ask

    async def _ask(self, question: AskModel, sample: int, place: JudgeContext) -> Reply:
        started = time.monotonic()
        try:
            reply = await self._run(written(question, sample).encode(errors="replace"), place)
        except TimeoutError:
            reply = Reply(end="timeout", message=f"the judge gave no answer within {self.timeout_secs:g} s")
        except OSError as error:
            reply = Reply(end="outage", message=f"the judge could not be started: {error}")
        known = {"sample": sample, "attempt": question.attempt, "seconds": round(time.monotonic() - started, 3)}
        return reply.model_copy(update=known)

    async def _run(self, prompt: bytes, place: JudgeContext) -> Reply:
        import asyncio  # it takes 20 ms, and most commands do not ask a judge

        home = os.environ.get("HOME", "/")
        secrets = {name: place.environ[name] for name in self.secrets if place.environ.get(name)}
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", self.command),
            cwd=place.folder,
            env={"PATH": place.environ.get("PATH", SYSTEM_PATH), "HOME": home, "LANG": "C.UTF-8", **secrets},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.timeout_secs):
                stdout, stderr = await process.communicate(prompt)
        finally:
            with suppress(ProcessLookupError):
                # Also ends child processes that the program left behind.
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process.returncode:
            said = excerpt(stderr[-2000:].decode(errors="replace") or "it said nothing")
            return Reply(end="failed", message=f"the judge's command ended with {process.returncode}: {said}")
        if not stdout.strip() or len(stdout) > MAX_OUTPUT:
            what = "too much" if stdout.strip() else "nothing"
            return Reply(end="failed", message=f"the judge's command printed {what}")
        return Reply(text=stdout.decode(errors="replace"), model=self.model)


def written(question: AskModel, sample: int) -> str:
    """Return the whole question as one text, with the answer's JSON Schema at the end."""
    return f"{question.system}\n\n{question.prompt(sample)}\n\n{question.form}\n"
