"""Compare the help texts of both sides, for rows whose recorded sessions replay alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tidegate.model.plan import RowKey
from tidegate.model.surface import Part
from tidegate.run.mutant_trials import MutantTrials, search_path_of
from tidegate.run.run_job import RunJob
from tidegate.run.runner import Runner
from tidegate.run.surface_survey import survey
from tidegate.surface.used import SurfaceChange, surface_change

SECONDS = 30.0  # for the help texts of one depth, so that a head that hangs leaves enough for agents


async def surface_changes(
    runner: Runner, work: RunJob, keys: Iterable[RowKey], path: str
) -> Mapping[RowKey, SurfaceChange]:
    """Return what the pull request changes in the surface of each row's program. `path`: of Tidegate.

    MCP servers are left out: replays compare their lists of tools.
    """
    asked = [work.plan.row(key) for key in keys]
    rows = {row.scenario.target.binary: row for row in reversed(asked) if not row.scenario.target.tty}
    names = [name for name in rows if name and "/" not in name]
    keys = [rows[name].key for name in names]
    of_sides = [await _parts(runner, replace(work, sides=(side,)), keys, path) for side in work.sides]
    found = {name: surface_change(*parts) for name, *parts in zip(names, *of_sides, strict=True)}
    return {row.key: found[row.scenario.target.binary] for row in asked if row.scenario.target.binary in found}


async def _parts(runner: Runner, work: RunJob, keys: Iterable[RowKey], path: str) -> list[tuple[Part, ...]]:
    (side,) = work.sides
    folder = work.scratch / f"replayed-surface-{side.side}"
    folder.mkdir(mode=0o711)
    trials = MutantTrials(work, runner, folder, search_path_of(work, path))
    return [await survey(trials, work.plan.row(key), SECONDS) for key in keys]
