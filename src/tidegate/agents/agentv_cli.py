"""The `cli` provider of AgentV's targets.yaml as an agent: a process per case, or one for all cases."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.error import HTTPError
from urllib.request import urlopen

from pydantic import Field, PrivateAttr

from tidegate.agents.coding import how
from tidegate.agents.streams import agentv
from tidegate.errors import CannotRunError
from tidegate.model.agent import Agent, Machine, NoAnswerError, Session
from tidegate.model.event import CommandResult, End
from tidegate.model.value import Value

OUTPUT_FILE = ".agentv-output"  # relative to the trial's workspace
PLACEHOLDERS = ("PROMPT", "GUIDELINES", "EVAL_ID", "ATTEMPT", "FILES", "OUTPUT_FILE")
_PLACEHOLDER = re.compile(r"\{([A-Z_]+)\}")


class CliCase(Value):
    """The values of the template's placeholders for one case. Files are relative to the checkout's root."""

    eval_id: str
    question: str
    guidelines: str = ""
    files: tuple[str, ...] = ()


class HttpCheck(Value):
    """Healthy if a GET request returns a status below 400."""

    type: Literal["http"]
    url: str = Field(pattern="^https?://")
    timeout_seconds: float = Field(default=30, gt=0, le=86_400)


class CommandCheck(Value):
    """Healthy if the command succeeds. It runs in `cwd`, or in the agent's folder."""

    type: Literal["command"]
    command_template: str = Field(min_length=1)
    cwd: str | None = None
    timeout_seconds: float = Field(default=30, gt=0, le=86_400)


HealthCheck = Annotated[HttpCheck | CommandCheck, Field(discriminator="type")]


class AgentVCli(Agent):
    """Runs `command_template` in `folder` of the side's checkout. Placeholders are shell-quoted."""

    type: Literal["agentv-cli"] = "agentv-cli"
    command_template: str
    files_format: str = "{path}"
    folder: str = "."
    health: HealthCheck | None = None
    cases: dict[str, CliCase] = {}

    async def check(self, machine: Machine) -> str | None:
        """Run the `healthcheck`, if there is one. Raises CannotRunError if it fails."""
        if self.health is None:
            return None
        if isinstance(self.health, HttpCheck):
            what, problem = self.health.url, await asyncio.to_thread(_unreachable, self.health)
        else:
            what, problem = self.health.command_template, await self._failing(self.health, machine)
        if problem:
            raise CannotRunError(
                f"The target's healthcheck failed: {what}: {problem}",
                "Start what the target needs, or fix `healthcheck` in targets.yaml; no trial was run.",
            )
        return None

    async def _failing(self, check: CommandCheck, machine: Machine) -> str:
        """Return how the command failed; '' if it succeeded. Placeholders are empty, as there is no case yet."""
        template = filled(check.command_template, dict.fromkeys(PLACEHOLDERS, "''"))
        command = f"cd {shlex.quote(str(machine.repo / (check.cwd or self.folder)))} && {template}"
        result = await machine.output(f"timeout {check.timeout_seconds:g} sh -c {shlex.quote(command)}")
        return "" if result.ok else how(result)

    async def run(self, session: Session) -> End:
        """Run the command, and read the file {OUTPUT_FILE}, or else its standard output."""
        result, output = await self.program(session, self.case(session))
        for event in agentv.parse(output):
            session.emit(event)
        return _end(result, traced=agentv.is_traced(output))

    def case(self, session: Session) -> CliCase:
        """Return the case of the session's scenario."""
        return self.cases.get(session.scenario) or CliCase(eval_id=session.scenario, question=session.prompt)

    async def program(self, session: Session, case: CliCase) -> tuple[CommandResult, str]:
        """Run the command for a case, and return how it ended and its output."""
        values = {
            "PROMPT": shlex.quote(case.question),
            "GUIDELINES": shlex.quote(case.guidelines),
            "EVAL_ID": shlex.quote(case.eval_id),
            "ATTEMPT": session.trial_id.rpartition("/")[2],
            "FILES": " ".join(self._file(str(session.repo / file)) for file in case.files),
            "OUTPUT_FILE": shlex.quote(str(session.workspace / OUTPUT_FILE)),
        }
        folder = shlex.quote(str(session.repo / self.folder))
        result = await session.program(f"cd {folder} && {filled(self.command_template, values)}")
        output = session.read_text(OUTPUT_FILE)
        return result, result.stdout if output is None else output

    def _file(self, path: str) -> str:
        quoted = {"{path}": shlex.quote(path), "{basename}": shlex.quote(path.rpartition("/")[2])}
        return re.sub(r"\{path\}|\{basename\}", lambda found: quoted[found.group()], self.files_format)


