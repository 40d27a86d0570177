"""Collects what gates and evaluators ask about a trial: base's checks first, then those that head added or changed."""

from __future__ import annotations

import asyncio
import re
import shlex
import stat
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tidegate.checks.evaluators.assess import advance, record_of
from tidegate.model.evaluator import Evaluator, EvaluatorRecord, Score
from tidegate.model.event import CommandResult
from tidegate.model.judge import AskModel
from tidegate.model.probe import (
    Answer,
    AskServer,
    CommandAnswer,
    FileAnswer,
    ReadFile,
    Request,
    RunJudge,
    RunScript,
    WorkspaceRequest,
)
from tidegate.model.trial import Step, Trial
from tidegate.text.shorten import is_partial
from tidegate.trial.directories import Attempt
from tidegate.trial.environment import Environments, filled
from tidegate.trial.judge_script import ScriptContext, run_judge_script
from tidegate.trial.mcp.mcp_client import connected, connected_at
from tidegate.trial.mcp.server_check import asked_server
from tidegate.trial.processes import Account
from tidegate.trial.rewritten import WatchedFiles
from tidegate.trial.safe_files import content_of, copy_below, open_regular
from tidegate.trial.start import failure_of, server_command
from tidegate.trial.workspace import read_file


class BudgetEndedError(Exception):
    """The run's budget ended before all checks were evaluated, so the trial is not measured."""


class Notes(NamedTuple):
    """Lists of the trial that are added to while its checks run."""

    steps: list[Step]
    warnings: list[str]


