"""Makes the first suite of an MCP server: calls its tools, and keeps the checks that pass each time."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

from tidegate.agents.scripted import Scripted, parameters
from tidegate.authoring import starter, tryout
from tidegate.authoring.build_systems.files import json_value, text
from tidegate.authoring.build_systems.mcp_files import Start, folder_variables, sources, starts
from tidegate.authoring.observed_gates import lasting, listed_rows
from tidegate.authoring.tool import Tool as Server
from tidegate.authoring.tryout import AGENT, Tried, TriedTrial, Tryout, draft, needs_network, write_files
from tidegate.checks.evaluators.matching import as_json
from tidegate.model.access import Access
from tidegate.model.agent import LIST, Agent, Session, Tool
from tidegate.model.event import End, Message, ToolCall, ToolResult
from tidegate.model.suite import Scenario
from tidegate.model.target import McpServer, Target
from tidegate.text.noise import VOLATILE
from tidegate.text.shorten import excerpt
from tidegate.trial.start import HEALTH_CHECK_TIMEOUT_SECS

MOST_CALLS, MOST_OF_TOOL = 60, 3
MOST_TOOLS = 60
_CODE = re.compile(r"^ *```\w*\s*$(.*?)^ *```", re.MULTILINE | re.DOTALL)
_WORD_END = r"(?!\S)"
_ANY = {"any": True}
_NUMBERS = (7, 3, 0.5, 2, -2.6, 4)
_TEXTS = {  # by the name of a parameter; the last one is for all others
    r"ur[il]|host|address|mail|token|key|id$": (None,),
    r"file|path": ("sample.txt", "notes.txt"),
    r"dir|folder": (".",),
    r"name|title|label": ("first", "second"),
    r"expr|formula|equation": ("2 * 3 + 1", "7 / 2 - 1", "(1 + 2) ** 3 % 4"),
    r"date": ("2024-02-29",),
    r"zone": ("Europe/Paris", "UTC"),
    r"json": ('{"name": "Ada", "score": 42.5}',),
    r"": ("Ada has 42 points.", "first", "banana apple banana"),
}


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WRITES, _READS, _CHANGES, _REMOVES = range(4)  # in this order the tools of one turn are called
_VERBS = {
    verb: rank
    for rank, verbs in (
        (_WRITES, "create write add new insert make save store set put init register import"),
        (_READS, "read get list search find show view describe count query"),
        (_REMOVES, "delete remove clear drop reset close"),
    )
    for verb in verbs.split()
}


class Example(NamedTuple):
    """A call of a tool with its input. `known`: the schema or a document shows it, else it is made by its types."""

    tool: str
    input: dict[str, Any]
    known: bool = True


def examples(tools: Sequence[Tool], documents: Sequence[str]) -> tuple[Example, ...]:
    """Return calls of each tool: with the input that a document or its schema shows, and with inputs of its types.

    Tools whose annotations report that they destroy something, or that they reach other systems, are left out. Where a
    tool writes, those that read follow with the same names, and are called again after the last change.
    """
    shown = [value for document in documents for block in _CODE.findall(document) for value in _objects(block)]
    ranked = sorted((tool for tool in tools if not is_risky(tool)), key=_order)
    shared = _shared(ranked)
    most = max(1, min(MOST_OF_TOOL, MOST_CALLS // max(1, len(tools))))
    found: list[tuple[int, int, Example]] = []  # with the tool's rank, and the turn
    for tool in ranked:
        documented = [Example(tool.name, inner) for value in shown if (inner := _input(tool, value)) is not None]
        made = [one for one in (_made_call(tool, turn, shared) for turn in range(MOST_OF_TOOL)) if one is not None]
        own = [*documented[:1], *made]
        repeats = _rank(tool) == _READS and bool(shared) and parameters(tool)[1] <= shared
        own = [one for turn, one in enumerate(own) if repeats or one.input not in [other.input for other in own[:turn]]]
        found += [(_rank(tool), turn, one) for turn, one in enumerate(own[:most])]
    return tuple(_in_order(found)[:MOST_CALLS])


def _in_order(found: Iterable[tuple[int, int, Example]]) -> list[Example]:
    """Return the calls turn by turn, and what removes something last; `found` is in the order of one turn."""
    turns = sorted(found, key=lambda one: one[1])
    removing = [one for rank, _, one in turns if rank == _REMOVES]
    others = [one for rank, _, one in turns if rank != _REMOVES]
    if not any(rank == _WRITES for rank, *_ in turns):
        return [*others, *removing]
    reading = [one for rank, turn, one in turns if rank == _READS and turn == 0]
    return [*(one for one in reading if not one.input), *others, *reading, *removing]


def _rank(tool: Tool) -> int:
    """Return if the tool creates, reads, changes or removes something, by the first verb in its name."""
    verbs = (_VERBS[word.lower()] for word in _WORD.findall(tool.name) if word.lower() in _VERBS)
    return next(verbs, _READS if tool.hints.get("readOnlyHint") is True else _CHANGES)


def _order(tool: Tool) -> tuple[int, int]:
    """Return the place of the tool among others: what is created first needs the least."""
    rank = _rank(tool)
    return rank, len(parameters(tool)[1]) if rank == _WRITES else 0


def _shared(tools: Sequence[Tool]) -> frozenset[str]:
    """Return parameters that name what one tool writes and another one reads or removes."""
    written = {name for tool in tools if _rank(tool) == _WRITES for name in parameters(tool)[1]}
    used = {name for tool in tools if _rank(tool) in (_READS, _REMOVES) for name in parameters(tool)[0]}
    return frozenset(written & used)


def surface_checks(tools: Iterable[Tool]) -> Iterator[dict[str, Any]]:
    """Yield two checks per tool: that it is offered, and that the inputs of today still work, by its schema."""
    for tool in list(tools)[:MOST_TOOLS]:
        properties, required = parameters(tool)
        start = rf"(?m)^{re.escape(tool.name)}{_WORD_END}"
        yield _check(LIST, f"offers {tool.name}", {"regex": start})
        if properties:
            has = "".join(rf"(?=.* \[?{re.escape(name)}\]?{_WORD_END})" for name in sorted(properties))
            no_other = "|".join(rf"{re.escape(name)}{_WORD_END}" for name in sorted(required))
            only = rf"(?!.* (?!{no_other})[^\[\s])" if required else r"(?!.* [^\[\s])"
            described = f"{tool.name} takes {', '.join(sorted(properties))}"
            yield _check(LIST, _short(described), {"regex": f"{start}{has}{only}"})


def answer_checks(server: str, call: Example, outputs: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a check for what all answers to the call had in common; none if that is nothing."""
    output = _alike([as_json(output) for output in outputs], json.dumps(call.input))
    if output not in (_ANY, {}):
        given = {"input": call.input} if call.input else {}
        told = f" to {', '.join(map(str, call.input.values()))}" if call.input else ""
        yield _check(f"mcp__{server}__{call.tool}", _short(f"{call.tool} answers as before{told}"), output, given)


