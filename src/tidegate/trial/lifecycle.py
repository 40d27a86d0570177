"""One trial from its workspace to its record: setup, agent, post scripts, gates' probes, evaluator scripts."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tidegate.evaluators.advance import advance
from tidegate.evaluators.assess import record_of
from tidegate.model.command import CommandResult
from tidegate.model.evaluator import Score
from tidegate.model.event import End, Event
from tidegate.model.plan import PlanRow
from tidegate.model.probe import Answer, CommandAnswer, ReadFile, Request, RunCommand, RunJudge
from tidegate.model.suite import Limits, Scenario
from tidegate.model.trial import Invocation, NotMeasured, Step, Trial, TrialSpec
from tidegate.trial import recorder
from tidegate.trial.environment import base_environment, script_variables
from tidegate.trial.passed_by import passed_by
from tidegate.trial.processes import Supervisor, SupervisorLost, run_shell
from tidegate.trial.session import AgentStopped, Desk, TrialSession
from tidegate.trial.workspace import Prepared, copy_workspace, read_file, workspace_diff

DEFAULT_TIMEOUT_SECS = 300.0  # of the agent's step, as in llm-tool-test
SETUP_TIMEOUT_SECS = 300.0  # of one setup command
HEALTH_CHECK_TIMEOUT_SECS = 30.0
_ENDS_NOT_MEASURED: Mapping[str, NotMeasured] = {"auth": "auth", "outage": "outage", "budget": "budget"}


@dataclass(frozen=True)
class Place:
    """Where and with what a trial is run; the same for all trials of one scenario and side."""

    prepared: Prepared
    repo: Path  # the side's checkout
    definitions: Path  # the checkout that says what the scenarios are: head's
    path: str  # the side's PATH
    passed_env: Mapping[str, str]
    credentials: Mapping[str, str]  # the agent's own variables; nothing but its own program sees them
    limits: Limits


@dataclass(frozen=True)
class Folders:
    """A trial's own folders. `record` outlives it; `scratch` (workspace, home, tmp) does not."""

    record: Path
    scratch: Path

    @property
    def workspace(self) -> Path:
        """The agent's working directory."""
        return self.scratch / "workspace"

    @property
    def home(self) -> Path:
        """HOME."""
        return self.scratch / "home"

    @property
    def tmp(self) -> Path:
        """TMPDIR."""
        return self.scratch / "tmp"