class Checks:
    """The checks of one trial, in the order of the definition."""

    def __init__(
        self,
        attempt: Attempt,
        environments: Environments,
        notes: Notes,
        port: str,
        watched: WatchedFiles,
        *,
        looked: bool,
    ) -> None:
        self._attempt = attempt
        self._scenario = attempt.scenario
        self._folders, self._place = attempt.folders, attempt.place
        self._environments, self._notes, self._port = environments, notes, port
        self._watched, self._looked = watched, looked
        self._numbers, self._looks = count(1), count(1)
        self._most_secs = attempt.most_secs.check

    async def run(self, trial: Trial) -> dict[str, object]:
        """Run post scripts, gates, diagnostic scripts and evaluators; return the answers as fields of the trial.

        Raises BudgetEndedError.
        """
        if trial.end == "timeout":
            self._most_secs = self._attempt.most_secs.after_hang
        await self._post_scripts()
        gates = [await self._gate(number) for number in range(len(self._scenario.gates))]
        await self._evaluator_scripts()
        if left_out := self._folders.keep_results(self._place.output_bytes):
            self._notes.warnings.append(
                f"{left_out} entries of TIDEGATE_RESULTS_DIR were not kept: too large, or no files"
            )
        evaluators = [await self._ask(evaluator, trial) for evaluator in self._scenario.evaluators]
        judge = self._scenario.judge
        of_judge = await self._ask(judge, trial) if judge else ()
        await self._look()
        return {"answers": tuple(gates), "evaluator_answers": tuple(evaluators), "judge_answers": of_judge}

    async def _look(self) -> None:
        """Look at the files before something runs that may change them, unless nothing has run since the last look."""
        looked, self._looked = self._looked, False
        if not looked and self._place.prepared.files is None:
            await asyncio.to_thread(self._watched.look)
        elif not looked:  # they are few and small, and a thread would cost more
            self._watched.look()
        self._watched.by = f" (check {next(self._looks)})"

    async def _post_scripts(self) -> None:
        for number, script in enumerate(self._scenario.post, 1):
            self._attempt.on_step(f"post: {script.command}")
            result = await self._script(script.command, f"post-{number:02d}", script.timeout_secs)
            self._notes.steps.append(Step(kind="post", result=result))
            if not result.ok:
                self._notes.warnings.append(failure_of("post script", result))

    async def _evaluator_scripts(self) -> None:
        for number, script in enumerate(self._scenario.evaluator_scripts, 1):
            self._attempt.on_step(f"evaluator: {script.name}")
            result = await self._script(script.command, f"evaluator-{number:02d}", script.timeout_secs)
            self._notes.steps.append(Step(kind="evaluator", name=script.name, result=result))

    async def _gate(self, place: int) -> Answer | None:
        gates = self._scenario.gates
        self._attempt.on_step(f"gate {place + 1}/{len(gates)}")
        request = gates[place].request()
        return None if request is None else await self._answer(request, f"gate-{place + 1:02d}")

    async def _ask(self, evaluator: Evaluator, trial: Trial) -> tuple[Answer, ...]:
        """Return the evaluator's answers up to its first question to a model."""

        async def carry(request: Request) -> Answer | None:
            if isinstance(request, AskModel):
                return None
            return await self._answer(request, f"judge-{next(self._numbers):02d}")

        self._attempt.on_step(f"evaluator: {evaluator.label}")
        return await answered(evaluator, record_of(trial, self._scenario), carry)

    async def _answer(self, request: WorkspaceRequest, name: str) -> Answer:
        """Carry out the request. Note in `faults` what a strict reader rejects: text that is not UTF-8, and NUL."""
        answer = await self._carried_out(request, name)
        if isinstance(answer, FileAnswer):
            text, what = answer.text or "", answer.path
        else:
            text, what = answer.result.stdout, answer.result.command
        if "\N{REPLACEMENT CHARACTER}" in text:
            self._attempt.faults[f"`{what}` has U+FFFD, which replaces what is not UTF-8"] = ""
        if "\0" in text:
            self._attempt.faults[f"`{what}` has NUL bytes"] = ""
        return answer

    async def _carried_out(self, request: WorkspaceRequest, name: str) -> FileAnswer | CommandAnswer:
        if isinstance(request, ReadFile):
            answer = read_file(self._folders.workspace, request.path, self._place.output_bytes)
            return answer.model_copy(update={"path": request.path})
        if isinstance(request, RunScript):
            result = await self._script(filled(request.command, self._port), name, request.timeout_secs)
            return CommandAnswer(result=result.model_copy(update={"command": request.command}))
        await self._look()
        if isinstance(request, RunJudge):
            request = request.model_copy(update={"timeout_secs": self._left(request.timeout_secs)})
            context = ScriptContext(self._place.definitions, self._place.limits, self._attempt.supervisor)
            judged = await run_judge_script(context, self._folders, self._environments.scripts, request, name)
            self._stop_if_over(judged.result)
            return judged
        if isinstance(request, AskServer):
            return CommandAnswer(result=await self._asked_server(request, name))
        command = filled(request.command, self._port)
        result = await self._command(command, name, request.timeout_secs, self._environments.gates)
        return CommandAnswer(result=result.model_copy(update={"command": request.command}))

    async def _asked_server(self, request: AskServer, name: str) -> CommandResult:
        """Ask the server in a session that is not recorded: the one with a URL, which still runs, or a new one."""
        attempt, folders = self._attempt, self._folders
        if self._scenario.target.mcp is None:
            why = "the tool under test is not an MCP server"
            return CommandResult(command=request.name, end="not_started", stderr=why)
        target, seconds = self._scenario.target.mcp, self._left(request.timeout_secs)
        request = request.model_copy(update={"timeout_secs": seconds})
        if target.url:
            opened = connected_at(target, folders.early_server, seconds)
        else:
            server = server_command(attempt, target, self._environments.server, name)
            opened = connected(attempt.supervisor, server, folders.scratch / f"{name}-session", seconds)
        result = await asked_server(opened, request, attempt)
        self._stop_if_over(result)
        return result

    async def _script(self, command: str, name: str, timeout_secs: float) -> CommandResult:
        await self._look()
        folders, account = self._folders, self._attempt.supervisor.account
        folders.open_to_scripts()
        for file in restore_scripts(command, self._place.prepared.folder, folders.workspace, account):
            self._notes.warnings.append(
                f"{file} was changed during the trial; `{command}` was run with the scenario's own"
            )
        return await self._command(command, name, timeout_secs, self._environments.scripts)

    async def _command(self, command: str, name: str, timeout_secs: float, env: Mapping[str, str]) -> CommandResult:
        self._folders.empty_tmp(self._attempt.supervisor.account)
        result, _ = await self._attempt.command(command, name, env, self._left(timeout_secs))
        self._stop_if_over(result)
        return result

    def _left(self, timeout_secs: float) -> float:
        """Return the seconds that a command may take. A hang and the end of the budget shorten them."""
        return min(timeout_secs, self._most_secs, max(0.1, self._attempt.deadline - time.monotonic()))

    def _stop_if_over(self, result: CommandResult) -> None:
        if result.end == "timeout":
            self._most_secs = self._attempt.most_secs.after_hang
        if result.end == "timeout" and time.monotonic() >= self._attempt.deadline:
            raise BudgetEndedError(f"the run's budget ended while `{result.command}` checked the trial")


