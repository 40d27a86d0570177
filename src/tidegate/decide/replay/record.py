"""Make a session from a stored trial of base: what the agent did, and what it saw."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tidegate.agents.actions import CannotRepeatError, action_of
from tidegate.model.agent import Agent
from tidegate.model.event import CallStatus, Event, ToolCall, ToolResult, is_traced
from tidegate.model.target import Target
from tidegate.model.trial import TOOLS_MARK, Places, Problem, SessionRecord, SessionStep, Trial

MOST_BYTES = 1_000_000  # of one session
_NEVER_RAN: frozenset[CallStatus] = frozenset({"denied", "not_executed"})
_ENDED: frozenset[CallStatus] = frozenset({"ok", "error", "invalid"})


def session_of(trial: Trial, agent: Agent, target: Target, sha: str, *, passed: bool) -> SessionRecord | None:
    """Return the trial's session. One that cannot be replayed has its `problem`; one that is too large is None.

    `sha` is the commit that the trial ran on. Secrets are already removed from a stored trial.
    """
    server = target.mcp.name if target.mcp is not None else ""
    began = trial.agent_started_at or trial.started_at
    steps = tuple(_steps(trial.events, trial.places, began))
    session = SessionRecord(
        scenario=trial.spec.scenario,
        agent=trial.spec.agent,
        trial=trial.spec.id,
        sha=sha,
        at=trial.started_at,
        passed=passed,
        guidance=trial.guidance,
        shell=agent.shell,
        keeps_folder=agent.keeps_folder,
        server=server,
        tools=tools_of(trial),
        steps=steps,
        problem=_problem(trial, steps, server),
    )
    return session if len(session.model_dump_json()) <= MOST_BYTES else None


def tools_of(trial: Trial) -> str:
    """Return a hash of the descriptions of the MCP server's tools; "" without a server."""
    checks = (step.result.stdout for step in trial.steps if step.kind == "health_check")
    return next((line for text in checks for line in text.splitlines() if line.startswith(TOOLS_MARK)), "")


def _steps(events: Sequence[Event], places: Places, began: float) -> Iterator[SessionStep]:
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    for call in events:
        if not isinstance(call, ToolCall):
            continue
        result = results.get(call.id, ToolResult(id=call.id, status="unfinished", at=call.at))
        if result.status in _NEVER_RAN:
            continue
        yield SessionStep(
            tool=call.tool,
            command=None if call.command is None else places.hide(call.command),
            input={} if call.command is not None else _hidden(call.input, places),
            status=result.status,
            exit_code=result.exit_code,
            output=places.hide(result.output),
            at=began + result.at,
            secs=max(0.0, result.at - call.at),
        )


def _hidden(given: dict[str, Any], places: Places) -> dict[str, Any]:
    hidden: dict[str, Any] = json.loads(places.hide(json.dumps(given)))
    return hidden


def _problem(trial: Trial, steps: Sequence[SessionStep], server: str) -> Problem | None:
    if not is_traced(trial.events):
        return "untraced"
    if any(call.source == "recorder" and call.status == "timeout" for call in trial.invocations):
        return "unended"
    for step in steps:
        if step.status not in _ENDED:
            return "unended"
        try:
            action_of(step, server)
        except CannotRepeatError:
            return "unrepeatable"
    return None if steps else "empty"
