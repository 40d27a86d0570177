"""Collects what gates and evaluators ask about a trial: base's checks first, then those that head added or changed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tidegate.evaluators.assess import record_of
from tidegate.model.command import CommandResult
from tidegate.model.evaluator import Evaluator
from tidegate.model.plan import CheckOrder
from tidegate.model.probe import (
    Answer,
    AskServer,
    CommandAnswer,
    ReadFile,
    Request,
    RunJudge,
    RunScript,
    WorkspaceRequest,
)
from tidegate.model.question import AskModel
from tidegate.model.suite import Scenario
from tidegate.model.trial import Step, Trial
from tidegate.trial.ask_evaluators import answered
from tidegate.trial.directories import Attempt
from tidegate.trial.free_port import filled
from tidegate.trial.gate_scripts import restore_scripts
from tidegate.trial.judge_script import JudgeScripts
from tidegate.trial.mcp.server_check import asked_server
from tidegate.trial.rewritten import rewritten_files
from tidegate.trial.shell_command import run_shell
from tidegate.trial.start import failure_of, server_command
from tidegate.trial.what_checks_see import without_stand_ins
from tidegate.trial.workspace import read_file


class BudgetEndedError(Exception):
    """The run's budget ended before all checks were evaluated, so the trial is not measured."""


class Environments(NamedTuple):
    """The variables of gates' commands, and of scripts."""

    gates: Mapping[str, str]
    scripts: Mapping[str, str]


class Notes(NamedTuple):
    """Lists of the trial that are added to while its checks run."""

    steps: list[Step]
    warnings: list[str]


