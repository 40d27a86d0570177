"""The agent's step of a trial: runs the agent, with the recorder first on PATH, until it ends or is stopped."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from tidegate.invocations.bypassed import bypassed, never_arrived, was_never_found
from tidegate.model.agent import NoAnswerError, ServerScript
from tidegate.model.event import End, Event
from tidegate.model.suite import McpServer
from tidegate.model.trial import Invocation, NotMeasured
from tidegate.trial import recorder
from tidegate.trial.directories import Attempt
from tidegate.trial.mcp import recording
from tidegate.trial.processes import SupervisorLost
from tidegate.trial.session import TrialSession
from tidegate.trial.step_context import AgentStopped, StepContext

DEFAULT_TIMEOUT_SECS = 300.0  # as in llm-tool-test
_ENDS_NOT_MEASURED: Mapping[str, NotMeasured] = {"auth": "auth", "outage": "outage", "budget": "budget"}


@dataclass(frozen=True)
class AgentStep:
    """What the agent did, and how it ended."""

    end: End
    not_measured: NotMeasured | None
    events: tuple[Event, ...]
    invocations: tuple[Invocation, ...] = ()
    warnings: tuple[str, ...] = ()


async def run_agent(attempt: Attempt, environment: Mapping[str, str]) -> AgentStep:
    """Run the agent in `environment`, extended by the recorder's folder and the agent's own variables."""
    target, folders = attempt.scenario.target, attempt.folders
    started = time.time()
    if target.mcp is not None:
        return await _with_server(attempt, environment, target.mcp)
    if not target.binary:
        session = _session(attempt, environment)
        end, not_measured = await _ended(attempt, session)
        return AgentStep(end, not_measured, tuple(session.events))
    front = recorder.install(folders.scratch / "recorder", target.binary, environment["PATH"], folders.calls)
    session = _session(
        attempt,
        {**environment, "PATH": f"{front}:{environment['PATH']}"},
        wrapper=front / target.binary.rpartition("/")[2],
    )
    try:
        end, not_measured = await _ended(attempt, session)
    finally:
        folders.keep_calls()
    invocations, warnings = recorder.read(
        folders.calls, binary=target.binary, command_pattern=target.command_pattern, killed_at=session.killed_at
    )
    invocations += bypassed(session.events, target, invocations, started)
    if not_measured is None and was_never_found(invocations):
        end = end.model_copy(update={"message": f"the agent's shell does not find {target.binary}: it resets PATH"})
        not_measured = "infrastructure"
    return AgentStep(end, not_measured, tuple(session.events), invocations, warnings)


async def _with_server(attempt: Attempt, environment: Mapping[str, str], server: McpServer) -> AgentStep:
    """Run the agent with an MCP server as the target. A trial in which the agent opens no session is not measured."""
    folders = attempt.folders
    started = time.time()
    script = recording.install(folders.scratch / "recorder", server, environment, folders.workspace, folders.calls)
    session = _session(attempt, environment, server=ServerScript(server.name, script))
    try:
        end, not_measured = await _ended(attempt, session)
    finally:
        folders.keep_calls()
    told = recording.read(folders.calls, killed_at=session.killed_at)
    if not_measured is None and not told.opened:
        why = f"the agent opened no session with the MCP server {server.name}"
        end = end.model_copy(update={"message": f"{why}: {end.message}" if end.message else why})
        not_measured = "infrastructure"
    invocations = told.invocations + never_arrived(session.events, server.name, started)
    return AgentStep(end, not_measured, tuple(session.events), invocations, told.warnings)


async def _ended(attempt: Attempt, session: TrialSession) -> tuple[End, NotMeasured | None]:
    """Run the agent and record its end as the last event."""
    attempt.on_step("the agent is started")
    async with aclosing(session):
        end, not_measured = await _end(attempt, session)
        end = session.redacted(end)
        if attempt.meter is not None:
            attempt.meter.tell(end)
        session.emit(end)
        return end, not_measured


async def _end(attempt: Attempt, session: TrialSession) -> tuple[End, NotMeasured | None]:
    try:
        end = await attempt.row.agent.run(session)
    except AgentStopped as stopped:
        if stopped.end == "timeout" and time.monotonic() >= attempt.deadline:
            return End(end="budget", message="the run's minutes were used up"), "budget"
        end = _stopped_end(stopped, session.known())
        return end, stopped.not_measured or _ENDS_NOT_MEASURED.get(end.end)
    except (SupervisorLost, OSError):
        raise
    except NoAnswerError as error:
        return End(end="crashed", message=str(error)), "infrastructure"
    except Exception as error:  # a bug in a plug-in affects this trial, not the run
        return End(end="crashed", message=f"the agent broke: {type(error).__name__}: {error}"), "infrastructure"
    end = _completed_by(end, attempt.relayed())
    return end, _ENDS_NOT_MEASURED.get(end.end)


def _completed_by(end: End, relayed: End | None) -> End:
    """Return the end with what only the model proxy knows: provider errors that explain a crash, and token counts."""
    if relayed is None:
        return end
    if end.end == "crashed" and relayed.end in ("auth", "outage"):
        return relayed.model_copy(update={"message": f"{relayed.message}; {end.message}"})
    if end.tokens_in is None and end.tokens_out is None:
        tokens = ("tokens_in", "tokens_out", "tokens_cache_read", "tokens_cache_write")
        return end.model_copy(update={name: getattr(relayed, name) for name in tokens})
    return end


def _stopped_end(stopped: AgentStopped, told: End | None) -> End:
    """Return the end of an agent that was stopped, with the turns, tokens and cost that its log reports.

    If the log shows that the model was unreachable, this is the cause of the timeout.
    """
    if told is None:
        return End(end=stopped.end, message=stopped.message)
    if told.end in ("auth", "outage") and stopped.end in ("timeout", "watchdog"):
        return told
    return told.model_copy(update={"end": stopped.end, "message": stopped.message})


def _session(
    attempt: Attempt,
    environment: Mapping[str, str],
    *,
    wrapper: Path | None = None,
    server: ServerScript | None = None,
) -> TrialSession:
    scenario, agent, folders = attempt.scenario, attempt.row.agent, attempt.folders
    timeout = scenario.timeout_secs or agent.timeout_secs or DEFAULT_TIMEOUT_SECS
    context = StepContext(
        supervisor=attempt.supervisor,
        folders=folders,
        definitions=attempt.place.definitions,
        recorder=wrapper,
        server=server,
        credentials=attempt.place.credentials,
        environment={**environment, **agent.env},
        limits=attempt.place.limits,
        deadline=min(time.monotonic() + timeout, attempt.deadline),
        timeout_secs=timeout,
        meter=attempt.meter,
        relayed=attempt.relayed,
    )
    task = {
        "prompt": scenario.prompt,
        "scenario": scenario.name,
        "trial_id": attempt.spec.id,
        "binary": scenario.target.binary,
    }
    return TrialSession(
        context,
        task=task,
        guidance=attempt.place.prepared.guidance,
        max_turns=scenario.max_turns or agent.max_turns,
        repo=attempt.place.repo,
        on_step=attempt.on_step,
    )