def _end(result: CommandResult, *, traced: bool) -> End:
    if result.ok:
        return End(end="completed", traced=traced)
    return End(end="crashed", message=how(result), status=result.shell_status, traced=traced)


def _unreachable(check: HttpCheck) -> str:
    """Return why the address is not healthy; '' if it is."""
    try:
        with urlopen(check.url, timeout=check.timeout_seconds):
            return ""
    except HTTPError as error:
        error.close()
        return f"status {error.code}"
    except (OSError, HTTPException, ValueError) as error:
        return str(error)


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the template with every placeholder replaced."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found.group()), template)


def unknown_placeholder(template: str) -> str | None:
    """Return the template's first unknown placeholder; None if all are known."""
    return next((name for name in _PLACEHOLDER.findall(template) if name not in PLACEHOLDERS), None)


BATCH = "batch"  # the value of {EVAL_ID}


class _Batch:
    """The output of one process: its lines by id, and how it ended."""

    def __init__(self, text: str, result: CommandResult) -> None:
        self.result = result
        self.lines: dict[str, list[str]] = {}
        for line in text.splitlines():
            if (identity := _id(line)) is not None:
                self.lines.setdefault(identity, []).append(line)

    def line(self, identity: str) -> str:
        """Return the only line with that id. Raises NoAnswerError if there is none or more than one."""
        lines = self.lines.get(identity, [])
        if len(lines) == 1:
            return lines[0]
        count = f"{len(lines)} lines" if lines else "no line"
        failed = "" if self.result.ok else f" ({how(self.result)})"
        raise NoAnswerError(
            f"the batch printed {count} for the case `{identity}`{failed}; "
            f'let its command print one JSON line for every case: {{"id": {json.dumps(identity)}, "text": …}}'
        )


class AgentVBatch(AgentVCli):
    """Runs `command_template` once for all cases of an attempt. {PROMPT} and {GUIDELINES} are empty; {FILES} are all
    files.

    The first trial of an attempt starts the process in its own workspace. The others wait for its output: one JSON line
    `{id, text}` or `{id, output_messages}` per case. A case whose id is missing or repeated is not measured. Nothing
    runs twice.
    """

    _batches: dict[tuple[Path, str], asyncio.Future[_Batch]] = PrivateAttr(default_factory=dict)

    async def run(self, session: Session) -> End:
        """Take this case's line of the batch."""
        attempt = session.trial_id.rpartition("/")[2]
        key = (session.repo, attempt)
        if key in self._batches:
            batch = await session.in_time(asyncio.shield(self._batches[key]))
        else:
            batch = await self._begin(session, key)
        line = batch.line(self.case(session).eval_id)
        for event in agentv.parse(line):
            session.emit(event)
        return _end(batch.result, traced=agentv.is_traced(line))

    async def _begin(self, session: Session, key: tuple[Path, str]) -> _Batch:
        future: asyncio.Future[_Batch] = asyncio.get_running_loop().create_future()
        self._batches[key] = future
        files = tuple(dict.fromkeys(file for case in self.cases.values() for file in case.files))
        try:
            result, text = await self.program(session, CliCase(eval_id=BATCH, question="", files=files))
        except BaseException:
            first = self.case(session).eval_id
            what = (
                f"the batch was ended before it had printed everything; the trial of `{first}`, which ran it, says why"
            )
            future.set_exception(NoAnswerError(what))
            future.exception()  # marks the exception as retrieved, since no other trial may wait for it
            raise
        batch = _Batch(text, result)
        future.set_result(batch)
        return batch


def _id(line: str) -> str | None:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str) else None
