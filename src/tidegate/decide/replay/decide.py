"""Decide whether agents have to be run for a row of which base's sessions were replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from tidegate.agents.invocations.shapes import Shapes, subcommands_of, unseen_share
from tidegate.decide.surface.used import SurfaceChange
from tidegate.model.measurement import PastTrial
from tidegate.model.plan import RowKey
from tidegate.model.run_row import RowReplay, RunRow
from tidegate.model.suite import ReplayRules
from tidegate.model.surface import Part

LEAST = 3  # sessions that have to replay alike


def shapes_by_session(past: Sequence[PastTrial]) -> list[Shapes]:
    """Return the shapes of the calls of base's earlier trials of one row, as far as they are known."""
    return [trial.shapes for trial in past if trial.shapes is not None]


def decided(
    found: RowReplay, row: RunRow, known: Sequence[Shapes], rules: ReplayRules, *, despite: str = ""
) -> RowReplay:
    """Return the finding with the row's decision. `despite`: why agents are run although all sessions replay alike."""
    found = found.model_copy(update={"unseen": unseen_share(known, more=bool(found.surface))})
    why = _why_run(found, row, rules, despite)
    return found.model_copy(update={"skipped": not why, "why_run": why})


def _why_run(found: RowReplay, row: RunRow, rules: ReplayRules, despite: str) -> str:
    """Return why agents have to be run; '' if they do not. What an agent showed comes before what a replay shows."""
    if found.difference is not None:
        return f"differs at `{found.difference.step}`"
    if found.unsteady:
        return "sessions of base do not replay alike on base: chance has a part in the tool"
    if found.same < LEAST:
        return f"{found.same} of {LEAST} sessions replay alike"
    if not found.passed:
        return "none of the sessions that replay alike passed"
    if row.earlier.state != "ok":
        return f"an earlier push of the pull request was {row.earlier.state}"
    if row.earlier.failed:
        return "an earlier run of the pull request had a failure on head"
    if despite:
        return despite
    if found.unseen > rules.max_unseen:
        changed = f"; the pull request changes {found.surface[0]}, which no session shows" if found.surface else ""
        return f"a new session does something new with a chance of {found.unseen:.0%}{changed}"
    if rules.use != "skip" and row.no_agent is None:
        return f"`policy.replay.use` is `{rules.use}`"
    return ""


def surface_near(change: SurfaceChange, known: Sequence[Shapes]) -> tuple[str, ...]:
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
    replays: Mapping[RowKey, RowReplay], rows: Sequence[RunRow], rules: ReplayRules
) -> tuple[list[RowKey], int]:
    """Return the unchanged rows that can be checked with an agent, and how many of them are."""
    may = {row.key for row in rows if row.no_agent is None}
    keys = [key for key, found in replays.items() if found.skipped and key in may]
    return keys, ceil(round(rules.spot_checks * len(keys), 9))


def chosen_for_check(found: RowReplay) -> RowReplay:
    """Return the finding of a row that was chosen for a spot check."""
    return found.model_copy(update={"skipped": False, "spot": True, "why_run": "chosen at random for a spot check"})
