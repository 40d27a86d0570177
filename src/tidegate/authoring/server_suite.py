"""Makes the first suite of an MCP server: calls its tools, and keeps the checks that pass each time."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from tidegate.agents.scripted import NOT_SENT, Scripted
from tidegate.authoring import starter, tryout
from tidegate.authoring.build_systems.files import text
from tidegate.authoring.build_systems.mcp_files import Start, environment, sources, starts
from tidegate.authoring.observed_gates import EMPTY, file_gates, listed_rows
from tidegate.authoring.samples import sample
from tidegate.authoring.server_calls import examples, step
from tidegate.authoring.server_checks import ANY, answer_check, of_each_call, surface_checks, tells_time
from tidegate.authoring.server_example import Example, Missing
from tidegate.authoring.server_files import samples_of, with_files
from tidegate.authoring.server_folders import folders_named, moved, unlinked, with_build, with_lacking, with_own_folders
from tidegate.authoring.server_ids import sources as id_sources
from tidegate.authoring.server_tools import is_risky
from tidegate.authoring.server_values import LACKING, with_definitions, with_told_values
from tidegate.authoring.shown_calls import shown_objects
from tidegate.authoring.survey import find_test_code
from tidegate.authoring.tool import Tool as Server
from tidegate.authoring.tryout import AGENT, Tried, TriedTrial, Tryout, draft, needs_network, write_files
from tidegate.model.access import Access
from tidegate.model.agent import LIST, Agent, Session, Tool
from tidegate.model.event import End, Message, ToolCall, ToolResult
from tidegate.model.suite import Scenario
from tidegate.model.target import McpServer, Target
from tidegate.text.shorten import excerpt
from tidegate.trial.start import HEALTH_CHECK_TIMEOUT_SECS

SCENARIO = "tools"
NAME = "target"  # of the server, for agents
_GUESSES: tuple[tuple[str, ...], ...] = ((), (".",), ("stdio",), ("mcp",), ("serve",), ("--stdio",))
_CARRIERS = ("", " streamableHttp", " streamable-http", " --transport streamable-http", " --transport http", " http")
_HTTP = re.compile(r"(?i)streamable-?_?http|SSEServerTransport|transport *= *[\"']sse")
_STDIO = re.compile(r"(?i)stdio(?:ServerTransport|_server)|[\"']stdio[\"']|\.run\(\)")
_REFUSAL = re.compile(
    r"(?i)\A\W{0,8}(?:error|invalid|failed|cannot|could not|(?:success|ok)\W{1,4}false)\b"
    r"|\A.{0,60}\b(?:not found|is required)\b"
)
_PORT_NAME = re.compile(r"""\b(?:process\.env\.|(?:env\[|environ\[|environ\.get\(|getenv\()\s*["'])(\w*PORT)\b""")
_PATH = re.compile(r"http://(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d+(/[\w/.-]+)")
MOST_PORT_NAMES = 3
_BROKEN = re.compile(r"ModuleNotFoundError|ImportError|SyntaxError|Cannot find (?:module|package)")
_BESIDE = ("Inner Folder/Other.txt", "inner/.hidden.txt", ".hidden.txt")  # files beside the samples
MOST_MOVED = 3
MOST_TRIES = 3
MOST_FAILED = 2  # rounds in which a check of an answer may fail
MOST_TESTS = 100  # files
LARGEST_INPUT = 1_000_000  # bytes


_NOT_BY_NODE = re.compile(r"exit 0|: \d+: .*: not found")  # a link, or a script without `#!`, which a shell then reads


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
    gates: tuple[dict[str, Any], ...] = ()  # of written files
    program: tuple[dict[str, Any], ...] = ()  # gates for the server's program, called as a command
    samples: tuple[str, ...] = ()  # files in the workspace
    inputs: Mapping[str, bytes] = field(default_factory=dict)  # files of the repository that its start names

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
        own = starter.program_scenario(self.server, self.program) if self.program else {}
        suite = starter.server_suite_text(self.server, self.mcp, [file, *own], {SCENARIO: self.steps}, reach)
        scenario = starter.server_scenario_text(self.server, SCENARIO, self.checks, self.gates)
        return {starter.SUITE: suite.encode(), file: scenario.encode(), **own, **self.template}

    @property
    def counts(self) -> str:
        """How many different answers are checked, how many refused calls, and files."""
        expected = [one for check in self.checks for one in check["expected"] if "fails" in one]
        refused = sum(one["fails"] for one in expected)
        known = [one for one in expected if not one["fails"] and one["output"] != ANY]
        answers = len({json.dumps([one["tool"], one["output"]]) for one in known})
        files = len(self.gates)
        return f"{answers} different answers, {refused} refused calls and {files} written files are checked"

    @property
    def template(self) -> dict[str, bytes]:
        """The files of the workspace."""
        names = enumerate(workspace_files(self.samples, self.calls, folders_named(self.server)))
        made = {name: sample(name, place).encode() for place, name in names}
        return _in_template(self.server, {**made, **self.inputs})


def workspace_files(samples: Iterable[str], calls: Iterable[Example], folders: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the samples; beside them hidden files and folders, if the server is given a path. The server's `folders`
    have all of them, too.
    """
    has_path = any(re.search(r"path|dir|folder", key) for call in calls for key in call.input)
    files = (*samples, *(_BESIDE if has_path else ()))
    return (*files, *(f"{folder}/{name}" for folder in folders for name in files))


async def server_suite(here: Tryout, where: str, server: Server, program: tuple[dict[str, Any], ...] = ()) -> Tried:
    """Return the suite of the server, with these gates for its program; a problem if it cannot be started."""
    shown = environment(here.folder, where, server.binary)
    plain = server
    server, found = await _startable(here, where, _with_values(plain, shown))
    if isinstance(found, str) and shown:
        server, found = await _startable(here, where, plain)
    if isinstance(found, str):
        here.reach = False
        needs = dict.fromkeys(name for one in starts(here.folder, where, server.binary) for name, _ in one.env)
        lacking = f"; its files name the variables {', '.join(needs)}" if needs else ""
        return Tried(server, {}, problem=f"no way to start it was found: {found}{lacking}")
    mcp, tools = found
    folder = here.folder / where
    documents, tests = sorted(folder.glob("README*")), find_test_code(folder)[:MOST_TESTS]
    described = [f"```\n{tool.name}({line})\n```\n" for tool in tools for line in (tool.description or "").splitlines()]
    objects = shown_objects([*map(text, documents), *described], map(text, tests))
    began = _Draft(server, mcp, examples(tools, objects), inputs=start_files(folder, mcp), program=program)
    tried, seen = await _tried(here, began, tools, objects)
    worked = {call.tool for call in seen.worked}
    reached = worked | {call.tool for call in tried.calls if call.tries == "unknown"}
    pairs = [(call, pair) for call, pair in seen.pairs if call.tool in reached]
    kept = await _confirmed(here, replace(tried, gates=seen.gates), tools, pairs)
    if isinstance(kept, str):
        return Tried(server, {}, problem=kept)
    called = worked.intersection(call.tool for call in kept.calls)
    told = f"the server offers {len(tools)} tools; {len(called)} of them are called: {kept.counts}"
    reasons = [
        f"{tool.name}: {why_not_called(tool, tried.calls, seen.failed)}" for tool in tools if tool.name not in called
    ]
    return Tried(kept.server, kept.files(here.reach), (told, *listed_rows(reasons), *needs_network(here)))


async def _tried(
    here: Tryout, tried: _Draft, tools: Sequence[Tool], shown: Sequence[dict[str, Any]]
) -> tuple[_Draft, _Seen]:
    """Return the calls with which most works, and what they show.

    Answers give ids for other calls, and errors tell what a file has to be named, or that it has to be there.
    """
    seen, errors, missing = await _working(here, tried), list[str](), list[Missing]()
    for _ in range(MOST_TRIES):
        errors += seen.failed.values()
        missing += seen.missing
        tools = [with_told_values(tool, seen.refused) for tool in tools]
        given = id_sources(tools, [(call.tool, [one.output for one in pair]) for call, pair in seen.pairs])
        calls = with_files(examples(tools, shown, seen.answers, missing, seen.refused, given), errors)
        samples = samples_of(calls, errors)
        server = with_lacking(_moved(here, tried.server, errors), errors)
        more = replace(tried, calls=calls, samples=samples or tried.samples, server=server)
        if more == tried:
            break
        wider = await _working(here, more)
        if wider.shows < seen.shows or (wider.shows, wider.failed) == (seen.shows, seen.failed):
            break
        tried, seen = more, wider
    return tried, seen


async def _startable(
    here: Tryout, where: str, server: Server
) -> tuple[Server, tuple[McpServer, tuple[Tool, ...]] | str]:
    """Return the server as it is built, and how it starts or why it does not.

    A file that it opens beside its installed code becomes one of the current folder.
    """
    found = await _started(here, where, server)
    if isinstance(found, str) and _NOT_BY_NODE.search(found) and (command := unlinked(server, here.folder)):
        server = with_build(here.folder, server, command)
        found = await _started(here, where, server)
    for _ in range(MOST_MOVED):
        why = [found] if isinstance(found, str) else []
        linked = with_lacking(_moved(here, server, why), why)
        if linked == server:
            break
        server, found = linked, await _started(here, where, linked)
    if isinstance(found, str) and "exit 1" in found:
        linked = with_own_folders(here.folder, where, server, "\n".join(map(text, sources(here.folder / where))))
        started = found if linked == server else await _started(here, where, linked)
        server, found = (server, found) if isinstance(started, str) else (linked, started)
    if isinstance(found, str) and "no answer within" not in found:
        here.open_network()
        found = await _started(here, where, server)
        here.reach = False if isinstance(found, str) else here.reach
    return server, found


def _moved(here: Tryout, server: Server, reasons: Iterable[str]) -> Server:
    """Return the server with a build that links the files which these reasons name to the current folder."""
    for command in (moved(reason, here.folder) for reason in reasons):
        server = with_build(here.folder, server, command) if command else server
    return server


def why_not_called(tool: Tool, calls: Iterable[Example], failed: Mapping[str, str]) -> str:
    """Return why the suite does not call the tool. `failed`: what calls that failed answered last, by tool."""
    if is_risky(tool):
        return "its annotations report that it destroys something, or reaches other systems"
    if all(call.tool != tool.name for call in calls):
        return "no input could be made by its types; show one in README"
    if any(call.tool == tool.name and call.tries == "unknown" for call in calls):
        return "its ids differ each time: it is asked for one that is not there"
    if tool.name in failed:
        return f"the call failed: {excerpt(failed[tool.name].strip().rpartition(chr(10))[2]) or 'no output'}"
    return "its calls did not give the same each time"


def _with_values(server: Server, shown: Mapping[str, str]) -> Server:
    """Return the server with these variables, unless it has them; a folder that is named like its variable is made."""
    values = {**shown, **dict(server.env)}
    server = server._replace(env=tuple(values.items()))
    made = folders_named(server)
    return server._replace(setup=server.setup or ((f"mkdir -p {shlex.join(made)}",) if made else ()))


async def _started(here: Tryout, where: str, server: Server) -> tuple[McpServer, tuple[Tool, ...]] | str:
    """Return the first way to start the server that opens a session, and the tools which it then offers; else why the
    first way did not.
    """
    why = ""
    for name, group in _ways(here.folder, where, server.binary):
        most = f"at most {HEALTH_CHECK_TIMEOUT_SECS:.0f} s each"
        here.options.progress.say(f"starting it {name}: {len(group)} way{'' if len(group) == 1 else 's'}, {most}")
        files = {name: content for mcp in group for name, content in start_files(here.folder / where, mcp).items()}
        write_files(here.folder, _in_template(server, files))
        template = _template(server) if files else None
        scenarios = [_scenario(f"start{number}", server, mcp, template) for number, mcp in enumerate(group)]
        suite = draft(server, scenarios).model_copy(update={"agents": {AGENT: _Listing()}})
        trials = await here.run(suite, 1)
        for number, mcp in enumerate(group):
            for seen in trials.get(f"start{number}", ()):
                said = [event.text for event in seen.events if isinstance(event, Message)]
                listed = [Tool(**tool) for tool in json.loads(said[-1])] if said else []
                if listed:
                    return mcp, tuple(one._replace(schema=with_definitions(one.schema)) for one in listed)
                why = why or seen.result.reason or "it lists no tools"
        if moved(why, here.folder) or _BROKEN.search(why):
            break  # it fails so in all ways
    return why


def _ways(root: Path, where: str, program: str) -> Iterator[tuple[str, Sequence[McpServer]]]:
    """Yield groups of ways to start the server, those on stdio first, unless the code has HTTP alone.

    The likely way is in a group of its own, since others may take until their time is up.
    """
    starting = (*starts(root, where, program), *(Start(program, words) for words in _GUESSES))
    lines = dict.fromkeys(shlex.join([way.program, *way.arguments]) for way in starting)
    readme, code = text(root / where / "README.md"), "\n".join(text(path) for path in sources(root / where))
    ways = {"on stdio": [McpServer(command=line, name=NAME) for line in lines]}
    if _HTTP.search(code) and not _STDIO.search(code):
        ways.clear()
    ways["over HTTP"] = [*at_url(program, readme, code)]
    for name, found in ways.items():
        groups = (found[:1], found[1:MOST_PORT_NAMES], found[MOST_PORT_NAMES:])
        yield from ((f"{name}{', in other ways' * bool(place)}", group) for place, group in enumerate(groups) if group)


def at_url(program: str, readme: str, code: str) -> Iterator[McpServer]:
    """Yield ways to start the server over HTTP, likely ones first: by the ports and paths in its code and README.

    Servers made with FastMCP read FASTMCP_PORT.
    """
    known = ["FASTMCP_PORT"] if re.search("fastmcp", code, re.IGNORECASE) else []
    names = dict.fromkeys((*known, *sorted(_PORT_NAME.findall(code), key=len), "PORT"))
    lines = [f"env {name}={{port}} {program}" for name in [*names][:MOST_PORT_NAMES]]
    lines += [f"{program} --port {{port}}"] if re.search(r"--port\b|argparse|click|typer", code + readme) else []
    shown = sorted(_PATH.findall(readme), key=lambda path: re.search("mcp|sse", path) is None)
    paths = dict.fromkeys((*[path.rstrip("/") for path in shown[:1]], "/mcp"))
    quoted = set(re.findall(r"[\"']([\w-]+)[\"']", code))
    carriers = [words for words in _CARRIERS if not words or words.split()[-1] in quoted]
    for words in carriers:
        for path in paths:
            for line in lines:
                yield McpServer(command=f"{line}{words}", url=f"http://127.0.0.1:{{port}}{path}", name=NAME)


_Pair = tuple[Example, list[ToolResult]]  # a call, and its result in each trial


class _Seen(NamedTuple):
    """What trials of the calls showed: those that ended alike in each trial, with their results.

    `failed`: what calls that failed answered, by tool; `answers`: all answers of each trial; `gates`: of written files.
    """

    pairs: list[_Pair]
    failed: dict[str, str]
    answers: list[str]
    gates: tuple[dict[str, Any], ...]

    @property
    def worked(self) -> list[Example]:
        """The calls that worked in each trial."""
        return [call for call, pair in self.pairs if pair[0].status == "ok"]

    @property
    def refused(self) -> dict[str, str]:
        """Why calls were refused in each trial, by their keys: some servers say so in an answer like any other."""
        first = {call.key: pair[0] for call, pair in self.pairs}
        return {key: one.output for key, one in first.items() if one.status != "ok" or _REFUSAL.search(one.output)}

    @property
    def missing(self) -> list[Missing]:
        """The names that tools did not find."""
        refused = [call for call, pair in self.pairs if not call.tries and LACKING.search(pair[0].output)]
        return [Missing(call.tool, name, value) for call in refused for name, value in call.input.items()]

    @property
    def shows(self) -> tuple[int, int]:
        """How many tools worked, and how many different answers they gave."""
        refused = self.refused
        answers = {(call.tool, pair[0].output) for call, pair in self.pairs if call.key not in refused}
        return len({tool for tool, _ in answers}), len({output for _, output in answers})


async def _working(here: Tryout, tried: _Draft) -> _Seen:
    """Run the calls, and return what they show."""
    runs = [seen for seen in await _run(here, tried, tryout.OBSERVED) if seen.result.not_measured is None]
    answers = [_answers(seen, len(tried.calls)) for seen in runs]
    pairs = [(call, [one[place] for one in answers]) for place, call in enumerate(tried.calls)] if runs else []
    failed = {
        call.tool: answer.output
        for call, pair in pairs
        for answer in pair
        if answer.status != "ok" and call.tries not in ("odd", "unknown")
    }
    alike = [(call, pair) for call, pair in pairs if _ended_alike(pair)]
    texts = ["\n".join(answer.output for answer in one) for one in answers]
    given = json.dumps([call.input for call in tried.calls])
    gates = tuple(map(_of_file, file_gates([seen.diff for seen in runs], given)))
    return _Seen(alike, failed, texts, gates)


def _ended_alike(pair: Sequence[ToolResult]) -> bool:
    """Return True if the call worked in each trial, or the server refused it in each."""
    is_sent = not any(answer.output.startswith(NOT_SENT) for answer in pair)
    return is_sent and {answer.status for answer in pair} in ({"ok"}, {"error"})


def _of_file(gate: dict[str, Any]) -> dict[str, Any]:
    """Return the gate with its description; of a file that is not text, one that it exists."""
    if gate.get("pattern") == EMPTY:
        gate = {"type": "file_exists", "path": gate["path"]}
    return {**gate, "description": f"{gate['path']} is written as before"}


async def _run(here: Tryout, tried: _Draft, trials: int) -> list[TriedTrial]:
    """Run the calls without checks."""
    write_files(here.folder, tried.template)
    template = _template(tried.server) if tried.template else None
    suite = draft(tried.server, [_scenario(SCENARIO, tried.server, tried.mcp, template)])
    return (await here.run(suite.model_copy(update={"agents": {AGENT: tried.agent}}), trials))[SCENARIO]


def _template(server: Server) -> str:
    return f"{server.scenarios}/{SCENARIO}"


def _in_template(server: Server, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{_template(server)}/{name}": content for name, content in files.items()}


def start_files(folder: Path, mcp: McpServer) -> dict[str, bytes]:
    """Return the files of the repository that the server's start names, such as a database, by their names there."""
    paths = ((word, folder / word) for word in shlex.split(mcp.command) if not word.startswith("/"))
    fit = ((word, path) for word, path in paths if ".." not in word and path.is_file() and not path.is_symlink())
    return {word: path.read_bytes() for word, path in fit if path.stat().st_size <= LARGEST_INPUT}


def _checks(tools: Iterable[Tool], pairs: Iterable[_Pair]) -> tuple[dict[str, Any], ...]:
    """Return the checks of what the server offers, and of these calls."""
    by_name = {tool.name: tool for tool in tools}
    checks = [*surface_checks(by_name.values())]
    for call, pair in pairs:
        of_now, fails = tells_time(by_name[call.tool], call.input), pair[0].status != "ok"
        checks.append(answer_check(NAME, call, [one.output for one in pair], fails=fails, of_now=of_now))
    return of_each_call(checks)


async def _confirmed(here: Tryout, tried: _Draft, tools: Sequence[Tool], pairs: list[_Pair]) -> _Draft | str:
    """Write the suite into the checkout and run it three times, until all passes. What failed once is checked for what
    all answers have in common; what failed twice is left out. Return the suite, or why there is none.
    """
    failures, why = Counter[str](), "no check passed three times out of three"
    tried = replace(tried, calls=tuple(call for call, _ in pairs), checks=_checks(tools, pairs))
    for _ in range(tryout.MOST_ROUNDS):
        write_files(here.folder, tried.files(here.reach))
        trials = await here.run(here.load(), tryout.CONFIRMED)
        runs, of_program = trials[SCENARIO], trials.get(starter.PROGRAM, [])
        if any(seen.result.outcome != "pass" for seen in of_program):
            for name in starter.program_scenario(tried.server, tried.program):
                (here.folder / name).unlink()
            tried = replace(tried, program=())
        if all(seen.result.outcome == "pass" for seen in runs):
            return tried
        if lost := [seen.result.reason for seen in runs if seen.result.not_measured]:
            why = f"a trial could not be measured: {lost[0]}"
            continue  # such as on a busy machine
        scores = [{score.name: score.score for score in seen.result.evaluators} for seen in runs]
        failures.update(check["name"] for check in tried.checks if any(one.get(check["name"]) != 1 for one in scores))
        answers = zip(*(_answers(seen, len(pairs)) for seen in runs), strict=True)
        more = [(call, [*pair, *new]) for (call, pair), new in zip(pairs, answers, strict=True)]
        pairs = [(call, pair) for call, pair in more if _ended_alike(pair)]
        calls = tuple(call for call, _ in pairs)
        checks = tuple(check for check in _checks(tools, pairs) if failures[check["name"]] < MOST_FAILED)
        if not checks:
            break
        passed = [{gate.label for gate in seen.result.gates if gate.passed} for seen in runs]
        gates = tuple(gate for gate in tried.gates if all(gate["description"] in one for one in passed))
        tried = replace(tried, calls=calls, checks=checks, gates=gates)
    return why


def _answers(seen: TriedTrial, most: int) -> list[ToolResult]:
    """Return the results of so many calls, in order, without the list of tools."""
    results = {event.id: event for event in seen.events if isinstance(event, ToolResult)}
    missing = ToolResult(id="", status="unfinished", output="")
    calls = [event for event in seen.events if isinstance(event, ToolCall) and event.tool != LIST]
    return [results.get(call.id, missing) for call in calls] + [missing] * (most - len(calls))


def _scenario(name: str, server: Server, mcp: McpServer, template: str | None = None) -> Scenario:
    return Scenario(
        name=name,
        description="",
        file=f"{name}.yaml",
        template=template,
        target=Target(binary=NAME, mcp=mcp, env=dict(server.env)),
        setup=server.setup,
        prompt=starter.SERVER_PROMPT,
        timeout_secs=tryout.SECONDS,
    )
