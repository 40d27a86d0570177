"""Ask a tool what it offers, in a trial of its own: a program for its help, an MCP server for its lists.

A pull request's tools are asked on both sides, and compared.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tidegate.agents.scripted import Scripted
from tidegate.decide.surface.docs import renamed_variables
from tidegate.decide.surface.help_text import NOT_SUBCOMMANDS, read_help, repeats
from tidegate.decide.surface.interface import Survey, interface, steady
from tidegate.decide.surface.parts import of_help
from tidegate.decide.surface.server_parts import of_server
from tidegate.decide.surface.used import Scenario, surface_change
from tidegate.model.cause import Place
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.progress import Progress
from tidegate.model.result import FileChange
from tidegate.model.revision import Revision
from tidegate.model.surface import Interface, ObservedCall
from tidegate.model.target import McpServer
from tidegate.model.trial_spec import TrialSpec, is_inside
from tidegate.run.mutant_trials import MutantRunner, ObservedTrial, search_path_of
from tidegate.run.run_job import RunJob
from tidegate.run.runner import Runner, together
from tidegate.text.shorten import excerpt
from tidegate.vcs.revisions import changed_files, file_diffs, lines_with

DEPTH, MOST_PAGES = 3, 150
SECONDS = 120.0
FEWEST_AT_ONCE, MOST_AT_ONCE = 4, 16  # help pages that one trial asks for
_NAME = "surface"


async def survey(
    trials: MutantRunner, row: PlanRow, seconds: float = SECONDS, progress: Progress | None = None
) -> Survey:
    """Return the parts that the help pages of the row's tool list, or all that its MCP server offers.

    `seconds`: for the pages of one trial.
    """
    row = row.model_copy(update={"scenario": row.scenario.model_copy(update={"timeout_secs": seconds})})
    if row.scenario.target.mcp is not None:
        return _of_server(await _ask(trials, row, [], 0))
    if not row.scenario.target.binary:
        return Survey(())
    binary, pages = row.scenario.target.binary, dict[str, str]()
    waiting = [""]
    lost: ObservedTrial | None = None
    for depth in range(DEPTH):
        asking = [_asking(binary, command) for command in waiting]
        ran = await _ask_in_parts(trials, row, asking, depth, progress or Progress())
        calls = [call for one in ran for call in one.calls]
        lost = next((one for one in ran if one.trial.end != "completed"), lost)
        found = {command: _page(calls, command) for command in waiting}
        new = {command: text for command, text in found.items() if text and text not in pages.values()}
        pages |= {command: text for command, text in new.items() if not repeats(text, command)}
        waiting = [
            f"{command} {name}".strip()
            for command in waiting
            if command in pages
            for name in read_help(pages[command], f"{binary} {command}".strip()).subcommands
            if name not in NOT_SUBCOMMANDS
        ][: MOST_PAGES - len(pages)]
        if not waiting:
            break
    parts = of_help(pages, binary)
    return Survey(parts) if lost is None else _unknown(lost)._replace(parts=parts)


def _of_server(ran: ObservedTrial) -> Survey:
    """Return what the server offered, without the names of the trial's own folders."""
    if ran.offered is None:
        return _unknown(ran)
    places = ran.trial.places.model_copy(update={"user": ""})  # its number may be one of a schema
    return Survey(of_server(json.loads(places.hide(json.dumps(ran.offered)))))


def _unknown(ran: ObservedTrial) -> Survey:
    why = ran.trial.reason or ran.trial.end_message or f"its trial ended: {ran.trial.end}"
    return Survey((), why, inside=is_inside(ran.trial.not_measured))


def _asking(binary: str, command: str) -> str:
    if command:
        return f"{binary} {command} --help"
    return f"{binary} --help || {{ {binary} -h; {binary} help; }}"


def _page(calls: Iterable[ObservedCall], command: str) -> str:
    """Return the help that lists most; programs that fail after printing it, or print it to stderr, count too."""
    own = [call for call in calls if list(call.argv[:-1]) == command.split()]
    texts = [text for call in own for text in (call.stdout, call.stderr) if len(text.splitlines()) > 1]
    return max((text for text in texts if "usage" in text.lower() or "--" in text), key=_size, default="")


def _size(text: str) -> int:
    """Return how much a help text lists."""
    found = read_help(text, "")
    return len(found.subcommands) + len(found.options)


async def _ask_in_parts(
    trials: MutantRunner, row: PlanRow, commands: list[str], depth: int, progress: Progress
) -> list[ObservedTrial]:
    """Run several trials at once, since a tool may need a second for each page of its help."""
    size = max(FEWEST_AT_ONCE, min(MOST_AT_ONCE, math.ceil(len(commands) / (os.cpu_count() or 1))))
    parts = [commands[start : start + size] for start in range(0, len(commands), size)]
    read = 0

    async def one(part: list[str]) -> ObservedTrial:
        nonlocal read
        ran = await _ask(trials, row, part, depth)
        read += len(part)
        if len(parts) > 1:
            progress.say(f"{read} of {len(commands)} help texts of subcommands of {row.scenario.target.binary} read")
        return ran

    return await together([one(part) for part in parts])


