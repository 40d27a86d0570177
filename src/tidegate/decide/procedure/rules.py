"""The parameters of the procedure (verdict.md), and its inputs."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.model.reason import Counts
from tidegate.model.run_row import EarlierPushes, RunRow
from tidegate.model.suite import Policy, TrialCounts
from tidegate.model.trial_spec import Phase, Side

SCREENING = {"quick": 1, "standard": 3, "thorough": 5}  # screening trials of each preset
LEAST_HISTORY = 8  # a history with fewer trials is not used; base is run instead
TIES = 1 + 1e-9  # factor on limits, so that a value equal to its limit but for rounding is within it


# Chosen by simulation; no error rate rests on them.
SUSPECT = 2.0  # log odds of a drop (drop_odds) from which a row is tested on pairs
FIRST_PAIRS = 5  # pairs before the first look, and before the test may give up
MORE_PAIRS = 3  # pairs between two looks, which run side by side
MOST_PAIRS = 41
VERIFY_PAIRS = 6
SMALL, LATE = 0.15, 8  # the test gives up at a smaller difference, from so many pairs


class Facts(NamedTuple):
    """What the procedure knows of a row before its first trial.

    `history`: base's earlier trials; `screening`: screening trials; `most`: limit of head trials over all phases;
    `blocks`: a regression of this row ends the run (fail_fast); `earlier`: what earlier pushes showed; `severity`: how
    bad replayed sessions look on head, 0 without a difference; `failing`: a gate fails after one of them, and passes on
    base; `before`: base's rate of which a fall is looked for, None without a history; `patient`: base never failed, and
    head's failures are looked at longer.
    """

    history: Counts = (0, 0)
    screening: int = 3
    most: int | None = None
    blocks: bool = True
    earlier: EarlierPushes = EarlierPushes()
    severity: float = 0.0
    failing: bool = False
    before: float | None = None
    patient: bool = False


class Ask(NamedTuple):
    """A request for one trial; `row` is the row's index."""

    row: int
    side: Side
    phase: Phase


def limit_of(alpha: float, place: int = 1, push: int = 1) -> float:
    """Return the limit of the row that is tested on pairs as the j-th of the m-th push: alpha/(j(j+1)m(m+1)).

    These limits sum to alpha, however many rows are tested in however many pushes.
    """
    return alpha / (place * (place + 1) * push * (push + 1))


def screening_trials(counts: TrialCounts, policy: Policy) -> int:
    """Return the number of screening trials of a stochastic row: `trials.min`, or the preset's number."""
    return counts.min or SCREENING[policy.preset]


def screening_of(row: RunRow, policy: Policy) -> int:
    """Return the number of screening trials per side. (With a history, base needs none.)"""
    return 1 if row.deterministic else screening_trials(row.trials, policy)