def distinctly_named(checks: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the checks without duplicates: a call that is repeated after a change has another name."""
    different = {json.dumps(check): check for check in checks}
    names = Counter[str]()
    found = []
    for check in different.values():
        names[check["name"]] += 1
        again = f", answer {names[check['name']]}" if names[check["name"]] > 1 else ""
        found.append({**check, "name": f"{check['name']}{again}"})
    return tuple(found)


def _check(tool: str, name: str, output: Any, given: dict[str, Any] | None = None) -> dict[str, Any]:
    expected = {"tool": tool, **(given or {}), "output": output}
    return {"type": "tool_trajectory", "name": name, "mode": "superset", "expected": [expected], "required": True}


def _alike(values: Sequence[Any], given: str) -> Any:
    """Return what matches all values: of texts a pattern, of objects their fields.

    Where one field of an object has a date or the like, others may depend on it: only those of the input are used.
    """
    first = values[0]
    if all(isinstance(value, str) for value in values):
        pattern = lasting(values, given)
        return {"regex": pattern} if pattern else _ANY
    if all(isinstance(value, dict) for value in values):
        shared = [key for key in first if all(key in value for value in values)]
        moment = any(_passes(field, given) for value in values for field in value.values())
        fields = {key: _alike([value[key] for value in values], given) for key in shared}
        return {key: own if not moment or json.dumps(first[key]) in given else _ANY for key, own in fields.items()}
    same = all(value == first for value in values) and not _passes(first, given)
    return first if same else _ANY


def _passes(value: Any, given: str) -> bool:
    """Return True if a text in the value, which the input lacks, is likely to be another one tomorrow."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = isinstance(value, str) and value not in given and VOLATILE.search(value) is not None
    return own or any(_passes(one, given) for one in inner)


def is_risky(tool: Tool) -> bool:
    """Return True if the tool's annotations report that it destroys something, or that it reaches other systems."""
    return tool.hints.get("destructiveHint") is True or tool.hints.get("openWorldHint") is True


def _made_call(tool: Tool, turn: int, shared: Container[str] = ()) -> Example | None:
    """Return a call with a value for each parameter that is required; None if one cannot be made.

    Names of what other tools use as well, in `shared`, come back in the turn after the next.
    """
    properties, required = parameters(tool)
    known, given, before = not turn, dict[str, Any](), list[list[Any]]()
    for place, name in enumerate(sorted(required)):
        schema = properties[name] if isinstance(properties[name], dict) else {}
        shown = [schema[key] for key in ("const", "default", "example") if key in schema]
        shown += [one for key in ("examples", "enum") if isinstance(schema.get(key), list) for one in schema[key]]
        known = known and bool(shown)
        variant = turn % 2 if name in shared else 2 * turn + place + _rank(tool)
        twins = before.count(shown)  # such as the two units of a conversion
        before.append(shown)
        given[name] = shown[(turn + twins) % len(shown)] if shown else made_value(name, schema, variant)
    return None if None in given.values() else Example(tool.name, given, known)


def made_value(name: str, schema: Any, turn: int) -> Any:
    """Return a value for a parameter by its type and name; None if that does not tell enough."""
    kinds = [schema, *(schema[key][0] for key in ("anyOf", "oneOf") if schema.get(key))]
    schema = next((one for one in kinds if isinstance(one, dict) and "type" in one), {})
    match schema.get("type"):
        case "integer" | "number" as kind:
            return _NUMBERS[turn % 6] if kind == "number" else (7, 3, 5, 2, 1, 4)[turn % 6]
        case "boolean":
            return turn % 2 == 0
        case "array" if isinstance(schema.get("items"), dict):
            items = [made_value(name, schema["items"], place) for place in range(turn, turn + 4)]
            again = items[:1] if turn % 4 < 2 else []  # lists of odd and of even length
            return None if None in items else items + again
        case "string":
            return next((texts[turn % len(texts)] for key, texts in _TEXTS.items() if re.search(key, name, re.I)), None)
        case _:
            return None


def _objects(block: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in a block of JSON, those inside of others too."""
    waiting = [json_value(block)]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _input(tool: Tool, value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the tool's input if the object is an example of a call: by its name, or by its required keys."""
    for key in ("arguments", "input", "params"):
        if value.get("name", value.get("tool")) == tool.name and isinstance(value.get(key), dict):
            return dict(value[key])
    properties, required = parameters(tool)
    return dict(value) if len(required) > 1 and required <= value.keys() <= properties.keys() else None


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:97]}..."


