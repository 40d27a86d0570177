"""How base's rows did over its commits: numbers to look at, which decide nothing."""

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
    """The mean of a metric, over so many trials that had it."""

    mean: float
    trials: int


class TrendPoint(Value):
    """A row's measured trials at one commit of base. `at`: of the first of them, seconds since the epoch."""

    sha: str
    at: float
    passes: int
    trials: int
    metrics: dict[str, Mean] = {}


class RowTrend(Value):
    """A row over base's commits, the oldest first."""

    scenario: str
    agent: str
    points: tuple[TrendPoint, ...]

    @property
    def key(self) -> RowKey:
        """Scenario × agent."""
        return RowKey(scenario=self.scenario, agent=self.agent)
