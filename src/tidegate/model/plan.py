"""What a run consists of: one row per scenario and agent."""

from __future__ import annotations

from typing import Literal

from pydantic import SerializeAsAny

from tidegate.model.agent import Agent
from tidegate.model.suite import Scenario
from tidegate.model.value import Value


class RowKey(Value):
    """Scenario × agent, as in every report; `agent` is `name` or `name:model`."""

    scenario: str
    agent: str


class PlanRow(Value):
    """One scenario with one agent, its model already chosen."""

    key: RowKey
    scenario: Scenario
    agent: SerializeAsAny[Agent]
    deterministic: bool
    presence: Literal["both", "added", "removed"] = "both"  # in which side's suite the row stands
    before: Scenario | None = None  # base's, with those of its checks that head's no longer has as they were


class Plan(Value):
    """The rows of a run, in the order of the suite."""

    rows: tuple[PlanRow, ...]

    def row(self, key: RowKey) -> PlanRow:
        """The row of that key; KeyError if there is none."""
        for row in self.rows:
            if row.key == key:
                return row
        raise KeyError(f"{key.scenario} × {key.agent}")