class _NotReadyError(Exception):
    """Setup or health check failed: there is nothing to measure."""

    def __init__(self, kind: NotMeasured, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


async def run_trial(
    spec: TrialSpec,
    row: PlanRow,
    place: Place,
    folders: Folders,
    supervisor: Supervisor,
    *,
    deadline: float,
    on_step: Callable[[str], None],
) -> Trial:
    """Run one trial and return its record, which is also in `folders.record` as it happens.

    `deadline` is the run's, on the monotonic clock. Whatever goes wrong inside the trial is in the record, never
    raised; only a cancellation passes through.
    """
    attempt = _Attempt(spec, row, place, folders, supervisor, deadline=deadline, on_step=on_step)
    try:
        trial = await attempt.run()
    except (SupervisorLost, OSError) as error:
        trial = attempt.trial(not_measured="infrastructure", reason=f"the trial could not be run: {error}")
    (folders.record / "trial.json").write_text(trial.model_dump_json(indent=1), encoding="utf-8")
    return trial


class _Attempt:
    """The state of one trial while it runs."""

    def __init__(
        self,
        spec: TrialSpec,
        row: PlanRow,
        place: Place,
        folders: Folders,
        supervisor: Supervisor,
        *,
        deadline: float,
        on_step: Callable[[str], None],
    ) -> None:
        self._spec = spec
        self._row = row
        self._place = place
        self._folders = folders
        self._supervisor = supervisor
        self._deadline = deadline
        self._on_step = on_step
        self._steps: list[Step] = []
        self._warnings: list[str] = []
        self._started_at = time.time()
        folders.record.mkdir(parents=True)
        target = row.scenario.target.env
        plain = base_environment(place.path, folders.home, folders.tmp, place.passed_env)
        variables = script_variables(spec, row.agent.model, folders.workspace, folders.record)
        self._environment = {**plain, **target}
        self._script_environment = {**plain, **variables, **target}

    @property
    def _scenario(self) -> Scenario:
        return self._row.scenario

    async def run(self) -> Trial:
        """The trial, in the order of scenarios.md."""
        self._folders.home.mkdir(parents=True)
        self._folders.tmp.mkdir()
        copy_workspace(self._place.prepared, self._folders.workspace)
        try:
            await self._make_ready()
        except _NotReadyError as not_ready:
            return self.trial(not_measured=not_ready.kind, reason=str(not_ready))
        return await self._measured()

    async def _measured(self) -> Trial:
        started = time.monotonic()
        started_at = time.time()
        end, not_measured, session, invocations = await self._agent()
        duration = round(time.monotonic() - started, 3)
        self._write_transcript(session.events)
        answers: tuple[Answer | None, ...] = ()
        if not_measured is None:
            await self._post_scripts()
            answers = await self._probe_gates()
            await self._evaluator_scripts()
        trial = self.trial(
            end=end.end,
            end_message=end.message,
            not_measured=not_measured,
            reason=end.message if not_measured else "",
            agent_started_at=started_at,
            duration_s=duration,
            events=tuple(session.events),
            invocations=invocations,
            answers=answers,
        )
        if not_measured is None:
            trial = trial.model_copy(update={"evaluator_answers": await self._ask_evaluators(trial)})
        self._keep_diff()
        return trial

    def trial(self, **fields: object) -> Trial:
        """The record so far, with these fields."""
        base = {"spec": self._spec, "started_at": self._started_at}
        return Trial.model_validate({**base, "steps": tuple(self._steps), "warnings": tuple(self._warnings), **fields})

    async def _make_ready(self) -> None:
        for number, command in enumerate(self._scenario.setup, 1):
            self._on_step(f"setup: {command}")
            result = await self._command(command, f"setup-{number:02d}", SETUP_TIMEOUT_SECS, self._environment)
            self._steps.append(Step(kind="setup", result=result))
            if not result.ok:
                raise _NotReadyError("setup", _failure("setup command", result))
        check = self._scenario.target.health_check
        if check is not None:
            self._on_step(f"health check: {check}")
            result = await self._command(check, "health-check", HEALTH_CHECK_TIMEOUT_SECS, self._environment)
            self._steps.append(Step(kind="health_check", result=result))
            if not result.ok:
                raise _NotReadyError("health_check", _failure("health check", result))

    async def _agent(self) -> tuple[End, NotMeasured | None, TrialSession, tuple[Invocation, ...]]:
        """The agent's step, with the recorder in front of PATH for it alone."""
        log = self._folders.record / "invocations.log"
        target = self._scenario.target
        environment, wrapper = self._environment, None
        if target.binary:
            front = recorder.install(self._folders.scratch / "recorder", target.binary, environment["PATH"], log)
            environment = {**environment, "PATH": f"{front}:{environment['PATH']}"}
            wrapper = front / target.binary.rpartition("/")[2]
        session = self._session(environment, wrapper)
        with closing(session):
            started = time.time()
            end, not_measured = await self._agent_end(session)
            end = session.redacted(end)
            session.emit(end)
        if not target.binary:
            return end, not_measured, session, ()
        invocations, warnings = recorder.read(
            log, binary=target.binary, command_pattern=target.command_pattern, killed_at=session.killed_at
        )
        invocations += passed_by(session.events, target, invocations, started)
        self._warnings.extend(warnings)
        return end, not_measured, session, invocations

    async def _agent_end(self, session: TrialSession) -> tuple[End, NotMeasured | None]:
        try:
            end = await self._row.agent.run(session)
        except AgentStopped as stopped:
            if stopped.end == "timeout" and time.monotonic() >= self._deadline:
                return End(end="budget", message="the run's minutes were used up"), "budget"
            end = _stopped_end(stopped, session.told)
            return end, stopped.not_measured or _ENDS_NOT_MEASURED.get(end.end)
        except (SupervisorLost, OSError):
            raise
        except Exception as error:  # a plug-in's bug is this trial's trouble, not the run's
            message = f"the agent broke: {type(error).__name__}: {error}"
            return End(end="crashed", message=message), "infrastructure"
        return end, _ENDS_NOT_MEASURED.get(end.end)

    def _session(self, environment: Mapping[str, str], wrapper: Path | None) -> TrialSession:
        timeout = self._scenario.timeout_secs or self._row.agent.timeout_secs or DEFAULT_TIMEOUT_SECS
        desk = Desk(
            supervisor=self._supervisor,
            workspace=self._folders.workspace,
            home=self._folders.home,
            record=self._folders.record,
            definitions=self._place.definitions,
            recorder=wrapper,
            credentials=self._place.credentials,
            environment={
                **environment,
                **self._row.agent.env,
                "TIDEGATE_PROMPT_FILE": str(self._folders.record / "prompt.txt"),
            },
            limits=self._place.limits,
            deadline=min(time.monotonic() + timeout, self._deadline),
            timeout_secs=timeout,
        )
        task = {
            "prompt": self._scenario.prompt,
            "scenario": self._scenario.name,
            "trial_id": self._spec.id,
            "binary": self._scenario.target.binary,
        }
        guidance = self._place.prepared.guidance
        return TrialSession(
            desk,
            task=task,
            guidance=guidance,
            max_turns=self._scenario.max_turns or self._row.agent.max_turns,
            repo=self._place.repo,
            on_step=self._on_step,
        )

    async def _post_scripts(self) -> None:
        for number, script in enumerate(self._scenario.post, 1):
            self._on_step(f"post: {script.command}")
            result = await self._script(script.command, f"post-{number:02d}", script.timeout_secs)
            self._steps.append(Step(kind="post", result=result))
            if not result.ok:
                self._warnings.append(_failure("post script", result))

    async def _probe_gates(self) -> tuple[Answer | None, ...]:
        answers: list[Answer | None] = []
        for number, gate in enumerate(self._scenario.gates, 1):
            self._on_step(f"gate {number}/{len(self._scenario.gates)}")
            request = gate.request()
            answers.append(None if request is None else await self._answer(request, f"gate-{number:02d}"))
        return tuple(answers)

    async def _answer(self, request: Request, name: str) -> Answer:
        if isinstance(request, ReadFile):
            return read_file(self._folders.workspace, request.path, self._output_bytes)
        if isinstance(request, RunJudge):
            return CommandAnswer(result=await self._judge(request, name))
        environment = self._environment if isinstance(request, RunCommand) else self._script_environment
        return CommandAnswer(result=await self._command(request.command, name, request.timeout_secs, environment))

    async def _ask_evaluators(self, trial: Trial) -> tuple[tuple[Answer, ...], ...]:
        """The answers to what each evaluator asks, one question after another."""
        record = record_of(trial, self._scenario)
        collected: list[tuple[Answer, ...]] = []
        for number, evaluator in enumerate(self._scenario.evaluators, 1):
            self._on_step(f"evaluator: {evaluator.label}")
            answers: list[Answer] = []
            while not isinstance(step := advance(evaluator, record, answers), Score):
                answers.append(await self._answer(step, f"judge-{number:02d}-{len(answers) + 1:02d}"))
            collected.append(tuple(answers))
        return tuple(collected)

    async def _judge(self, request: RunJudge, name: str) -> CommandResult:
        stdin = self._folders.record / f"{name}.stdin.json"
        stdin.write_text(request.stdin, encoding="utf-8")
        folder = self._place.definitions / request.folder
        return await self._command(
            request.command, name, request.timeout_secs, self._script_environment, cwd=folder, stdin=stdin
        )

    async def _evaluator_scripts(self) -> None:
        for number, script in enumerate(self._scenario.evaluator_scripts, 1):
            self._on_step(f"evaluator: {script.name}")
            result = await self._script(script.command, f"evaluator-{number:02d}", script.timeout_secs)
            self._steps.append(Step(kind="evaluator", name=script.name, result=result))

    async def _script(self, command: str, name: str, timeout_secs: float) -> CommandResult:
        return await self._command(command, name, timeout_secs, self._script_environment)

    async def _command(
        self,
        command: str,
        name: str,
        timeout_secs: float,
        env: Mapping[str, str],
        *,
        cwd: Path | None = None,
        stdin: Path | None = None,
    ) -> CommandResult:
        result, _ = await run_shell(
            self._supervisor,
            command,
            cwd=cwd or self._folders.workspace,
            env=env,
            output=self._folders.record / "output" / name,
            timeout_secs=timeout_secs,
            limits=self._place.limits,
            stdin=stdin,
        )
        return result

    @property
    def _output_bytes(self) -> int:
        return int(self._place.limits.output_mb * 1_000_000)

    def _write_transcript(self, events: list[Event]) -> None:
        text = "".join(_transcript_line(event) for event in events)
        (self._folders.record / "transcript.txt").write_text(text, encoding="utf-8")

    def _keep_diff(self) -> None:
        scratch = self._folders.scratch / "diff"
        scratch.mkdir()
        diff = workspace_diff(self._place.prepared, self._folders.workspace, scratch)
        (self._folders.record / "workspace.diff").write_bytes(diff)


def remove_scratch(folders: Folders) -> None:
    """Delete workspace, home and tmp; files that the agent made unreadable go too."""
    shutil.rmtree(folders.scratch, ignore_errors=True)


def _stopped_end(stopped: AgentStopped, told: End | None) -> End:
    """The end of a step that was ended from outside, with what the agent's log tells of turns, tokens and cost.

    If the log says that the model could not be reached, that is why the time was up.
    """
    if told is None:
        return End(end=stopped.end, message=stopped.message)
    if told.end in ("auth", "outage"):
        return told
    return told.model_copy(update={"end": stopped.end, "message": stopped.message})


def _failure(what: str, result: CommandResult) -> str:
    lines = [line for line in (result.stderr.strip() or result.stdout.strip()).splitlines() if line.strip()]
    message = f": {lines[-1].strip()}" if lines else ""
    return f"{what} `{result.command}` failed ({result.how_it_ended()}){message}"


def _transcript_line(event: Event) -> str:
    match event.type:
        case "tool_call":
            return f"$ {event.command or event.tool}\n"
        case "tool_result":
            code = "" if event.exit_code is None else f"exit code {event.exit_code}\n"
            return f"{event.output}\n{code}"
        case "end":
            return f"[{event.end}] {event.message}\n"
        case _:
            return f"{event.text}\n"
