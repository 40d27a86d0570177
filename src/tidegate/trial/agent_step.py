"""The agent's step of a trial: runs the agent, with the recorder first on PATH, and says how it ended."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tidegate.agents.invocations.from_log import bypassed, never_arrived, was_never_found, with_refused
from tidegate.agents.invocations.metrics import in_order
from tidegate.model.agent import NoAnswerError, ServerScript
from tidegate.model.event import End, Event, Invocation, Message
from tidegate.model.trial_spec import NotMeasured
from tidegate.text.shorten import excerpt
from tidegate.trial import recorder
from tidegate.trial.directories import Attempt
from tidegate.trial.environment import Environments
from tidegate.trial.mcp import recording
from tidegate.trial.mcp.server_check import early_server, quoted, server_at_url
from tidegate.trial.processes import SupervisorLost
from tidegate.trial.recorder import receiving
from tidegate.trial.session import AgentStopped, TrialSession

_OF_PROVIDER: dict[str, NotMeasured] = {"auth": "auth", "outage": "outage"}
_WITHOUT_ANSWER = ("crashed", "auth", "outage", "refused_request")
SHARE_OF_WAITS = 0.1  # of the agent's time: with less, it would not have ended in time without them either
_TOKENS = ("tokens_in", "tokens_out", "tokens_cache_read", "tokens_cache_write", "tokens_guessed")


class Ending(NamedTuple):
    """The end of an agent's step; `cause` says why nothing can be measured, None if it can."""

    end: End
    cause: NotMeasured | None = None


@dataclass(frozen=True)
class Observed:
    """What Tidegate knows besides the agent's own log.

    `proxied`: what the model proxy got, as an End; None if it was not asked. `hung`: the call of the target that ran
    when the agent was stopped. `took_s`: how long the agent ran.
    """

    has_proxy: bool = False
    asks_itself: bool = False  # the agent is a part of Tidegate, and so its report is Tidegate's own
    proxied: End | None = None
    hung: str | None = None
    took_s: float = 0.0

    @property
    def slowed_down(self) -> bool:
        """Return True if the provider's rate limits took a good part of the agent's time."""
        return self.proxied is not None and self.proxied.waited_s > SHARE_OF_WAITS * self.took_s


def ending_of(end: End, observed: Observed) -> Ending:
    """Return how a step ended that the agent ended by itself, by its own report `end`."""
    proxied = observed.proxied
    if end.end in _WITHOUT_ANSWER and proxied is not None:
        if proxied.end in _OF_PROVIDER:
            end = _explained(end, proxied).model_copy(update={"end": proxied.end})
            return Ending(end, _OF_PROVIDER[proxied.end])
        if proxied.end == "refused_request":
            end = _with_tokens(end, proxied)
            return Ending(end.model_copy(update={"end": proxied.end, "message": proxied.message}), "refused_request")
    if end.end == "refused_request":  # without the proxy the log alone says so, and gains nothing by it
        return Ending(_with_tokens(end, proxied), "refused_request")
    if end.end in _OF_PROVIDER:
        trusted = observed.asks_itself or (end.end == "auth" and not observed.has_proxy)
        return Ending(_with_tokens(end, proxied), _OF_PROVIDER[end.end] if trusted else "reported_outage")
    return Ending(_with_tokens(end, proxied), "resources" if end.end == "budget" else None)


def ending_of_stop(stopped: AgentStopped, told: End | None, observed: Observed) -> Ending:
    """Return how a step ended that Tidegate stopped; `told` has what the agent's log tells of turns, tokens and cost.

    An agent that waits for its model may look like a tool that hangs: if the provider gave no answers, it is the cause.
    """
    if stopped.end in _OF_PROVIDER:
        return ending_of(End(end=stopped.end, message=stopped.message), observed)
    for_time = stopped.end in ("timeout", "watchdog")
    if for_time and observed.hung is None:
        reported = observed.proxied if observed.has_proxy else told
        if reported is not None and reported.end in _OF_PROVIDER:
            return ending_of(reported, observed)
        if observed.proxied is not None and observed.slowed_down:
            waited = f"{stopped.message}, of which requests waited {observed.proxied.waited_s:.0f} s for the provider"
            return Ending(observed.proxied.model_copy(update={"end": "outage", "message": waited}), "outage")
    message = stopped.message if observed.hung is None or not for_time else f"{stopped.message} in `{observed.hung}`"
    end = (told or End(end="killed")).model_copy(update={"end": stopped.end, "message": message})
    return Ending(_with_tokens(end, observed.proxied), stopped.not_measured)