async def _ask(trials: MutantRunner, row: PlanRow, commands: list[str], depth: int) -> ObservedTrial:
    """Run the commands; of an MCP server, only the check of the trial's start, after the scenario's own setup."""
    plain = {"post": (), "gates": (), "evaluators": (), "evaluator_scripts": (), "judge": None}
    is_server = row.scenario.target.mcp is not None
    more = {"name": _NAME, "guidance": ()} | ({} if is_server else {"setup": (), "template": None})
    target = row.scenario.target.model_copy(update={"health_check": None})
    scenario = row.scenario.model_copy(update={**plain, **more, "target": target})
    agent = Scripted(type="scripted", steps={_NAME: tuple(commands)})
    key = RowKey(scenario=_NAME, agent=_NAME)
    asking = row.model_copy(update={"scenario": scenario, "agent": agent, "key": key})
    spec = TrialSpec(side="base", scenario=_NAME, agent=_NAME, index=depth + 1)
    return await trials.run(spec, asking, bare=is_server)


DOCS = ("**/*.md", "**/*.mdc", "**/*.rst", "**/*.adoc", "**/README*")
COMPARED_SECONDS = 30.0  # for the help texts of one depth, so that a head that hangs leaves enough for agents
_HISTORY = ("changelog", "changes", "history", "news", "releases")
MOST_NAMES = 20  # of gone parts that are looked for in the docs
MOST_SHOWN = 60  # characters of a server's command


class Tool(NamedTuple):
    """A tool under test, and how each side starts it: two of the same name may offer different things.

    A program that both sides start alike is asked once, with the variables of its first scenario.
    """

    name: str
    starts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()  # the server's command, and the variables


@dataclass
class Surveys:
    """What the tools of a pull request offer on both sides. Each is asked once, base's before head's."""

    runner: Runner
    work: RunJob
    path: str  # of Tidegate
    found: dict[Tool, tuple[Survey, Survey]] = field(default_factory=dict)

    async def ask(self, rows: Iterable[PlanRow]) -> None:
        """Survey the tools of these rows that both sides have, and that are not known yet."""
        both = [row for row in rows if row.presence == "both" and "/" not in row.scenario.target.binary]
        asked: dict[Tool, PlanRow] = {}
        for row in both:
            asked.setdefault(tool_of(row), row)
        left = {tool: row for tool, row in asked.items() if tool.name and tool not in self.found}
        if left:
            sides = [await self._of_side(number, left.values()) for number in range(len(self.work.sides))]
            self.found |= {tool: steady(base, head) for tool, base, head in zip(left, *sides, strict=True)}

    async def _of_side(self, number: int, rows: Iterable[PlanRow]) -> list[Survey]:
        side = self.work.sides[number]
        if (error := self.runner.build_errors.get(side.side)) is not None:
            return [Survey((), error, inside=True) for _ in rows]
        folder = self.work.scratch / f"surface-{side.side}-{len(self.found)}"
        folder.mkdir(mode=0o711)
        own = replace(self.work, sides=(side,))
        trials = MutantRunner(own, self.runner, folder, search_path_of(own, self.path))
        return await together([_compared_survey(trials, row.on(side.side)) for row in rows])

    def compared(self, root: Path, calls: Mapping[str, Scenario]) -> tuple[Interface, ...]:
        """Return what differs, with the lines of docs that name what is gone. `calls`: of passing trials."""
        base, head = (side.revision for side in self.work.sides)
        changed = changed_files(root, base, head, DOCS) if self.found else ()
        files = [path for path in changed if not _is_history(path)]
        diffs = file_diffs(root, base, head, files) if files else {}
        edits = [FileChange(path=path, role="watched", diff=diff) for path, diff in diffs.items()]
        unread = {new for old, new in renamed_variables(edits) if _in_code(root, head, old) > _in_code(root, head, new)}
        told, names = list[Interface](), list[str]()
        for tool, sides in self.found.items():
            gone = {part.name for part in surface_change(*(side.parts for side in sides)).removed if part.name}
            lines = (line for name in sorted(gone)[:MOST_NAMES] for line in lines_with(root, head, name, DOCS))
            kept = (line for line in lines if not _is_history(line.path))
            docs = [Place(side="head", path=line.path, line=line.number, text=line.text) for line in kept]
            names.append(tool.name)
            same = names.count(tool.name)
            label = tool.name if same == 1 else f"{tool.name} ({same})"
            told.append(interface(label, *sides, calls, docs, edits, () if told else unread))
        return tuple(told)


def _in_code(root: Path, head: Revision, name: str) -> bool:
    """Return True if a file other than a document names this."""
    named = (PurePosixPath(line.path) for line in lines_with(root, head, name, ("**",)))
    return any(not any(path.match(pattern.removeprefix("**/")) for pattern in DOCS) for path in named)


def _is_history(path: str) -> bool:
    return Path(path).stem.lower().startswith(_HISTORY)


async def _compared_survey(trials: MutantRunner, row: PlanRow) -> Survey:
    """Survey the row's tool; a server twice, since some of what it offers may differ each time."""
    found = await survey(trials, row, COMPARED_SECONDS)
    if row.scenario.target.mcp is None or found.why:
        return found
    return found._replace(again=(await survey(trials, row, COMPARED_SECONDS)).parts)


def tool_of(row: PlanRow) -> Tool:
    """Return the row's tool under test."""
    targets = [row.on(side).scenario.target for side in ("base", "head")]
    starts = tuple((one.mcp.start if one.mcp else "", tuple(sorted(one.env.items()))) for one in targets)
    is_alike = targets[0].mcp is None and starts[0] == starts[1]
    return Tool(tool_name(row), () if is_alike else starts)


def tool_name(row: PlanRow) -> str:
    """Return the name of the row's tool under test; of an MCP server without a name of its own, its command."""
    target = row.scenario.target
    if target.mcp is None:
        return target.binary
    if target.mcp.name != McpServer.model_fields["name"].default:
        return target.mcp.name
    program, space, rest = target.mcp.command.strip().partition(" ")
    return excerpt(program.rpartition("/")[2] + space + rest, MOST_SHOWN)
