"""Decide whether agents have to be run for a row of which base's sessions were replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from tidegate.agents.invocations.shapes import Shapes, subcommands_of, unseen_share
from tidegate.decide.surface.used import SurfaceDiff
from tidegate.model.measurement import PastTrial
from tidegate.model.plan import RowKey
from tidegate.model.run_row import LEAST, ReplayFinding, RunRow, WhyRun
from tidegate.model.suite import ReplayRules
from tidegate.model.surface import Part


def shapes_by_session(past: Sequence[PastTrial]) -> list[Shapes]:
    """Return the shapes of the calls of base's earlier trials of one row, as far as they are known."""
    return [trial.shapes for trial in past if trial.shapes is not None]


def decided(
    found: ReplayFinding, row: RunRow, known: Sequence[Shapes], rules: ReplayRules, *, despite: WhyRun | None = None
) -> ReplayFinding:
    """Return the finding with the row's decision. `despite`: why agents are run although all sessions replay alike."""
    found = found.model_copy(update={"unseen": unseen_share(known, more=bool(found.surface))})
    why = _why_run(found, row, rules, despite)
    return found.model_copy(update={"skipped": why is None, "run": why})


def _why_run(found: ReplayFinding, row: RunRow, rules: ReplayRules, despite: WhyRun | None) -> WhyRun | None:
    """Return why agents have to be run; None if they do not. What an agent showed comes before what a replay shows."""
    if found.difference is not None:
        return WhyRun(code="differs", detail=found.difference.step)
    if found.unsteady:
        return WhyRun(code="unsteady")
    if found.same < LEAST:
        return WhyRun(code="few")
    if not found.passed:
        return WhyRun(code="none_passed")
    if row.earlier.state != "ok":
        return WhyRun(code="earlier_push", detail=row.earlier.state)
    if row.earlier.failed:
        return WhyRun(code="earlier_failure")
    if despite is not None:
        return despite
    if found.unseen > rules.max_unseen:
        return WhyRun(code="unseen")
    if rules.use != "skip" and row.no_agent is None:
        return WhyRun(code="use", detail=rules.use)
    return None


def surface_near(change: SurfaceDiff, known: Sequence[Shapes]) -> tuple[str, ...]:
    """Return what changes in the options and arguments of the subcommands that sessions call, and of the tool itself.

    New subcommands are not near: a session that calls one of them has a new shape, which the estimate counts.
    """
    called = subcommands_of(known)
    parts = [*change.added, *change.removed, *(new for _, new in change.changed)]
    general = [part for part in parts if part.kind == "option" and not part.command]
    return tuple(str(part) for part in parts if part in general or _belongs_to(part) in called)


def _belongs_to(part: Part) -> str:
    """Return the first word of the subcommand that the part belongs to; of a subcommand, the one that it is part of."""
    words = (part.command or (part.name.rpartition(" ")[0] if part.kind == "subcommand" else "")).split()
    return words[0] if words else ""


def spot_checks(
    replays: Mapping[RowKey, ReplayFinding], rows: Sequence[RunRow], rules: ReplayRules
) -> tuple[list[RowKey], int]:
    """Return the unchanged rows that can be checked with an agent, and how many of them are."""
    may = {row.key for row in rows if row.no_agent is None}
    keys = [key for key, found in replays.items() if found.skipped and key in may]
    return keys, ceil(round(rules.spot_checks * len(keys), 9))


def chosen_for_check(found: ReplayFinding) -> ReplayFinding:
    """Return the finding of a row that was chosen for a spot check."""
    return found.model_copy(update={"skipped": False, "spot": True, "run": WhyRun(code="spot_check")})
