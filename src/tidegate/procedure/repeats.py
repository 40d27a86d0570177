"""Confirmation by repeats, for deterministic scenarios and for setups that fail (verdict.md)."""

from __future__ import annotations

from typing import Literal, NamedTuple

HEAD_TRIALS = 3  # head trials of a confirmed flip: the first and two repeats
BASE_TRIALS = 2  # base trials of a confirmed flip: the first and one repeat

Flip = Literal["setup", "worse", "better"]


class Tally(NamedTuple):
    """Counts of one side's trials of a row: passed, failed, and two kinds without an outcome."""

    passes: int = 0
    fails: int = 0
    setup: int = 0  # the setup, the health check or the build failed
    excluded: int = 0  # anything else that kept them from being measured

    @property
    def measured(self) -> int:
        """Number of trials with an outcome."""
        return self.passes + self.fails

    @property
    def mixed(self) -> bool:
        """True if some trials passed and some failed."""
        return self.passes > 0 and self.fails > 0


def flip(base: Tally, head: Tally, deterministic: bool) -> Flip | None:
    """Return the difference that holds in all trials: `setup` for any row, `worse` or `better` for deterministic ones.

    None if there is none, or base has no measured trial.
    """
    if not base.measured:
        return None
    if head.setup and not head.measured:
        return None if base.setup else "setup"
    if not deterministic or base.mixed or head.mixed or not head.measured:
        return None
    if bool(base.passes) == bool(head.passes):
        return None
    return "worse" if base.passes else "better"


def repeats_needed(kind: Flip, base: Tally, head: Tally) -> tuple[int, int]:
    """Return how many more trials base and head need to confirm the flip; (0, 0) if it is confirmed."""
    shown = head.setup if kind == "setup" else head.measured
    return max(0, BASE_TRIALS - base.measured), max(0, HEAD_TRIALS - shown)
