"""Where the trials of a run are carried out, as the runner sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tidegate.model.plan import PlanRow
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec


class TrialExecutor(Protocol):
    """Carries out trials: on this machine (`Attempts`), or in batches by an engine (`Batches`)."""

    halted: bool  # no further trial starts

    def expect(self, specs: Sequence[TrialSpec]) -> None:
        """Prepare for these trials, which are requested in this order."""

    async def trial(self, spec: TrialSpec, row: PlanRow) -> Trial | None:
        """Return the record of an expected trial, whose files are in its side's store; None if halted before."""
