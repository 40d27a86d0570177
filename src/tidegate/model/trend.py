"""How base's rows did over its commits. For reports only; trends decide nothing."""

from __future__ import annotations

from tidegate.model.plan import RowKey
from tidegate.model.value import Value

TREND_METRICS = (
    "error_rate",
    "first_try_success_rate",
    "command_count",
    "duration_s",
    "tokens_in",
    "tokens_out",
    "cost_usd",
)


class Mean(Value):
    """The mean of a metric, and the number of trials that have it."""

    mean: float
    trials: int


class TrendPoint(Value):
    """A row's measured trials at one commit of base. `at` is the time of the first, in seconds since the epoch."""

    sha: str
    at: float
    passes: int
    trials: int
    metrics: dict[str, Mean] = {}


class RowTrend(Value):
    """A row over base's commits, oldest first."""

    scenario: str
    agent: str
    points: tuple[TrendPoint, ...]

    @property
    def key(self) -> RowKey:
        """The row's scenario and agent."""
        return RowKey(scenario=self.scenario, agent=self.agent)