_INTERPRETER = re.compile(r"(ba|da|z|k)?sh|python[\d.]*|node|ruby|perl|source|\.")
_ASSIGNMENT = re.compile(r"\w+=")
_SEPARATORS = frozenset({";", "&&", "||", "|", "&", "(", ")"})
_SOURCED = re.compile(r"(?m)(?:^|[;&|{(])[ \t]*(?:\.|source)[ \t]+([^;&|\n]+)")
MOST_BYTES = 1_000_000  # of a script, which is searched for what it starts


def restore_scripts(command: str, template: Path, workspace: Path, account: Account | None) -> tuple[str, ...]:
    """Put the scripts that `command` runs back as they are in the template; return those that had been changed."""
    changed = [name for name in script_files(command, template) if not is_same(template / name, workspace / name)]
    for name in changed:
        copy_below(workspace, name, template / name, account)
    return tuple(changed)


def script_files(command: str, template: Path) -> tuple[str, ...]:
    """Return the files of the template that the command runs, and what these shell scripts source.

    A file is run as a program, or as an interpreter's first argument.
    """
    found = dict.fromkeys(_run_files(command, template))
    todo = [*found]
    while todo:
        name = todo.pop()
        new = [one for one in _sourced(name, template) if one not in found]
        found |= dict.fromkeys(new)
        todo += new
    return tuple(found)


def _sourced(name: str, template: Path) -> Iterator[str]:
    """Yield the files of the template that this one sources: by their path, or beside it where the path is computed."""
    for rest in _SOURCED.findall(text_of(template / name)):
        words = re.sub(r"[\"']", "", rest).rpartition("/")
        file = (words[2].split() or ["_"])[0]
        yield from _in_template(words[0] + words[1] + file, template)
        yield from _in_template(str(PurePosixPath(name).parent / file), template)


def text_of(path: Path) -> str:
    """Return the text of a regular file, at most `MOST_BYTES`; empty if it is none."""
    file = open_regular(path)
    if file is None:
        return ""
    with file:
        return file.read(MOST_BYTES).decode(errors="replace")


def _run_files(command: str, template: Path) -> tuple[str, ...]:
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    found: dict[str, None] = {}
    try:
        program: str | None = None  # of the simple command; None: its program comes next
        for word in words:
            if word in _SEPARATORS:
                program = None
            elif program is None and not _ASSIGNMENT.match(word):
                program = word
                found |= _in_template(word, template)
            elif program and _INTERPRETER.fullmatch(program.rpartition("/")[2]) and not word.startswith("-"):
                found |= _in_template(word, template)
                program = ""  # what follows are the script's own arguments
    except ValueError:  # an open quote: the shell will refuse the command
        pass
    return tuple(found)


def _in_template(word: str, template: Path) -> dict[str, None]:
    name = PurePosixPath(word)
    inside = not name.is_absolute() and ".." not in name.parts and ".git" not in name.parts
    return {str(name): None} if inside and (template / name).is_file() else {}


def is_same(original: Path, now: Path) -> bool:
    """Return True if both are regular files with the same content, and both or neither can be run."""
    first = content_of(original)
    return first is not None and stat.S_ISREG(first.kind) and first == content_of(now, {first.size})


Carry = Callable[[Request], Awaitable[Answer | None]]
"""Answers a request; returns None if that is not possible, or not yet."""


async def answered(
    evaluator: Evaluator, record: EvaluatorRecord, carry: Carry, stored: Sequence[Answer] = ()
) -> tuple[Answer, ...]:
    """Return the stored answers, followed by new ones until the evaluator has a score or `carry` returns None."""
    answers = list(stored)
    # In a thread: what a trial has printed can take seconds to evaluate.
    while not isinstance(step := await asyncio.to_thread(advance, evaluator, record, answers), Score):
        answer = await carry(step)
        if answer is None:
            break
        answers.append(answer.model_copy(update={"cut": True}) if is_partial(_given(step)) else answer)
    return tuple(answers)


def _given(request: Request) -> str:
    """Return what a script or judge reads to answer."""
    match request:
        case RunJudge():
            return request.stdin
        case AskModel():
            return f"{request.before}{request.after}"
        case _:
            return ""
