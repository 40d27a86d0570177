"""What differs between the surfaces of the tool on base and here, who uses it, and which docs name what is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tidegate.decide.causes.seen import named_in
from tidegate.decide.surface.used import Scenario, surface_change, users
from tidegate.errors import ConfigurationError
from tidegate.model.plan import Plan, PlanRow
from tidegate.model.progress import Progress
from tidegate.model.proof import ChangedPart, DocLine, ToolProof, UsedPart
from tidegate.model.suite import Budget
from tidegate.model.surface import Part
from tidegate.model.target import McpServer
from tidegate.run.checkouts import one_side
from tidegate.run.mutant_trials import MutantTrials, search_path_of
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.surface_survey import survey
from tidegate.suite.load import load_suite
from tidegate.text.shorten import excerpt
from tidegate.trial.workspace import matching_files
from tidegate.vcs.revisions import untracked_files

DOCS = ("**/*.md", "**/*.mdc", "**/*.rst", "**/*.adoc")
_HISTORY = ("changelog", "changes", "history", "news", "releases")
MOST_LINES = 5  # of docs, for one part
MOST_CHARACTERS = 200
MOST_SHOWN = 60  # characters of a server's command


async def base_parts(
    repo: Path, base: str, work: RunJob, rows: Sequence[PlanRow], options: Options
) -> dict[str, tuple[Part, ...]]:
    """Return the listed parts of each tool on base. `rows`: one per tool. Raises ConfigurationError without a build."""
    scratch = work.scratch / "base"
    scratch.mkdir(mode=0o711)
    with one_side(repo, base, scratch, scratch / "run") as side:
        suite = load_suite(side.folder, options.config, environ=options.environ)
        return await listed_parts(replace(work, sides=(replace(side, side="base", own=suite),)), rows, options)


async def listed_parts(work: RunJob, rows: Sequence[PlanRow], options: Options) -> dict[str, tuple[Part, ...]]:
    """Return what each tool lists of its surface in the only checkout of `work`. `rows`: one per tool."""
    found, (side,) = {}, work.sides
    folder = work.scratch / f"surface-{side.side}"
    folder.mkdir(mode=0o711)
    own = replace(work, plan=Plan(rows=tuple(rows)), scratch=folder)
    async with runner_of(own, options) as runner:
        if runner.build_errors:
            raise ConfigurationError("; ".join(runner.build_errors.values()), "Name a `--base` that can be built.")
        trials = MutantTrials(own, runner, folder, search_path_of(own, options.environ.get("PATH", "")))
        for row in rows:
            found[tool_name(row)] = await survey(trials, row, progress=options.progress)
    return found


async def changes_of_sides(
    work: RunJob, calls: Mapping[str, Scenario], options: Options
) -> tuple[tuple[str, tuple[ChangedPart, ...]], ...]:
    """Return what a pull request changes in each tool's surface; both sides are built. `calls`: of head's scenarios."""
    usable = [row for row in work.plan.rows if row.presence == "both" and "/" not in row.scenario.target.binary]
    rows = {tool_name(row): row for row in reversed(usable) if not row.scenario.target.tty}
    rows.pop("", None)
    parts = []
    for side in work.sides:
        suite = (side.own or work.suite).model_copy(update={"build": ()})
        built = work.suite.model_copy(update={"build": (), "budget": Budget(minutes=None)})
        one = replace(work, suite=built, sides=(replace(side, own=suite),))
        parts.append(await listed_parts(one, [*rows.values()], replace(options, progress=Progress())))
    found = []
    for tool in rows:
        before, after = (of_side[tool] for of_side in parts)
        used = users(after, calls)
        told = tuple(UsedPart(part=part, scenarios=used[part.id]) for part in after)
        found.append((tool, changed_parts(ToolProof(tool=tool, counts="", parts=told), before, work.definitions)))
    return tuple(found)


def tool_name(row: PlanRow) -> str:
    """Return the name of the row's tool under test; of an MCP server without a name of its own, its command."""
    target = row.scenario.target
    if target.mcp is None:
        return target.binary
    if target.mcp.name != McpServer.model_fields["name"].default:
        return target.mcp.name
    program, space, rest = target.mcp.command.strip().partition(" ")
    return excerpt(program.rpartition("/")[2] + space + rest, MOST_SHOWN)


def changed_parts(proof: ToolProof, base: Sequence[Part], checkout: Path) -> tuple[ChangedPart, ...]:
    """Return what is new, gone or different here. Only gone parts have lines of docs that still name them."""
    listed = [one.part for one in proof.parts if one.part.kind not in ("json_key", "exit_code", "file")]
    users = {one.part.id: one.scenarios for one in proof.parts}
    change = surface_change(base, listed)
    server = any(part.kind == "tool" for part in base)
    lines = [*_doc_lines(checkout, "" if server else proof.tool)] if change.removed else []
    return (
        *(ChangedPart(state="added", part=part, scenarios=users[part.id]) for part in change.added),
        *(
            ChangedPart(state="changed", part=part, before=old, scenarios=users[part.id])
            for old, part in change.changed
        ),
        *(ChangedPart(state="removed", part=part, docs=_naming(part, lines)) for part in change.removed),
    )


def _naming(part: Part, lines: Sequence[DocLine]) -> tuple[DocLine, ...]:
    """Return the lines that name the part, with its subcommand; what a server offers, in code or with a `_`."""
    words = [*part.name.split(), *part.command.split()]
    names = _named_as_code if part.kind in ("tool", "parameter") else named_in
    return tuple(line for line in lines if all(names(line.text, word) for word in words))[:MOST_LINES]


def _named_as_code(text: str, name: str) -> bool:
    """Return True if the text has the name, and not as an ordinary word: docs rarely name a tool's server beside it."""
    return named_in(text, name) and ("_" in name or re.search(rf"[`\"']{re.escape(name)}[`\"'(]", text) is not None)


def _doc_lines(checkout: Path, tool: str) -> Iterator[DocLine]:
    """Yield the lines of the docs that name the tool; all lines if it is ''."""
    ignored = {name for name, is_ignored in untracked_files(checkout, ["."]).items() if is_ignored}
    for name in matching_files(checkout, DOCS):
        if name in ignored or Path(name).stem.lower().startswith(_HISTORY):
            continue
        text = (checkout / name).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if not tool or named_in(line, tool):
                yield DocLine(path=name, line=number, text=line.strip()[:MOST_CHARACTERS])
