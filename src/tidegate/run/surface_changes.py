"""What differs between the surfaces of the tool on base and here, who uses it, and which docs name what is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tidegate.causes.seen import named_in
from tidegate.errors import ConfigurationError
from tidegate.model.plan import Plan, PlanRow
from tidegate.model.proof import ChangedPart, DocLine, ToolProof
from tidegate.model.surface import Part
from tidegate.run.checkouts import one_side
from tidegate.run.mutant_trials import MutantTrials, search_path_of
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.surface_survey import survey
from tidegate.suite.load import load_suite
from tidegate.surface.changed import surface_change
from tidegate.trial.workspace import matching_files

DOCS = ("**/*.md", "**/*.mdc", "**/*.rst", "**/*.adoc")
_HISTORY = ("changelog", "changes", "history", "news", "releases")
MOST_LINES = 5  # of docs, for one part
MOST_CHARACTERS = 200


async def base_parts(
    repo: Path, base: str, work: RunJob, rows: Sequence[PlanRow], options: Options
) -> dict[str, tuple[Part, ...]]:
    """Return the listed parts of each tool on base. `rows`: one per tool. Raises ConfigurationError without a build."""
    found = {}
    scratch = work.scratch / "base"
    scratch.mkdir(mode=0o711)
    with one_side(repo, base, scratch, scratch / "run") as side:
        suite = load_suite(side.folder, options.config, environ=options.environ)
        own = replace(side, side="base", own=suite)
        old = replace(work, sides=(own,), plan=Plan(rows=tuple(rows)), scratch=scratch)
        async with runner_of(old, options) as runner:
            if runner.build_errors:
                raise ConfigurationError("; ".join(runner.build_errors.values()), "Name a `--base` that can be built.")
            folder = scratch / "mutants"
            folder.mkdir(mode=0o711)
            trials = MutantTrials(old, runner, folder, search_path_of(old, options.environ.get("PATH", "")))
            for row in rows:
                found[tool_name(row)] = await survey(trials, row)
    return found


def tool_name(row: PlanRow) -> str:
    """Return the name of the row's tool under test."""
    target = row.scenario.target
    return target.mcp.name if target.mcp is not None else target.binary


def changed_parts(proof: ToolProof, base: Sequence[Part], checkout: Path) -> tuple[ChangedPart, ...]:
    """Return what is new, gone or different here. Only gone parts have lines of docs that still name them."""
    listed = [one.part for one in proof.parts if one.part.kind not in ("json_key", "exit_code", "file")]
    users = {one.part.id: one.scenarios for one in proof.parts}
    change = surface_change(base, listed)
    lines = [*_doc_lines(checkout, proof.tool)] if change.removed else []
    return (
        *(ChangedPart(state="added", part=part, scenarios=users[part.id]) for part in change.added),
        *(
            ChangedPart(state="changed", part=part, before=old, scenarios=users[part.id])
            for old, part in change.changed
        ),
        *(ChangedPart(state="removed", part=part, docs=_naming(part, lines)) for part in change.removed),
    )


def _naming(part: Part, lines: Sequence[DocLine]) -> tuple[DocLine, ...]:
    """Return the lines that name the part, with its subcommand."""
    words = [*part.name.split(), *part.command.split()]
    return tuple(line for line in lines if all(named_in(line.text, word) for word in words))[:MOST_LINES]


def _doc_lines(checkout: Path, tool: str) -> Iterator[DocLine]:
    for name in matching_files(checkout, DOCS):
        if Path(name).stem.lower().startswith(_HISTORY):
            continue
        text = (checkout / name).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if named_in(line, tool):
                yield DocLine(path=name, line=number, text=line.strip()[:MOST_CHARACTERS])
