"""Makes the first suite of an MCP server: calls tools whose input is known, keeps checks that pass each time."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from tidegate.agents.scripted import Scripted
from tidegate.authoring import server_calls, starter
from tidegate.authoring.build_systems.files import text
from tidegate.authoring.build_systems.mcp_files import Start, starts
from tidegate.authoring.server_calls import Example
from tidegate.authoring.tool import Tool as Server
from tidegate.authoring.tryout import (
    AGENT,
    CONFIRMED,
    MOST_ROUNDS,
    OBSERVED,
    SECONDS,
    Seen,
    Tried,
    Tryout,
    draft,
    needs_network,
    write_files,
)
from tidegate.model.access import Access
from tidegate.model.agent import LIST, Agent, Session, Tool
from tidegate.model.event import End, Message, ToolCall, ToolResult
from tidegate.model.suite import Scenario
from tidegate.model.target import McpServer, Target

SCENARIO = "tools"
NAME = "target"  # of the server, for agents
_GUESSES: tuple[tuple[str, ...], ...] = ((), (".",), ("stdio",), ("mcp",), ("serve",), ("--stdio",))


class _Listing(Agent):
    """Records the tools that the server offers, as it describes them."""

    type: Literal["listing"] = "listing"

    calls_servers: ClassVar[bool] = True

    async def run(self, session: Session) -> End:
        """Open a session and close it again."""
        offered = await session.server_tools()
        session.emit(Message(text=json.dumps([tool._asdict() | {"hints": dict(tool.hints)} for tool in offered.tools])))
        return End(end="completed")


@dataclass(frozen=True)
class _Draft:
    """A suite: how the server is started, the calls, and the checks."""

    server: Server
    command: str
    calls: tuple[Example, ...] = ()
    checks: tuple[dict[str, Any], ...] = ()

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of the agent."""
        return [{"list_tools": True}, *map(server_calls.step, self.calls)]

    @property
    def agent(self) -> Scripted:
        """The agent that makes the calls."""
        return Scripted.model_validate({"type": "scripted", "steps": {SCENARIO: self.steps}})

    def files(self, reach: Access) -> dict[str, bytes]:
        """Return the suite's files; `reach` is what the server may reach of the network."""
        file = f"{self.server.scenarios}/{SCENARIO}.yaml"
        suite = starter.server_suite_text(self.server, self.command, file, {SCENARIO: self.steps}, reach)
        scenario = starter.server_scenario_text(self.server, SCENARIO, self.checks)
        return {starter.SUITE: suite.encode(), file: scenario.encode()}


async def server_suite(here: Tryout, where: str, server: Server) -> Tried:
    """Return the suite of the server; a problem if it cannot be started."""
    start, tools = await _started(here, where, server)
    if start is None:
        here.open_network()
        start, tools = await _started(here, where, server)
    if start is None:
        here.reach = False
        needs = dict.fromkeys(name for one in starts(here.folder, where, server.binary) for name in one.needs)
        lacking = f"; its files name the variables {', '.join(needs)}" if needs else ""
        return Tried(
            server, {}, problem=f"the MCP server `{server.binary}` opened no session that lists tools{lacking}"
        )
    documents = [text(path) for path in sorted((here.folder / where).glob("README*"))]
    tried = _Draft(server, _line(start), server_calls.examples(tools, documents))
    pairs = await _working(here, tried)
    if len(pairs) < len(tried.calls) and here.reach is False:
        here.open_network()
        wider = await _working(here, tried)
        pairs, here.reach = (wider, here.reach) if len(wider) > len(pairs) else (pairs, False)
    checks = [*server_calls.surface_checks(tools)]
    for call, pair in pairs:
        checks += server_calls.answer_checks(NAME, call, [answer.output for answer in pair])
    kept = await _confirmed(here, replace(tried, calls=tuple(call for call, _ in pairs), checks=tuple(checks)))
    if kept is None:
        return Tried(server, {}, problem="no check passed three times out of three")
    told = f"the server offers {len(tools)} tools; {len(kept.calls)} of them are called, as their input is known"
    return Tried(server, kept.files(here.reach), (told, *needs_network(here)))


async def _started(here: Tryout, where: str, server: Server) -> tuple[Start | None, tuple[Tool, ...]]:
    """Return the first way to start the server that opens a session, and the tools which it then offers."""
    ways = (*starts(here.folder, where, server.binary), *(Start(server.binary, words) for words in _GUESSES))
    ways = tuple(dict.fromkeys(way._replace(needs=()) for way in ways))
    scenarios = [_scenario(f"start{number}", _line(way)) for number, way in enumerate(ways)]
    suite = draft(server, scenarios).model_copy(update={"agents": {AGENT: _Listing()}})
    trials = await here.run(suite, 1)
    for number, way in enumerate(ways):
        for seen in trials.get(f"start{number}", ()):
            said = [event.text for event in seen.events if isinstance(event, Message)]
            if said and (tools := tuple(Tool(**tool) for tool in json.loads(said[-1]))):
                return way, tools
    return None, ()


async def _working(here: Tryout, tried: _Draft) -> list[tuple[Example, list[ToolResult]]]:
    """Return the calls that worked in each of two trials, with both results."""
    first, second = (_answers(seen) for seen in await _run(here, tried, OBSERVED))
    pairs = ((call, pair) for call, *pair in zip(tried.calls, first, second, strict=True))
    return [(call, pair) for call, pair in pairs if all(answer.status == "ok" for answer in pair)]


async def _run(here: Tryout, tried: _Draft, trials: int) -> list[Seen]:
    """Run the calls without checks."""
    suite = draft(tried.server, [_scenario(SCENARIO, tried.command)])
    return (await here.run(suite.model_copy(update={"agents": {AGENT: tried.agent}}), trials))[SCENARIO]


async def _confirmed(here: Tryout, tried: _Draft) -> _Draft | None:
    """Write the suite into the checkout and run it three times; repeat without what failed, until all passes."""
    for _ in range(MOST_ROUNDS):
        write_files(here.folder, tried.files(here.reach))
        runs = (await here.run(here.load(), CONFIRMED))[SCENARIO]
        if all(seen.result.outcome == "pass" for seen in runs):
            return tried
        scores = [{score.name: score.score for score in seen.result.evaluators} for seen in runs]
        checks = tuple(check for check in tried.checks if all(one.get(check["name"]) == 1 for one in scores))
        answers = [_answers(seen) for seen in runs]
        calls = tuple(
            call
            for place, call in enumerate(tried.calls)
            if all(place < len(one) and one[place].status == "ok" for one in answers)
        )
        if not checks:
            return None
        tried = replace(tried, calls=calls, checks=checks)
    return None


def _answers(seen: Seen) -> list[ToolResult]:
    """Return the results of the calls, in order, without the list of tools."""
    results = {event.id: event for event in seen.events if isinstance(event, ToolResult)}
    missing = ToolResult(id="", status="unfinished", output="")
    calls = (event for event in seen.events if isinstance(event, ToolCall) and event.tool != LIST)
    return [results.get(call.id, missing) for call in calls]


def _scenario(name: str, command: str) -> Scenario:
    return Scenario(
        name=name,
        description="",
        file=f"{name}.yaml",
        target=Target(binary=NAME, mcp=McpServer(command=command, name=NAME)),
        prompt=starter.SERVER_PROMPT,
        timeout_secs=SECONDS,
    )


def _line(start: Start) -> str:
    return shlex.join([start.program, *start.arguments])