class Checks:
    """The checks of one trial. Their answers have the order of the definition, whenever they were collected."""

    def __init__(self, attempt: Attempt, environments: Environments, notes: Notes, port: str) -> None:
        self._attempt = attempt
        self._scenario = attempt.scenario
        self._folders, self._place = attempt.folders, attempt.place
        self._environments, self._notes, self._port = environments, notes, port
        self._judge_scripts = JudgeScripts(self._folders, environments.scripts, self._place.limits, attempt.supervisor)
        before, judge = attempt.row.base_checks, self._scenario.judge
        self._gates = (*self._scenario.gates, *(before.gates if before else ()))
        self._evaluators: tuple[Evaluator, ...] = (*self._scenario.evaluators, *((judge,) if judge else ()))
        everything = CheckOrder(gates=tuple(range(len(self._gates))), evaluators=tuple(range(len(self._evaluators))))
        self._first = attempt.row.first_checks or everything
        self._rewritten: tuple[str, ...] = ()
        self._of_gates: dict[int, Answer | None] = {}
        self._of_evaluators: dict[int, tuple[Answer, ...]] = {}
        self._of_base: list[tuple[Answer, ...]] = []
        self._numbers = {name: count(1) for name in ("judge", "judge-before")}

    async def run_first(self, trial: Trial) -> None:
        """Run the post scripts, base's checks in base's order, and the diagnostic scripts. Raises BudgetEndedError."""
        requests = [gate.request() for gate in self._gates if gate.required]
        self._rewritten = rewritten_files(requests, self._place.prepared, self._folders.workspace, self._folders.home)
        await self._post_scripts()
        await self._ask_gates(self._first.gates)
        await self._evaluator_scripts()
        if before := self._attempt.row.base_checks:
            for evaluator in before.evaluators:
                self._of_base.append(
                    await self._ask(evaluator, trial, before, "judge-before", self._place.base_definitions)
                )
        await self._ask_evaluators(trial, self._first.evaluators)

    async def run_rest(self, trial: Trial) -> None:
        """Evaluate the checks that head added or changed, which may change the workspace. Raises BudgetEndedError."""
        await self._ask_gates(_others(len(self._gates), self._first.gates))
        if left_out := self._folders.keep_results(self._place.output_bytes):
            self._notes.warnings.append(
                f"{left_out} entries of TIDEGATE_RESULTS_DIR were not kept: too large, or no files"
            )
        await self._ask_evaluators(trial, _others(len(self._evaluators), self._first.evaluators))

    def answers(self) -> dict[str, object]:
        """Return the answers as fields of the trial."""
        own = len(self._scenario.gates)
        gates = tuple(self._of_gates[number] for number in range(len(self._gates)))
        evaluators = tuple(self._of_evaluators[number] for number in range(len(self._evaluators)))
        return {
            "rewritten": self._rewritten,
            "answers": gates[:own],
            "base_answers": gates[own:],
            "evaluator_answers": evaluators[: len(self._scenario.evaluators)],
            "judge_answers": evaluators[-1] if self._scenario.judge else (),
            "base_evaluator_answers": tuple(self._of_base),
        }

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

    async def _ask_gates(self, positions: Iterable[int]) -> None:
        own = len(self._scenario.gates)
        for place in positions:
            name, number = ("gate", place + 1) if place < own else ("gate-before", place - own + 1)
            self._attempt.on_step(f"{name} {number}/{own if place < own else len(self._gates) - own}")
            request = self._gates[place].request()
            answer = None if request is None else await self._answer(request, f"{name}-{number:02d}")
            self._of_gates[place] = answer

    async def _ask_evaluators(self, trial: Trial, positions: Iterable[int]) -> None:
        for place in positions:
            answers = await self._ask(self._evaluators[place], trial, self._scenario, "judge", self._place.definitions)
            self._of_evaluators[place] = answers

    async def _ask(
        self, evaluator: Evaluator, trial: Trial, scenario: Scenario, name: str, scripts: Path
    ) -> tuple[Answer, ...]:
        """Return the evaluator's answers up to its first question to a model; `scripts` is the scripts' checkout."""

        async def carry(request: Request) -> Answer | None:
            if isinstance(request, AskModel):
                return None
            return await self._answer(request, f"{name}-{next(self._numbers[name]):02d}", scripts)

        self._attempt.on_step(f"evaluator: {evaluator.label}")
        return await answered(evaluator, record_of(trial, scenario), carry)

    async def _answer(self, request: WorkspaceRequest, name: str, scripts: Path | None = None) -> Answer:
        if isinstance(request, ReadFile):
            answer = read_file(self._folders.workspace, request.path, self._place.output_bytes)
            return answer.model_copy(update={"path": request.path})
        if isinstance(request, RunJudge):
            request = request.model_copy(update={"timeout_secs": self._left(request.timeout_secs)})
            judged = await self._judge_scripts.run(request, name, scripts or self._place.definitions)
            self._stop_if_over(judged.result)
            return judged
        if isinstance(request, AskServer):
            return CommandAnswer(result=await self._asked_server(request, name))
        template, folders = self._place.prepared.folder, self._folders
        aside, path = folders.scratch / "aside", self._environments.gates.get("PATH", "")
        with without_stand_ins(request.command, template, folders.workspace, aside, path) as names:
            for file in names:
                self._notes.warnings.append(f"{file} was made during the trial; `{request.command}` was run without it")
            command = filled(request.command, self._port)
            if isinstance(request, RunScript):
                result = await self._script(command, name, request.timeout_secs)
            else:
                result = await self._command(command, name, request.timeout_secs, self._environments.gates)
        return CommandAnswer(result=result.model_copy(update={"command": request.command}))

    async def _asked_server(self, request: AskServer, name: str) -> CommandResult:
        """Start the server as agents do, without recording, and ask it."""
        attempt, folders = self._attempt, self._folders
        if self._scenario.target.mcp is None:
            why = "the tool under test is not an MCP server"
            return CommandResult(command=request.name, end="not_started", stderr=why)
        server = server_command(attempt, self._scenario.target.mcp, self._environments.gates, name)
        request = request.model_copy(update={"timeout_secs": self._left(request.timeout_secs)})
        result = await asked_server(attempt.supervisor, server, folders.scratch / f"{name}-session", request)
        self._stop_if_over(result)
        return result

    async def _script(self, command: str, name: str, timeout_secs: float) -> CommandResult:
        folders, account = self._folders, self._attempt.supervisor.account
        folders.open_to_scripts(account)
        for file in restore_scripts(command, self._place.prepared.folder, folders.workspace, account):
            self._notes.warnings.append(
                f"{file} was changed during the trial; `{command}` was run with the scenario's own"
            )
        return await self._command(command, name, timeout_secs, self._environments.scripts)

    async def _command(self, command: str, name: str, timeout_secs: float, env: Mapping[str, str]) -> CommandResult:
        result, _ = await run_shell(
            self._attempt.supervisor,
            command,
            cwd=self._folders.workspace,
            env=env,
            output=self._folders.record / "output" / name,
            timeout_secs=self._left(timeout_secs),
            limits=self._place.limits,
        )
        self._stop_if_over(result)
        return result

    def _left(self, timeout_secs: float) -> float:
        """Return the seconds that a command may take: the end of the budget stops it."""
        return min(timeout_secs, max(0.1, self._attempt.deadline - time.monotonic()))

    def _stop_if_over(self, result: CommandResult) -> None:
        if result.end == "timeout" and time.monotonic() >= self._attempt.deadline:
            raise BudgetEndedError(f"the run's budget ended while `{result.command}` checked the trial")


def _others(number: int, first: Iterable[int]) -> Iterator[int]:
    """Yield the positions below `number` that are not among the first."""
    done = frozenset(first)
    return (place for place in range(number) if place not in done)