def step(call: Example) -> dict[str, Any]:
    """Return the call as a step of the agent `scripted`."""
    return {"call": call.tool, **({"input": json.loads(json.dumps(call.input))} if call.input else {})}


SCENARIO = "tools"
NAME = "target"  # of the server, for agents
_GUESSES: tuple[tuple[str, ...], ...] = ((), (".",), ("stdio",), ("mcp",), ("serve",), ("--stdio",))
_CARRIERS = ("", " streamableHttp", " streamable-http", " --transport streamable-http", " --transport http", " http")
_HTTP = re.compile(r"(?i)streamable-?_?http|SSEServerTransport|transport *= *[\"']sse")
_STDIO = re.compile(r"(?i)stdio(?:ServerTransport|_server)|[\"']stdio[\"']|\.run\(\)")
_PORT_NAME = re.compile(r"""\b(?:process\.env\.|(?:env\[|environ\[|environ\.get\(|getenv\()\s*["'])(\w*PORT)\b""")
_PATH = re.compile(r"http://(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d+(/[\w/.-]+)")
MOST_PORT_NAMES = 3
_READ_ONLY = (
    ". It writes into its installed code, which trials cannot change: have it write to the current folder or to TMPDIR"
)


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
    mcp: McpServer  # how it is started
    calls: tuple[Example, ...] = ()
    checks: tuple[dict[str, Any], ...] = ()

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of the agent."""
        return [{"list_tools": True}, *map(step, self.calls)]

    @property
    def agent(self) -> Scripted:
        """The agent that makes the calls."""
        return Scripted.model_validate({"type": "scripted", "steps": {SCENARIO: self.steps}})

    def files(self, reach: Access) -> dict[str, bytes]:
        """Return the suite's files; `reach` is what the server may reach of the network."""
        file = f"{self.server.scenarios}/{SCENARIO}.yaml"
        suite = starter.server_suite_text(self.server, self.mcp, file, {SCENARIO: self.steps}, reach)
        scenario = starter.server_scenario_text(self.server, SCENARIO, self.checks)
        return {starter.SUITE: suite.encode(), file: scenario.encode()}


