"""What replayed sessions of base show, for the comment."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.comparison import Row
from tidegate.model.value import Value


class ReplayView(Value):
    """Rows for which no agent was run, of how many in all, and the rows whose sessions differ.

    `checked` rows replay alike, and were chosen for a trial with an agent. `with_agents`: agents were run for the rows
    that differ.
    """

    unchanged: int
    total: int
    sessions: int
    unseen: float  # the largest estimate among the unchanged rows
    differing: tuple[Row, ...]
    checked: int
    with_agents: bool


def replay_view(rows: Sequence[Row]) -> ReplayView | None:
    """Return the facts about replays for the comment; None if nothing was replayed."""
    replays = [(row, row.replay) for row in rows if row.replay is not None]
    if not replays:
        return None
    differing = sorted(
        ((row, found) for row, found in replays if found.difference is not None), key=lambda one: -one[1].severity
    )
    unchanged = [found for row, found in replays if row.state == "unchanged"]
    return ReplayView(
        unchanged=len(unchanged),
        total=sum(row.state != "removed" for row in rows),
        sessions=sum(found.same for found in unchanged),
        unseen=max((found.unseen for found in unchanged), default=0.0),
        differing=tuple(row for row, _ in differing),
        checked=sum(found.spot for _, found in replays),
        with_agents=any(row.head.trials for row, _ in differing),
    )
