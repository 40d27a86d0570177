"""The parameters of the procedure (verdict.md), its inputs, and when repeats confirm a difference."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tidegate.model.run_row import Counts, EarlierPushes, RunRow
from tidegate.model.suite import Policy, TrialCounts
from tidegate.model.trial_spec import Phase, Side

SCREENING = {"quick": 1, "standard": 3, "thorough": 5}  # screening trials of each preset
LEAST_HISTORY = 8  # a history with fewer trials is not used; base is run instead

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


HEAD_TRIALS = 3  # head trials of a confirmed flip: the first and two repeats
BASE_TRIALS = 2  # base trials of a confirmed flip: the first and one repeat

CLEARS = 6  # head trials that all pass after a failure in an earlier run: one that fails in 60 % has 0.4 % luck
BY_CHANCE = 5  # trials of each side where both may lose trials at random

Flip = Literal["setup", "unmeasurable", "outage", "worse", "better"]
NO_START: frozenset[Flip] = frozenset({"setup", "unmeasurable"})
WORSE: frozenset[Flip] = NO_START | {"worse"}


class Tally(NamedTuple):
    """Counts of one side's trials of a row: passed, failed, and two kinds without an outcome."""

    passes: int = 0
    fails: int = 0
    setup: int = 0  # the setup, the health check or the build failed
    lost: int = 0  # kept from being measured by any other cause that a process of the trial can bring about
    outages: int = 0  # of the provider or the judge

    @property
    def measured(self) -> int:
        """Number of trials with an outcome."""
        return self.passes + self.fails

    @property
    def counts(self) -> Counts:
        """Passes and trials with an outcome."""
        return self.passes, self.measured

    @property
    def inside(self) -> int:
        """Number of trials without an outcome, for a cause that a process of the trial can bring about."""
        return self.setup + self.lost

    @property
    def mixed(self) -> bool:
        """True if some trials passed and some failed."""
        return self.passes > 0 and self.fails > 0


def flip(base: Tally, head: Tally, deterministic: bool) -> Flip | None:
    """Return the difference that holds in all trials; None if there is none, or base has no measured trial.

    `worse` and `better` are for deterministic rows, the others for any row that head never measured. An outage that all
    of head's trials meet is one of them: what a tool prints can be what its provider cannot answer.
    """
    if not base.measured:
        return None
    if not head.measured:
        if base.inside or not (head.inside or head.outages):
            return None
        if not head.inside:
            return "outage"
        return "setup" if head.setup >= head.lost else "unmeasurable"
    if not deterministic or base.mixed or head.mixed:
        return None
    if bool(base.passes) == bool(head.passes):
        return None
    return "worse" if base.passes else "better"


class Enough(NamedTuple):
    """The measured base trials and the head trials that confirm a flip."""

    base: int = BASE_TRIALS
    head: int = HEAD_TRIALS


def enough_for(kind: Flip | None, *, by_chance: bool) -> Enough:
    """Return how many trials confirm the flip.

    If chance has a part, each side may lose half of its trials: then 3 lost ones against 2 measured show little.
    """
    return Enough(BY_CHANCE, BY_CHANCE) if by_chance and kind in ("unmeasurable", "outage") else Enough()


def repeats_needed(kind: Flip, base: Tally, head: Tally, enough: Enough) -> Enough:
    """Return how many more trials base and head need to confirm the flip; zeros if it is confirmed.

    A head trial that was lost counts as a failed one where base lost none: a tool must not escape its failures by
    destroying their record.
    """
    lost = head.inside + (head.outages if kind == "outage" else 0)
    shown = head.measured + (0 if kind == "better" or base.inside else lost)
    return Enough(max(0, enough.base - base.measured), max(0, enough.head - shown))