def _explained(end: End, proxied: End) -> End:
    said = "; ".join(dict.fromkeys(filter(None, (proxied.message, end.message))))
    return _with_tokens(end, proxied).model_copy(update={"message": said})


def _with_tokens(end: End, proxied: End | None) -> End:
    """Return the end with the proxy's count of tokens, if the agent reports fewer.

    An agent may leave out what it asked for again, and streams that broke off.
    """
    if proxied is None or _all_tokens(end) >= _all_tokens(proxied):
        return end
    return end.model_copy(update={name: getattr(proxied, name) for name in _TOKENS})


def _all_tokens(end: End) -> int:
    return (end.tokens_in or 0) + (end.tokens_out or 0)


SMALL_RECORD, FEW_EVENTS = 64 << 10, 50  # bytes of the recorder's file, and events: read without a thread
MOST_SHOWN = 120  # characters of a call in a message


@dataclass(frozen=True)
class AgentStep:
    """What the agent did, and how it ended."""

    end: End
    not_measured: NotMeasured | None
    events: tuple[Event, ...]
    invocations: tuple[Invocation, ...] = ()
    warnings: tuple[str, ...] = ()
    started_at: float = 0.0  # seconds since the epoch; times of events are relative to it
    duration_s: float = 0.0


class _Recorded(NamedTuple):
    """What the recorder has received by now. `without` says why nothing can be measured with it, and what happened."""

    invocations: tuple[Invocation, ...] = ()
    warnings: tuple[str, ...] = ()
    notices: tuple[tuple[float, str], ...] = ()  # of an MCP server, with the time in seconds since the epoch
    without: tuple[NotMeasured, str] | None = None


async def run_agent(attempt: Attempt, environments: Environments, ready_secs: float, kept: AsyncExitStack) -> AgentStep:
    """Run the agent in its environment, extended by the recorder's folder and the agent's own variables.

    `ready_secs`: how long an MCP server under test took to answer when it was checked. One with a URL runs on for the
    gates, until `kept` is closed.
    """
    folders, target = attempt.folders, attempt.scenario.target
    async with AsyncExitStack() as stack:
        log = stack.enter_context(receiving(folders.calls, folders.record / folders.calls.name))
        server = await stack.enter_async_context(early_server(attempt, environments.server, ready_secs))
        if target.mcp is not None and target.mcp.url:
            here = server_at_url(attempt, environments.server, target.mcp, folders.calls, "server")
            server = await kept.enter_async_context(here)
        started = time.monotonic()
        if server is not None:
            session, read = _with_server(attempt, environments.agent, server)
        elif target.binary:
            session, read = _with_program(attempt, environments)
        else:
            session, read = _session(attempt, environments.agent), _Recorded

        async def recorded() -> _Recorded:
            log.take_all()
            is_small = log.size < SMALL_RECORD and len(session.events) < FEW_EVENTS
            found = read() if is_small else await asyncio.to_thread(read)  # a thread would cost more
            return found if log.lost is None else found._replace(without=("record_lost", log.lost))

        end, not_measured, found = await _ended(attempt, session, recorded)
        duration = round(time.monotonic() - started, 3)
    return AgentStep(
        end, not_measured, tuple(session.events), found.invocations, found.warnings, session.started_at, duration
    )


def _with_program(attempt: Attempt, environments: Environments) -> tuple[TrialSession, Callable[[], _Recorded]]:
    """Return the session of an agent whose target is a program, and a function that reads the record."""
    target, folders, environment = attempt.scenario.target, attempt.folders, environments.agent
    own = dict(environments.tool)
    if attempt.place.hidden:  # the tool itself finds what its side has
        own["PATH"] = f"{folders.shared}:{environment['PATH']}"
    front = recorder.install(folders.shared, target.binary, environment["PATH"], folders.calls, added=own)
    session = _session(
        attempt,
        {**environment, "PATH": f"{front}:{environment['PATH']}"},
        wrapper=front / target.binary.rpartition("/")[2],
    )

    def read() -> _Recorded:
        invocations, lost = recorder.read(folders.record / folders.calls.name, session.stops)
        invocations += bypassed(session.events, target, invocations, session.started_at)
        without: tuple[NotMeasured, str] | None = None if lost is None else ("record_lost", lost)
        if was_never_found(invocations):
            why = "it resets PATH, or names a place where the tool is not"
            without = "record_lost", f"the agent's shell does not find {target.binary}: {why}"
        return _Recorded(invocations, without=without)

    return session, read


