"""Progress of a tool's mutants: how many were run, and how long the others will take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tidegate.model.mutant import MutantResult
from tidegate.model.progress import Progress

FIRST, EACH = 5, 10  # mutants after which the time is first estimated, and those between two lines


@dataclass
class MutantPace:
    """Shows how many of `total` mutants were run, and estimates the rest from those of this run."""

    total: int
    progress: Progress
    began: float = field(default_factory=time.monotonic)
    seen: int = 0
    caught: int = 0
    reused: int = 0

    def saw(self, result: MutantResult, *, reused: bool = False) -> None:
        """Count a result. `reused`: of an interrupted run."""
        self.seen += 1
        self.caught += result.state == "caught"
        self.reused += reused
        if self.seen in (FIRST, self.total) or self.seen % EACH == 0:
            self.progress.say(f"{self.seen} of {self.total} mutants run, {self.caught} caught{self._left()}")

    def _left(self) -> str:
        run, left = self.seen - self.reused, self.total - self.seen
        if run < FIRST or not left:
            return ""
        seconds = left * (time.monotonic() - self.began) / run
        return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"
