"""The agent `replay`: runs the commands of a stored trial again, without a model."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Literal

from tidegate.model.agent import Agent, Session
from tidegate.model.event import End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.streams import STREAMS, StreamName

_NEVER_RAN = frozenset({"denied", "invalid", "not_executed"})
# Agents often use their workspace's absolute path, which has this form in every trial.
_WORKSPACE = re.compile(r"""/[^\s'"]*/trials/(?:base|head)/[^\s'"/]+/[^\s'"/]+/\d+/workspace""")


class Replay(Agent):
    """Replays a recorded trial, command by command. Needs no API key and is deterministic.

    It shows whether the calls of an earlier trial still work. `traces` maps each scenario to a file in the
    repository: the `events.jsonl` of a stored trial, or with `format` an ATIF trajectory (`atif`) or an agent's own
    stream. Commands run in the fresh workspace, regardless of their outcome, and calls of the tool under test are
    recorded. Calls of other tools, such as an editor, are not repeated but counted. Calls that were denied are not run.
    """

    type: Literal["replay"]
    traces: dict[str, str]
    format: StreamName = "events"

    @property
    def is_deterministic(self) -> bool:
        """True, unless `deterministic: false` is set because the tool under test is not."""
        return self.deterministic is not False

    async def run(self, session: Session) -> End:
        """Repeat the trace of the session's scenario. Always completes."""
        name = self.traces.get(session.scenario)
        if name is None:
            session.emit(Warning(text=f"this agent has no trace for the scenario {session.scenario}"))
            return End(end="completed", message="nothing to repeat")
        text = session.definition_text(name)
        if text is None:
            raise ValueError(f"the trace {name} cannot be read")
        events = STREAMS[self.format].parse(text)
        ran = _ran(events)
        for event in events:
            if isinstance(event, Message) and event.role == "assistant":
                session.emit(event.model_copy(update={"at": 0.0}))
            elif isinstance(event, ToolCall) and event.id in ran:
                await _repeat(event, session)
        repeated = sum(bool(call.command) for call in ran.values())
        return End(end="completed", message=f"repeated {repeated} of {len(ran)} calls of {name}")


def _ran(events: Sequence[Event]) -> dict[str, ToolCall]:
    """Return the calls that were carried out, by id."""
    never = {event.id for event in events if isinstance(event, ToolResult) and event.status in _NEVER_RAN}
    return {event.id: event for event in events if isinstance(event, ToolCall) and event.id not in never}


async def _repeat(call: ToolCall, session: Session) -> None:
    if not call.command:
        session.emit(Warning(text=f"a call of the tool {call.tool} was not repeated: only commands are"))
        return
    here = shlex.quote(str(session.workspace))
    await session.shell(_WORKSPACE.sub(lambda _: here, call.command))