def _with_server(
    attempt: Attempt, environment: Mapping[str, str], server: ServerScript
) -> tuple[TrialSession, Callable[[], _Recorded]]:
    """Return the same for an MCP server. A trial in which the agent opens no session is not measured."""
    folders = attempt.folders
    session = _session(attempt, environment, server=server)

    def read() -> _Recorded:
        wrote = folders.record / "server.stderr"
        told = recording.read(folders.record / folders.calls.name, session.stops)
        calls = told.invocations
        if session.is_client:
            calls = with_refused(calls, session.events, server.name, session.started_at)
        invocations = calls + never_arrived(session.events, server.name, session.started_at)
        without: tuple[NotMeasured, str] | None = None if told.lost is None else ("record_lost", told.lost)
        if not told.opened:
            without = "no_session", f"the agent opened no session with the MCP server {server.name}{quoted(wrote)}"
        return _Recorded(invocations, told.warnings, told.notices, without)

    return session, read


async def _ended(
    attempt: Attempt, session: TrialSession, recorded: Callable[[], Awaitable[_Recorded]]
) -> tuple[End, NotMeasured | None, _Recorded]:
    """Run the agent and record its end as the last event."""
    attempt.on_step("the agent is started")
    async with aclosing(session):
        ran = await _run(attempt, session)
        found = await recorded()
        for at, text in found.notices:
            session.emit(Message(role="system", text=text, at=round(max(0.0, at - session.started_at), 3)))
        end, cause = _concluded(attempt, session, ran, found)
        if cause is None and found.without is not None:
            cause, why = found.without
            end = end.model_copy(update={"message": f"{why}: {end.message}" if end.message else why})
        end = session.redacted(end)
        if attempt.meter is not None:
            attempt.meter.tell(end)
        session.emit(end)
        return end, cause, found


async def _run(attempt: Attempt, session: TrialSession) -> End | AgentStopped | Ending:
    """Run the agent; return its own report, or what stopped it, or that its code failed."""
    try:
        end = await attempt.row.agent.run(session)
        proxied = attempt.relayed()
        if end.end != "completed" and proxied is not None and proxied.end in ("max_turns", "budget"):
            session.stop_if_spent()  # it ended because the proxy passed no more requests on
        return end
    except AgentStopped as stopped:
        return stopped
    except (SupervisorLost, OSError):
        raise
    except NoAnswerError as error:
        return Ending(End(end="crashed", message=str(error)), "agent_error")
    except Exception as error:  # a bug in a plug-in affects this trial, not the run
        return Ending(End(end="crashed", message=f"the agent broke: {type(error).__name__}: {error}"), "agent_error")


def _concluded(attempt: Attempt, session: TrialSession, ran: End | AgentStopped | Ending, found: _Recorded) -> Ending:
    observed = Observed(
        has_proxy=attempt.has_proxy,
        asks_itself=attempt.row.agent.asks_model_itself,
        proxied=attempt.relayed(),
        hung=_hung(attempt, found.invocations),
        took_s=time.time() - session.started_at,
    )
    if isinstance(ran, Ending):
        return ran
    if isinstance(ran, End):
        return ending_of(ran, observed)
    if ran.end == "timeout" and time.monotonic() >= attempt.deadline:
        where = "" if observed.hung is None else f" in `{observed.hung}`"
        return Ending(End(end="budget", message=f"the run's minutes were used up{where}"), "budget")
    return ending_of_stop(ran, session.known(), observed)


def _hung(attempt: Attempt, invocations: Sequence[Invocation]) -> str | None:
    """Return the last call of the target that still ran when its command was stopped for time."""
    target = attempt.scenario.target
    name = target.mcp.name if target.mcp is not None else target.binary
    hung = [call for call in in_order(invocations) if call.status == "timeout" and call.source == "recorder"]
    return excerpt(shlex.join([name, *hung[-1].argv]), MOST_SHOWN) if hung else None


def _system_first(attempt: Attempt) -> Path:
    """Return a folder for PATH with links to the system's programs that only head's `path` hides, if there are any."""
    folder = attempt.folders.shared / "system-programs"
    for name, program in attempt.place.hidden.items():
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(program)
    return folder


def _session(
    attempt: Attempt,
    environment: Mapping[str, str],
    *,
    wrapper: Path | None = None,
    server: ServerScript | None = None,
) -> TrialSession:
    path = f"{_system_first(attempt)}:{environment['PATH']}"
    environment = {**environment, "PATH": path, **attempt.row.agent.env}
    return TrialSession(attempt, environment, recorder=wrapper, server=server)
