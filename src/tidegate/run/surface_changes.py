"""Survey what the tools offer on both sides of a pull request, and compare it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidegate.decide.surface.interface import Survey, interface
from tidegate.decide.surface.used import Scenario, surface_change
from tidegate.model.cause import Place
from tidegate.model.plan import PlanRow
from tidegate.model.surface import Interface
from tidegate.model.target import McpServer
from tidegate.run.mutant_trials import MutantTrials, search_path_of
from tidegate.run.run_job import RunJob
from tidegate.run.runner import Runner, together
from tidegate.run.surface_survey import survey
from tidegate.text.shorten import excerpt
from tidegate.vcs.revisions import lines_with

DOCS = ("**/*.md", "**/*.mdc", "**/*.rst", "**/*.adoc")
SECONDS = 30.0  # for the help texts of one depth, so that a head that hangs leaves enough for agents
_HISTORY = ("changelog", "changes", "history", "news", "releases")
MOST_NAMES = 20  # of gone parts that are looked for in the docs
MOST_SHOWN = 60  # characters of a server's command


@dataclass
class Surveys:
    """What the tools of a pull request offer on both sides, by name. Each is asked once, base's before head's."""

    runner: Runner
    work: RunJob
    path: str  # of Tidegate
    found: dict[str, tuple[Survey, Survey]] = field(default_factory=dict)

    async def ask(self, rows: Iterable[PlanRow]) -> None:
        """Survey the tools of these rows that both sides have, and that are not known yet."""
        both = [row for row in rows if row.presence == "both" and "/" not in row.scenario.target.binary]
        asked = {tool_name(row): row for row in reversed(both)}
        left = {name: row for name, row in asked.items() if name and name not in self.found}
        if left:
            sides = [await self._of_side(number, left.values()) for number in range(len(self.work.sides))]
            self.found |= dict(zip(left, zip(*sides, strict=True), strict=True))

    async def _of_side(self, number: int, rows: Iterable[PlanRow]) -> list[Survey]:
        side = self.work.sides[number]
        if (error := self.runner.build_errors.get(side.side)) is not None:
            return [Survey((), error, inside=True) for _ in rows]
        folder = self.work.scratch / f"surface-{side.side}-{len(self.found)}"
        folder.mkdir(mode=0o711)
        own = replace(self.work, sides=(side,))
        trials = MutantTrials(own, self.runner, folder, search_path_of(own, self.path))
        return await together([survey(trials, row.on(side.side), SECONDS) for row in rows])

    def compared(self, root: Path, calls: Mapping[str, Scenario]) -> tuple[Interface, ...]:
        """Return what differs, with the lines of docs that name what is gone. `calls`: of passing trials."""
        head, told = self.work.sides[-1].revision, []
        for tool, sides in self.found.items():
            gone = {part.name for part in surface_change(*(side.parts for side in sides)).removed if part.name}
            lines = (line for name in sorted(gone)[:MOST_NAMES] for line in lines_with(root, head, name, DOCS))
            kept = (line for line in lines if not Path(line.path).stem.lower().startswith(_HISTORY))
            docs = [Place(side="head", path=line.path, line=line.number, text=line.text) for line in kept]
            told.append(interface(tool, *sides, calls, docs))
        return tuple(told)


def tool_name(row: PlanRow) -> str:
    """Return the name of the row's tool under test; of an MCP server without a name of its own, its command."""
    target = row.scenario.target
    if target.mcp is None:
        return target.binary
    if target.mcp.name != McpServer.model_fields["name"].default:
        return target.mcp.name
    program, space, rest = target.mcp.command.strip().partition(" ")
    return excerpt(program.rpartition("/")[2] + space + rest, MOST_SHOWN)