async def server_suite(here: Tryout, where: str, server: Server) -> Tried:
    """Return the suite of the server; a problem if it cannot be started."""
    server = _with_folders(server, folder_variables(here.folder / where))
    found = await _started(here, where, server)
    if isinstance(found, str) and "no answer within" not in found:
        here.open_network()
        found = await _started(here, where, server)
    if isinstance(found, str):
        here.reach = False
        needs = dict.fromkeys(name for one in starts(here.folder, where, server.binary) for name in one.needs)
        lacking = f"; its files name the variables {', '.join(needs)}" if needs else ""
        advice = _READ_ONLY if "Read-only file system" in found else ""
        return Tried(server, {}, problem=f"no way to start it was found: {found}{lacking}{advice}")
    mcp, tools = found
    documents = [text(path) for path in sorted((here.folder / where).glob("README*"))]
    tried = _Draft(server, mcp, examples(tools, documents))
    pairs, failed = await _working(here, tried)
    worked = [call for call, _ in pairs]
    known = tuple(call for call in tried.calls if call.known or call in worked)  # no made input reaches the network
    if len(pairs) < len(known) and here.reach is False:
        here.open_network()
        wider, why = await _working(here, replace(tried, calls=known))
        if len(wider) > len(pairs):
            pairs, failed = wider, why
        else:
            here.reach = False
    checks = [*surface_checks(tools)]
    for call, pair in pairs:
        checks += answer_checks(NAME, call, [answer.output for answer in pair])
    named = distinctly_named(checks)
    kept = await _confirmed(here, replace(tried, calls=tuple(call for call, _ in pairs), checks=named))
    if kept is None:
        return Tried(server, {}, problem="no check passed three times out of three")
    called = {call.tool for call in kept.calls}
    told = f"the server offers {len(tools)} tools; {len(called)} of them are called"
    reasons = [f"{tool.name}: {why_not_called(tool, tried.calls, failed)}" for tool in tools if tool.name not in called]
    return Tried(kept.server, kept.files(here.reach), (told, *listed_rows(reasons), *needs_network(here)))


def why_not_called(tool: Tool, calls: Iterable[Example], failed: Mapping[str, str]) -> str:
    """Return why the suite does not call the tool. `failed`: what calls that failed answered last, by tool."""
    if is_risky(tool):
        return "its annotations report that it destroys something, or reaches other systems"
    if all(call.tool != tool.name for call in calls):
        return "no input could be made by its types; show one in README"
    if tool.name in failed:
        return f"the call failed: {excerpt(failed[tool.name].strip().rpartition(chr(10))[2]) or 'no output'}"
    return "its calls did not give the same each time"


def _with_folders(server: Server, names: Iterable[str]) -> Server:
    """Return the server with a folder of the workspace for each of these variables that has no value."""
    given = dict(server.env)
    values = {name: name.lower() for name in names if name not in given} | given
    made = [values[name] for name in names if not values[name].startswith(("/", "$"))]
    setup = server.setup or ((f"mkdir -p {shlex.join(made)}",) if made else ())
    return server._replace(env=tuple(values.items()), setup=setup)


