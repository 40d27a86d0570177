"""A decision on a comparison, before it is worded; and the rows that can lead to it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from tidegate.decide.comparison.weak_rows import cannot_guard
from tidegate.model.comparison import Row
from tidegate.model.suite import Policy
from tidegate.model.trial_spec import is_inside
from tidegate.model.verdict import VerdictReason, VerdictState

MOST_EXCLUDED = 0.20  # share of a run's trials; with more left out, "no regression" is not evidence (verdict.md)


class Decision(NamedTuple):
    """A verdict's state, reason and exit code."""

    state: VerdictState
    reason: VerdictReason
    exit_code: int
    rows: Sequence[Row] = ()  # the rows that led to the decision


def may_block(row: Row, policy: Policy) -> bool:
    """Return True if the row's purpose is `regression` and the policy names its agent; other rows never block."""
    return row.purpose == "regression" and policy.names(row.agent)


def is_unproven(row: Row, by_head: Container[str | None] = ()) -> bool:
    """Return True if it is unknown whether head is worse, and what the pull request does can be the reason for that.

    Otherwise a broken tool could choose an outcome that does not fail the job. `by_head`: outside causes that can be
    head's doing in this run, since it can have used up the budget.
    """
    head = row.head
    failed_every_trial = head.passes == 0 and head.trials > 0
    match row.state:
        case "not_measured":
            inside = is_inside(row.not_measured) or row.not_measured == "auth"  # head can ask for what is forbidden
            unconfirmed = row.not_measured == "budget" and failed_every_trial
            return inside or unconfirmed or row.not_measured in by_head
        case "not_comparable":
            return head.passes < head.trials
        case "unconfirmed" if row.kind in ("unused", "rewritten"):
            return True
        case "baseline_changed":
            return True
        case "unconfirmed" if row.kind != "outcome":
            return head.not_measured > head.trials
        case "unconfirmed":
            return failed_every_trial and not row.one_shot
        case _:
            return False


def present(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that head's suite has."""
    return [row for row in rows if row.state != "removed"]


def blind(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that pass on neither side, if they are two thirds or more of those that both sides have."""
    suite = [row for row in present(rows) if row.state != "added"]
    found = [row for row in suite if cannot_guard(row)]
    return found if 3 * len(found) >= 2 * len(suite) else []
