"""The plan of the second matrix, whose jobs confirm the rows that look worse after the screening."""

from __future__ import annotations

from typing import ClassVar

from tidegate.model.batch import RowPace
from tidegate.model.shard import ShardPlan
from tidegate.procedure.steps import State


class ConfirmPlan(ShardPlan):
    """Which job confirms which rows. `screening`: the id of the screening's plan. `budget`: what the screening left.

    `state` has all rows to confirm, with their screening trials: how strictly a row is tested depends on the others.
    `pace`: how long base needs.
    """

    jobs: ClassVar[str] = "confirm"

    screening: str
    state: State
    pace: tuple[RowPace, ...] = ()

    @property
    def run(self) -> str:
        """The identity of the run that the plan belongs to: of the screening's plan."""
        return self.screening
