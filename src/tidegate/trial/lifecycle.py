"""Runs one trial from workspace to record: setup, agent, post scripts, gates and evaluators."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.evaluators.assess import record_of
from tidegate.model.command import CommandResult
from tidegate.model.gate import Gate
from tidegate.model.network import NetworkStep
from tidegate.model.places import Places
from tidegate.model.probe import Answer, CommandAnswer, ReadFile, Request, RunJudge, RunScript, WorkspaceRequest
from tidegate.model.question import AskModel
from tidegate.model.suite import Scenario
from tidegate.model.trial import Step, Trial
from tidegate.trial import terminal
from tidegate.trial.agent_step import AgentStep, run_agent
from tidegate.trial.ask_evaluators import answered
from tidegate.trial.directories import Attempt
from tidegate.trial.environment import base_environment, script_variables
from tidegate.trial.file_jail import explained
from tidegate.trial.free_port import filled, free_port, with_port
from tidegate.trial.gate_scripts import restore_scripts
from tidegate.trial.judge_script import JudgeScripts
from tidegate.trial.processes import Refused, SupervisorLost
from tidegate.trial.shell_command import run_shell
from tidegate.trial.start import NotReadyError, Start, failure_of
from tidegate.trial.trial_record import store_trial, write_transcript
from tidegate.trial.what_checks_see import guidance_of_base, without_stand_ins
from tidegate.trial.workspace import MOST_SECS, copy_workspace, guidance_hash, read_file
from tidegate.trial.workspace_diff import NoDiffError, workspace_diff

Answers = tuple[Answer | None, ...]
EvaluatorAnswers = tuple[tuple[Answer, ...], ...]


async def run_trial(attempt: Attempt) -> Trial:
    """Run one trial and return its record, which is written to the attempt's record folder while the trial runs.

    Errors inside the trial are stored in the record and never raised; only a cancellation is passed on.
    """
    course = _TrialRun(attempt)
    try:
        trial = await course.run()
    except Refused as error:
        trial = course.trial(not_measured="resources", reason=str(error))
    except SupervisorLost as error:
        trial = course.trial(not_measured="supervisor_lost", reason=str(error))
    except OSError as error:
        trial = course.trial(not_measured="resources", reason=f"the trial could not be run: {error}")
    store_trial(attempt.folders, trial)
    return trial


class _TrialRun:
    """The state of one trial while it runs."""

    def __init__(self, attempt: Attempt) -> None:
        self._port = free_port()
        scenario = with_port(attempt.scenario, self._port)
        attempt = replace(attempt, row=attempt.row.model_copy(update={"scenario": scenario}))
        self._attempt = attempt
        self._scenario = scenario
        self._folders = attempt.folders
        self._place = attempt.place
        self._steps: list[Step] = []
        self._warnings: list[str] = []
        self._started_at = time.time()
        self._network_step: NetworkStep = "setup"
        folders, place = attempt.folders, attempt.place
        target = scenario.target.environment(place.passed_env)
        plain = base_environment(place.check_path, folders.home, folders.tmp, place.passed_env)
        variables = script_variables(attempt.spec, attempt.row.agent.model, self._folders)
        self._environment = {**plain, **target}
        self._agent_environment = {**plain, "PATH": place.path, **target}
        self._script_environment = {**plain, **variables, **target}
        self._judge_scripts = JudgeScripts(
            self._folders, self._script_environment, self._place.limits, attempt.supervisor
        )

    async def run(self) -> Trial:
        """Run the steps in the order that scenarios.md describes."""
        account = self._attempt.supervisor.account
        self._folders.make(account)
        try:
            left = min(MOST_SECS, self._attempt.deadline - time.monotonic())
            await asyncio.to_thread(copy_workspace, self._place.prepared, self._folders.workspace, left, account)
        except CannotRunError:
            self._stop_on_full_disk()
            raise
        environments = (self._environment, self._script_environment, self._agent_environment)
        terminal.put_first(self._scenario.target, self._folders.scratch / "terminal", environments)
        start = Start(self._attempt, self._environment, self._agent_environment)
        self._enter("setup")
        try:
            await start.run(self._steps)
        except NotReadyError as not_ready:
            self._stop_on_full_disk()
            reason = f"{not_ready}{explained(self._attempt.supervisor.confinement.take_refused_files())}"
            self._warn_of_refused()
            return self.trial(not_measured=not_ready.kind, reason=reason)
        return await self._measured()

    async def _measured(self) -> Trial:
        started = time.monotonic()
        self._enter("agent")
        step = await run_agent(self._attempt, self._agent_environment)
        self._enter("gates")
        duration = round(time.monotonic() - started, 3)
        self._warnings.extend(step.warnings)
        write_transcript(self._folders, step.events)
        place, workspace = self._place, self._folders.workspace
        with guidance_of_base(place.prepared, place.base_prepared, workspace, self._attempt.supervisor.account):
            trial = await self._checked(step, duration)
        self._warn_of_refused()
        lost = not await self._keep_diff()
        return trial.model_copy(update={"workspace_lost": lost, "warnings": tuple(self._warnings)})

    async def _checked(self, step: AgentStep, duration: float) -> Trial:
        answers, base_answers = await self._judged(step)
        self._stop_on_full_disk()
        trial = self.trial(
            end=step.end.end,
            end_message=step.end.message,
            not_measured=step.not_measured,
            reason=step.end.message if step.not_measured else "",
            agent_started_at=step.started_at,
            duration_s=duration,
            events=step.events,
            invocations=step.invocations,
            answers=answers,
            base_answers=base_answers,
        )
        if step.not_measured is None:
            trial = trial.model_copy(update=await self._evaluator_answers(trial))
        return trial

    def _stop_on_full_disk(self) -> None:
        """Raise OSError if the disk is full, because a failure may then not be the agent's or the tool's fault."""
        if (full := self._folders.on_full_disk()) is not None:
            raise OSError(f"there is no room left on the disk of {full}")

    def _enter(self, step: NetworkStep) -> None:
        """Let the commands from now on reach what this step may reach."""
        self._warn_of_refused()
        self._network_step = step
        self._attempt.supervisor.confinement.reach(self._place.network.of(step), int(self._port))
        self._attempt.supervisor.confinement.use(self._attempt.file_rules(step))

    def _warn_of_refused(self) -> None:
        """Name the hosts that the suite's `network` has kept from the step, and the files that it was refused."""
        confinement = self._attempt.supervisor.confinement
        for host, times in confinement.take_refused_hosts().items():
            again = f" {times} times" if times > 1 else ""
            self._warnings.append(
                f"{host} was refused{again}: `network.{self._network_step}` in the suite does not list it"
            )
        if paths := confinement.take_refused_files():
            self._warnings.append(explained(paths).strip(" ()"))

    def trial(self, **fields: object) -> Trial:
        """Return the record so far, with these fields set."""
        base = {"spec": self._attempt.spec, "started_at": self._started_at, "places": self._places()}
        base["guidance"] = guidance_hash(self._place.prepared)
        return Trial.model_validate({**base, "steps": tuple(self._steps), "warnings": tuple(self._warnings), **fields})

    def _places(self) -> Places:
        account = self._attempt.supervisor.account
        user = "" if account is None else str(account.uid)
        return Places(trial=str(self._folders.scratch), checkout=str(self._place.repo), user=user)

    async def _judged(self, step: AgentStep) -> tuple[Answers, Answers]:
        """Return the gates' answers, those of base's definition included, and run the scripts before and after them."""
        if step.not_measured is not None:
            return (), ()
        await self._post_scripts()
        answers = await self._probe(self._scenario.gates, "gate")
        base_checks = self._attempt.row.base_checks
        before = await self._probe(base_checks.gates if base_checks else (), "gate-before")
        await self._evaluator_scripts()
        if left_out := self._folders.keep_results(self._place.output_bytes):
            self._warnings.append(f"{left_out} entries of TIDEGATE_RESULTS_DIR were not kept: too large, or no files")
        return answers, before

    async def _post_scripts(self) -> None:
        for number, script in enumerate(self._scenario.post, 1):
            self._attempt.on_step(f"post: {script.command}")
            result = await self._script(script.command, f"post-{number:02d}", script.timeout_secs)
            self._steps.append(Step(kind="post", result=result))
            if not result.ok:
                self._warnings.append(failure_of("post script", result))

    async def _probe(self, gates: Sequence[Gate], name: str) -> Answers:
        answers: list[Answer | None] = []
        for number, gate in enumerate(gates, 1):
            self._attempt.on_step(f"{name} {number}/{len(gates)}")
            request = gate.request()
            answers.append(None if request is None else await self._answer(request, f"{name}-{number:02d}"))
        return tuple(answers)

    async def _answer(self, request: WorkspaceRequest, name: str, scripts: Path | None = None) -> Answer:
        if isinstance(request, ReadFile):
            answer = read_file(self._folders.workspace, request.path, self._place.output_bytes)
            return answer.model_copy(update={"path": request.path})
        if isinstance(request, RunJudge):
            return await self._judge_scripts.run(request, name, scripts or self._place.definitions)
        template, folders = self._place.prepared.folder, self._folders
        with without_stand_ins(request.command, template, folders.workspace, folders.scratch / "aside") as names:
            for file in names:
                self._warnings.append(f"{file} was made during the trial; `{request.command}` was run without it")
            command = filled(request.command, self._port)
            if isinstance(request, RunScript):
                result = await self._script(command, name, request.timeout_secs)
            else:
                result = await self._command(command, name, request.timeout_secs, self._environment)
        return CommandAnswer(result=result.model_copy(update={"command": request.command}))

    async def _evaluator_answers(self, trial: Trial) -> dict[str, object]:
        """Return the answers to evaluators, and to those of base's definition, which use base's scripts."""
        base_checks, judge, place = self._attempt.row.base_checks, self._scenario.judge, self._place
        judge_alone = self._scenario.model_copy(update={"evaluators": (judge,) if judge else ()})
        files = await self._ask_evaluators(trial, judge_alone, "judge", place.definitions)
        return {
            "judge_answers": files[0] if files else (),
            "evaluator_answers": await self._ask_evaluators(trial, self._scenario, "judge", place.definitions),
            "base_evaluator_answers": (
                await self._ask_evaluators(trial, base_checks, "judge-before", place.base_definitions)
                if base_checks
                else ()
            ),
        }

    async def _ask_evaluators(self, trial: Trial, scenario: Scenario, name: str, scripts: Path) -> EvaluatorAnswers:
        """Return each evaluator's answers up to its first question to a model; `scripts` is the scripts' checkout."""
        record = record_of(trial, scenario)
        collected: list[tuple[Answer, ...]] = []
        number = count(1)

        async def carry(request: Request) -> Answer | None:
            if isinstance(request, AskModel):
                return None
            return await self._answer(request, f"{name}-{next(number):02d}", scripts)

        for evaluator in scenario.evaluators:
            self._attempt.on_step(f"evaluator: {evaluator.label}")
            collected.append(await answered(evaluator, record, carry))
        return tuple(collected)

    async def _evaluator_scripts(self) -> None:
        for number, script in enumerate(self._scenario.evaluator_scripts, 1):
            self._attempt.on_step(f"evaluator: {script.name}")
            result = await self._script(script.command, f"evaluator-{number:02d}", script.timeout_secs)
            self._steps.append(Step(kind="evaluator", name=script.name, result=result))

    async def _script(self, command: str, name: str, timeout_secs: float) -> CommandResult:
        folders, account = self._folders, self._attempt.supervisor.account
        folders.open_to_scripts(account)
        for file in restore_scripts(command, self._place.prepared.folder, folders.workspace, account):
            self._warnings.append(f"{file} was changed during the trial; `{command}` was run with the scenario's own")
        return await self._command(command, name, timeout_secs, self._script_environment)

    async def _command(
        self,
        command: str,
        name: str,
        timeout_secs: float,
        env: Mapping[str, str],
    ) -> CommandResult:
        result, _ = await run_shell(
            self._attempt.supervisor,
            command,
            cwd=self._folders.workspace,
            env=env,
            output=self._folders.record / "output" / name,
            timeout_secs=timeout_secs,
            limits=self._place.limits,
        )
        return result

    async def _keep_diff(self) -> bool:
        """Store the agent's changes as a diff. Return False if some cannot be kept; the trial counts nevertheless."""
        scratch, workspace = self._folders.scratch / "diff", self._folders.workspace
        try:
            diff, large = await asyncio.to_thread(workspace_diff, self._place.prepared, workspace, scratch)
            (self._folders.record / "workspace.diff").write_bytes(diff)
            if large:
                self._warnings.append(
                    f"large files are not in the diff of what the agent changed: {', '.join(large[:5])}"
                )
                return False
        except (OSError, NoDiffError) as error:
            self._warnings.append(f"what the agent changed is not kept: {error}")
            return False
        return True
