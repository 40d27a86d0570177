"""Any program as a judge."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shlex
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from tidegate.gates.excerpt import excerpt
from tidegate.gates.fields import NonEmpty, ShellCommand
from tidegate.model.judge import Ask, Judge, JudgeContext
from tidegate.model.question import AskModel, Reply

MAX_OUTPUT = 1_000_000  # bytes
MAX_NAME = 255  # characters: no longer word is looked for as a file


class CommandJudge(Judge):
    """Any program: it reads the prompt on standard input and prints the answer as JSON on standard output.

    `command` is run by `sh -c` in the checkout that the rules are read at: base's on a pull request, so that no pull
    request brings its own. Its answers are kept by the command's text and by what the files of that checkout hold that
    are words of it: whoever edits `judge.py` of `python3 judge.py` asks anew. Where the command names no file, or its
    program hangs on others, `.tidegate/store/judge` goes by the command's text alone: remove it to ask anew.

    `secrets` are the variables of Tidegate's environment that it gets. `model` is the model that it asks, as agents
    would name it: it must not be the tested one. An exit status that is not 0, a signal or no output is no answer.
    """

    type: Literal["command"]
    model: str = "command"
    command: ShellCommand
    secrets: tuple[Annotated[NonEmpty, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """Those that it is given."""
        return self.secrets

    def identity(self, folder: Path) -> str:
        """With what the files hold that the command names."""
        return json.dumps([super().identity(folder), *named_files(self.command, folder)])

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """Each question is a process of its own."""

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
            reply = Reply(end="failed", message=f"the judge could not be started: {error}")
        known = {"sample": sample, "attempt": question.attempt, "seconds": round(time.monotonic() - started, 3)}
        return reply.model_copy(update=known)

    async def _run(self, prompt: bytes, place: JudgeContext) -> Reply:
        home = os.environ.get("HOME", "/")
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", self.command),
            cwd=place.folder,
            env={"PATH": place.path, "HOME": home, "LANG": "C.UTF-8", **place.credentials},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.timeout_secs):
                stdout, stderr = await _talk(process, prompt)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process.returncode:
            said = excerpt(stderr[-2000:].decode(errors="replace") or "it said nothing")
            return Reply(end="failed", message=f"the judge's command ended with {process.returncode}: {said}")
        if not stdout.strip() or len(stdout) > MAX_OUTPUT:
            what = "too much" if stdout.strip() else "nothing"
            return Reply(end="failed", message=f"the judge's command printed {what}")
        return Reply(text=stdout.decode(errors="replace"), model=self.model)


async def _talk(process: asyncio.subprocess.Process, prompt: bytes) -> tuple[bytes, bytes]:
    """What it says to the prompt, on both of its ways, when it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stdout, stderr, _ = await asyncio.gather(
        _heard(process.stdout), _heard(process.stderr), _told(process.stdin, prompt)
    )
    await process.wait()
    return stdout, stderr


async def _heard(stream: asyncio.StreamReader) -> bytes:
    """No more than a byte too much of it; the rest is read and forgotten, so that no answer fills the memory."""
    kept = bytearray()
    while chunk := await stream.read(65_536):
        kept += chunk[: MAX_OUTPUT + 1 - len(kept)]
    return bytes(kept)


async def _told(stream: asyncio.StreamWriter, prompt: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # it may end without having read it
        stream.write(prompt)
        await stream.drain()
    stream.close()


def named_files(command: str, folder: Path) -> list[tuple[str, str]]:
    """The files in `folder` that are words of the command, each with the SHA-256 of what it holds."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    words.commenters = ""
    try:
        named = list(words)
    except ValueError:  # a quotation that the shell alone understands
        named = command.split()
    root = folder.resolve()
    files = {word: (root / word).resolve() for word in named if len(word) < MAX_NAME and "\0" not in word}
    return [
        (word, hashlib.sha256(path.read_bytes()).hexdigest())
        for word, path in sorted(files.items())
        if path.is_relative_to(root) and path.is_file()
    ]


def written(question: AskModel, sample: int) -> str:
    """The whole question as one text, with the form of the answer at its end."""
    form = json.dumps(question.answer_schema, indent=1)
    return f"{question.system}\n\n{question.prompt(sample)}\n\nThe JSON Schema of the answer:\n\n{form}\n"