async def _started(here: Tryout, where: str, server: Server) -> tuple[McpServer, tuple[Tool, ...]] | str:
    """Return the first way to start the server that opens a session, and the tools which it then offers; else why the
    first way did not. Ways on stdio are tried first, unless the code has HTTP alone.
    """
    ways = (*starts(here.folder, where, server.binary), *(Start(server.binary, words) for words in _GUESSES))
    lines = dict.fromkeys(shlex.join([way.program, *way.arguments]) for way in ways)
    readme = text(here.folder / where / "README.md")
    code = "\n".join(text(path) for path in sources(here.folder / where))
    at_urls = [*at_url(server.binary, readme, code)]
    groups = {"on stdio": [McpServer(command=line, name=NAME) for line in lines]}
    groups |= {"over HTTP": at_urls[:MOST_PORT_NAMES], "over HTTP, in rarer ways": at_urls[MOST_PORT_NAMES:]}
    if _HTTP.search(code) and not _STDIO.search(code):
        del groups["on stdio"]
    why = ""
    for name, group in ((name, group) for name, group in groups.items() if group):
        most = f"at most {HEALTH_CHECK_TIMEOUT_SECS:.0f} s each"
        here.options.progress.say(f"starting it {name}: {len(group)} way{'' if len(group) == 1 else 's'}, {most}")
        scenarios = [_scenario(f"start{number}", server, mcp) for number, mcp in enumerate(group)]
        suite = draft(server, scenarios).model_copy(update={"agents": {AGENT: _Listing()}})
        trials = await here.run(suite, 1)
        for number, mcp in enumerate(group):
            for seen in trials.get(f"start{number}", ()):
                said = [event.text for event in seen.events if isinstance(event, Message)]
                if said and (tools := tuple(Tool(**tool) for tool in json.loads(said[-1]))):
                    return mcp, tools
                why = why or seen.result.reason or "it lists no tools"
    return why


def at_url(program: str, readme: str, code: str) -> Iterator[McpServer]:
    """Yield ways to start the server over HTTP, likely ones first: by the ports and paths in its code and README.

    Servers made with FastMCP read FASTMCP_PORT.
    """
    known = ["FASTMCP_PORT"] if re.search("fastmcp", code, re.IGNORECASE) else []
    names = dict.fromkeys((*known, *sorted(_PORT_NAME.findall(code), key=len), "PORT"))
    lines = [f"env {name}={{port}} {program}" for name in [*names][:MOST_PORT_NAMES]]
    lines += [f"{program} --port {{port}}"] if re.search(r"--port\b|argparse|click|typer", code + readme) else []
    paths = dict.fromkeys((*[path.rstrip("/") for path in _PATH.findall(readme)][:1], "/mcp"))
    quoted = set(re.findall(r"[\"']([\w-]+)[\"']", code))
    carriers = [words for words in _CARRIERS if not words or words.split()[-1] in quoted]
    for words in carriers:
        for path in paths:
            for line in lines:
                yield McpServer(command=f"{line}{words}", url=f"http://127.0.0.1:{{port}}{path}", name=NAME)


async def _working(here: Tryout, tried: _Draft) -> tuple[list[tuple[Example, list[ToolResult]]], dict[str, str]]:
    """Return the calls that worked in each trial, with their results, and by tool what the others answered."""
    answers = [_answers(seen) for seen in await _run(here, tried, tryout.OBSERVED)]
    pairs = [(call, pair) for call, *pair in zip(tried.calls, *answers, strict=True)]
    working = [(call, pair) for call, pair in pairs if all(answer.status == "ok" for answer in pair)]
    return working, {call.tool: answer.output for call, pair in pairs for answer in pair if answer.status != "ok"}


async def _run(here: Tryout, tried: _Draft, trials: int) -> list[TriedTrial]:
    """Run the calls without checks."""
    suite = draft(tried.server, [_scenario(SCENARIO, tried.server, tried.mcp)])
    return (await here.run(suite.model_copy(update={"agents": {AGENT: tried.agent}}), trials))[SCENARIO]


async def _confirmed(here: Tryout, tried: _Draft) -> _Draft | None:
    """Write the suite into the checkout and run it three times; repeat without what failed, until all passes."""
    for _ in range(tryout.MOST_ROUNDS):
        write_files(here.folder, tried.files(here.reach))
        runs = (await here.run(here.load(), tryout.CONFIRMED))[SCENARIO]
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


def _answers(seen: TriedTrial) -> list[ToolResult]:
    """Return the results of the calls, in order, without the list of tools."""
    results = {event.id: event for event in seen.events if isinstance(event, ToolResult)}
    missing = ToolResult(id="", status="unfinished", output="")
    calls = (event for event in seen.events if isinstance(event, ToolCall) and event.tool != LIST)
    return [results.get(call.id, missing) for call in calls]


def _scenario(name: str, server: Server, mcp: McpServer) -> Scenario:
    return Scenario(
        name=name,
        description="",
        file=f"{name}.yaml",
        target=Target(binary=NAME, mcp=mcp, env=dict(server.env)),
        setup=server.setup,
        prompt=starter.SERVER_PROMPT,
        timeout_secs=tryout.SECONDS,
    )
