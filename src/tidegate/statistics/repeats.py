"""What a few repeats settle without chance: deterministic scenarios, and setups that fail (verdict.md)."""

from __future__ import annotations

from typing import Literal, NamedTuple

HEAD_TRIALS = 3  # the flip itself and two more
BASE_TRIALS = 2  # the trial that the flip was seen against and one more

Flip = Literal["setup", "worse", "better"]


class Tally(NamedTuple):
    """One side's trials of a row: measured ones that passed or failed, and two kinds that have no outcome."""

    passes: int = 0
    fails: int = 0
    setup: int = 0  # the setup, the health check or the build failed
    excluded: int = 0  # anything else that kept them from being measured

    @property
    def measured(self) -> int:
        """Trials with an outcome."""
        return self.passes + self.fails

    @property
    def mixed(self) -> bool:
        """The same thing gave different outcomes."""
        return self.passes > 0 and self.fails > 0


def flip(base: Tally, head: Tally, deterministic: bool) -> Flip | None:
    """What differs between the sides in every trial of theirs; `setup` for any row, outcomes for deterministic ones."""
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
    """How many more trials on base and on head would confirm the flip; (0, 0): it is confirmed."""
    shown = head.setup if kind == "setup" else head.measured
    return max(0, BASE_TRIALS - base.measured), max(0, HEAD_TRIALS - shown)
