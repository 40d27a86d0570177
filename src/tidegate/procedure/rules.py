"""The parameters of screen, confirm and verify (verdict.md), and their inputs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tidegate.model.run_row import EarlierPushes, RunRow
from tidegate.model.suite import ALPHA, Policy, TrialCounts
from tidegate.model.trial_spec import Phase, Side

SCREENING = {"quick": 1, "standard": 3, "thorough": 5}  # k0: screening trials of each preset
DELTA = 0.20  # head has recovered if its rate is at most this far below base's, and DROP is ruled out
DROP = 0.50  # the drop that a confirmation rules out before it ends early
SHORT_HISTORY = 25  # with fewer trials, a failed screening trial is less unlikely by chance
LEAST_HISTORY = 8  # min_hist: a history with fewer trials is not used; base is run instead
Counts = tuple[int, int]  # passes, trials


class Rules(NamedTuple):
    """The parameters of the procedure. Comments give the symbols that verdict.md and error-rates.md use."""

    alpha: float = ALPHA
    fail_fast: bool = True
    suite: Literal["off", "warn", "block"] = "warn"
    heads: int = 18  # K: head trials of a confirmation, without those of the verification
    first_heads: int = 3  # j0: head trials before the first look at p
    missed: float = 0.06  # head has recovered only if it passes this often with at most this probability after DROP
    guard_bases: int = 3  # g: fresh base trials that history is checked against
    verify_bases: int = 16  # g2: fresh base trials of a verified row
    verify_heads: int = 2  # vh
    tau_early: float = 0.05  # mid-p limit of a screen hit before the last round
    tau_last: float = 0.065  # mid-p limit of a screen hit in the last round
    tau_short: float = 0.15  # the same with a short history
    tau_none: float = 0.20  # the same if head passes no screening trial
    tau_last_alone: float = 0.25  # the same for a row without history
    guard: float = 0.20  # at or below this probability, fresh base trials contradict a row's history
    drift_p: float = 0.05  # mid-p at which they contradict the history over all confirmed rows
    concurrent: float = 0.015  # limit of Fisher's p against fresh base trials alone, so that no old history decides
    concurrent_short: float = 0.005  # the same with a short history or none
    clears: float = 0.02  # mid-p at which head's trials contradict the drop of an earlier push
    clears_missed: float = 0.005  # as `missed`, for a row that regressed at an earlier push
    clear_heads: int = 12  # head trials before that is looked at
    doubt: float = 0.08  # rows at or below it stay unconfirmed; divided among the confirmations as alpha is
    suite_screen: float = 0.15  # mid-p at which the suite is tested on concurrent trials
    suite_doubt: float = 0.01  # mid-p at which the suite is unconfirmed, where it is not tested on concurrent trials
    suite_alpha: float = 0.005  # alpha_s: error rate of the suite's test on concurrent trials
    suite_rounds: int = 3  # least number of base trials per row in the suite's test

    @property
    def most_heads(self) -> int:
        """K + vh: head trials of a confirmation with its verification."""
        return self.heads + self.verify_heads

    @classmethod
    def of(cls, policy: Policy) -> Rules:
        """Return the policy's values, with defaults for all other parameters."""
        return cls(alpha=policy.alpha, fail_fast=policy.fail_fast, suite=policy.suite)


class Facts(NamedTuple):
    """What the procedure knows of a row before its first trial.

    `history`: base's earlier trials; `screening`: k0; `most`: limit of head trials over all phases; `blocks`: a
    regression of this row ends the run (fail_fast); `earlier`: what earlier pushes showed; `severity`: how bad replayed
    sessions look on head, 0 without a difference; `failing`: a gate fails after one of them, and passes on base;
    `changed`: the pull request changed the scenario or the agent.
    """

    history: Counts = (0, 0)
    screening: int = 3
    most: int | None = None
    blocks: bool = True
    earlier: EarlierPushes = EarlierPushes()
    severity: float = 0.0
    failing: bool = False
    changed: bool = False


class Ask(NamedTuple):
    """A request for one trial; `row` is the row's index."""

    row: int
    side: Side
    phase: Phase


def level(rules: Rules, place: int, has_history: bool) -> float:
    """Return the limit of the j-th confirmed row: alpha/(j(j+1)), a quarter of it without history; j = `place`, from 1.

    These limits sum to at most alpha, however many rows are confirmed. Rows without history use up nearly all of
    their limits, as many of them are confirmed; with history, the verification leaves most of alpha unused.
    """
    return rules.alpha / (place * (place + 1)) / (1 if has_history else 4)


def concurrent_limit(rules: Rules, history: int) -> float:
    """Return the limit of Fisher's p against fresh base trials alone, for so many trials of history in use.

    Rows are confirmed because head looked bad beside base's trials. The fewer these are, the more often they looked
    better than base is, so that the fresh ones have to show the drop more clearly.
    """
    return rules.concurrent if history >= SHORT_HISTORY else rules.concurrent_short


def screening_trials(counts: TrialCounts, policy: Policy) -> int:
    """Return k0, the number of screening trials of a stochastic row: `trials.min`, or the preset's number."""
    return counts.min or SCREENING[policy.preset]


def screening_of(row: RunRow, policy: Policy) -> int:
    """Return the number of screening trials per side. (With a history, base needs none.)"""
    return 1 if row.deterministic else screening_trials(row.trials, policy)
