"""Reads from a pull request's events who set a label, and whether the head may have moved."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from typing import TYPE_CHECKING

from tidegate.github.port import Labelling

if TYPE_CHECKING:
    from github.IssueEvent import IssueEvent
    from github.NamedUser import NamedUser
    from github.Organization import Organization

# After these, the head may be a commit that it was before, or the base another branch. A push that is not forced adds
# commits, so it never brings an earlier head back.
MOVES = frozenset(
    {
        "automatic_base_change_succeeded",
        "base_ref_changed",
        "head_ref_deleted",
        "head_ref_force_pushed",
        "head_ref_restored",
        "reopened",
    }
)


def last_labelling(events: Iterable[IssueEvent], label: str) -> Labelling | None:
    """Return who set the label last, and when; None if it is not set. `events`: all of the issue, oldest first."""
    events = list(events)
    ours = [event for event in events if _is_about(event, label)]
    if not ours or ours[-1].event == "unlabeled":
        return None
    moved = (_time_of(event) for event in events if event.event in MOVES)
    actor: NamedUser | Organization | None = ours[-1].actor  # None: the account has been deleted
    return Labelling(
        by=actor.login if actor is not None else "", at=_time_of(ours[-1]), moved_at=max(moved, default="")
    )


def _is_about(event: IssueEvent, label: str) -> bool:
    """Return True if the event set or removed the label. GitHub ignores the case of labels."""
    return event.event in ("labeled", "unlabeled") and event.label.name.casefold() == label.casefold()


def _time_of(event: IssueEvent) -> str:
    """Return GitHub's time of the event, such as 2026-11-22T08:00:00Z."""
    return event.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
