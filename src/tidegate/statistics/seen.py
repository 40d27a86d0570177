"""What was seen of each row: its trials, reduced to what decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Self

from tidegate.model.measurement import Outcome, RunRow, TrialResult
from tidegate.model.trial import SETUP_KINDS, NotMeasured, Phase, Side
from tidegate.model.value import Value
from tidegate.statistics.repeats import HEAD_TRIALS, Flip, Tally, flip
from tidegate.statistics.rules import LEAST_HISTORY, Counts


class SeenTrial(Value):
    """An observed trial, reduced to what decides."""

    side: Side
    index: int
    phase: Phase
    decides: Outcome | None
    not_measured: NotMeasured | None
    reason: str

    @classmethod
    def of(cls, result: TrialResult) -> Self:
        """Reduce a measured trial."""
        return cls(
            side=result.side,
            index=result.index,
            phase=result.phase,
            decides=result.decides,
            not_measured=result.not_measured,
            reason=result.reason,
        )

    @property
    def passed(self) -> bool | None:
        """Its outcome; None: not measured."""
        return None if self.decides is None else self.decides == "pass"

    @property
    def setup_failed(self) -> bool:
        """It ended before the agent was started, by the fault of the setup, the health check or the build."""
        return self.decides is None and self.not_measured in SETUP_KINDS


class RowSeen(Value):
    """A row, how many trials it may have, and those that were seen, by side and index."""

    row: RunRow
    screening: int = 1  # k0: screening trials a side
    most: int | None = None  # head trials over all phases
    past: tuple[bool, ...] = ()  # base's history, the oldest first: did it pass?
    trials: tuple[SeenTrial, ...] = ()

    def with_trials(self, trials: Sequence[SeenTrial]) -> Self:
        """The row with these seen too; one that was seen before stays as it was."""
        known = {(t.side, t.index, t.phase): t for t in (*trials, *self.trials)}
        return self.model_copy(update={"trials": tuple(known[place] for place in sorted(known))})

    def of(self, side: Side, phase: Phase | None = None) -> tuple[SeenTrial, ...]:
        """The trials of one side, of one phase or of all."""
        return tuple(t for t in self.trials if t.side == side and phase in (None, t.phase))

    def tally(self, side: Side) -> Tally:
        """The trials of one side, counted."""
        trials = self.of(side)
        decides = Counter(t.decides for t in trials)
        setup = sum(t.setup_failed for t in trials)
        return Tally(decides["pass"], decides["fail"], setup, decides[None] - setup)

    @property
    def history(self) -> Counts:
        """The history, counted; nothing where it is too short to be used."""
        return (sum(self.past), len(self.past)) if len(self.past) >= LEAST_HISTORY else (0, 0)

    @property
    def sequential(self) -> bool:
        """It takes the way of screen, confirm and verify."""
        return self.row.presence == "both" and not self.row.deterministic

    @property
    def cut_short(self) -> bool:
        """The run ended before its screening did: the budget was used up, or another row's regression had decided."""
        return self.sequential and len(self.of("head")) < min(self.screening, self.most or self.screening)

    @property
    def confirmable(self) -> bool:
        """It may have the head trials that a confirmation by repeats takes."""
        return self.most is None or self.most >= HEAD_TRIALS

    @property
    def flip(self) -> Flip | None:
        """The difference between the sides that repeats can confirm."""
        return flip(self.tally("base"), self.tally("head"), self.row.deterministic)

    @property
    def setup_unchecked(self) -> bool:
        """No head trial came past its setup, and base was not tried since it has a history."""
        head = self.tally("head")
        return self.row.presence == "both" and head.setup > 0 and not head.measured and not self.of("base")

    @property
    def demoted(self) -> bool:
        """Said to be deterministic, and is not."""
        return self.row.deterministic and (self.tally("base").mixed or self.tally("head").mixed)
