"""Measures what agents spend while they run, and enforces the limits of runs and trials."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.agents.invocations.metrics import cost_of
from tidegate.model.event import End
from tidegate.model.prices import Price
from tidegate.model.suite import Budget
from tidegate.model.trial_spec import NotMeasured


class Spending:
    """What a run has spent so far, including running trials. `others` returns (USD, tokens) spent besides agents."""

    def __init__(self, budget: Budget, others: Callable[[], tuple[float, int]] = lambda: (0.0, 0)) -> None:
        self._budget = budget
        self._others = others
        self._usd = 0.0
        self._tokens = 0

    def meter(self, price: Price | None, most_usd: float | None) -> CostMeter:
        """Return a meter for one attempt at a trial, with the model's price and the scenario's own limit."""
        return CostMeter(self, price, most_usd)

    def add(self, usd: float, tokens: int) -> None:
        """Count what an attempt has spent since it last told."""
        self._usd += usd
        self._tokens += tokens

    def leaves_room(self, usd: float, tokens: int) -> bool:
        """Return True if the run's budget is enough for so much more."""
        spent_usd, spent_tokens = self.spent()
        most_usd, most_tokens = self._budget.usd, self._budget.tokens
        enough = most_usd is None or spent_usd + usd <= most_usd
        return enough and (most_tokens is None or spent_tokens + tokens <= most_tokens)

    def used_up(self) -> str | None:
        """Return a message if the run's budget is used up, else None."""
        usd, tokens = self._budget.usd, self._budget.tokens
        spent_usd, spent_tokens = self.spent()
        if usd is not None and spent_usd >= usd:
            return f"the run's ${usd:g} were used up"
        if tokens is not None and spent_tokens >= tokens:
            return f"the run's {tokens:,} tokens were used up"
        return None

    def spent(self) -> tuple[float, int]:
        """Return the US dollars and the tokens that were spent so far."""
        usd, tokens = self._others()
        return usd + self._usd, tokens + self._tokens


class CostMeter:
    """What one attempt has spent, as far as its agent reports it."""

    def __init__(self, spending: Spending, price: Price | None, most_usd: float | None) -> None:
        self._spending = spending
        self.price = price
        self._most_usd = most_usd
        self.usd = 0.0
        self.tokens = 0

    def tell(self, told: End) -> None:
        """Update the meter. Agents report running totals, so the largest value counts."""
        usd = max(self.usd, cost_of(told, self.price) or 0.0)
        tokens = max(self.tokens, (told.tokens_in or 0) + (told.tokens_out or 0))
        self._spending.add(usd - self.usd, tokens - self.tokens)
        self.usd, self.tokens = usd, tokens

    def leaves_room(self, told: End) -> bool:
        """Return True if an attempt that tells this is within its own limit and the run's."""
        usd = max(self.usd, cost_of(told, self.price) or 0.0)
        tokens = max(self.tokens, (told.tokens_in or 0) + (told.tokens_out or 0))
        enough = self._most_usd is None or usd <= self._most_usd
        return enough and self._spending.leaves_room(usd - self.usd, tokens - self.tokens)

    def over(self) -> tuple[str, NotMeasured] | None:
        """Return why the attempt has to stop, and what that makes of it: its own limit, or the run's; else None."""
        if self._most_usd is not None and self.usd >= self._most_usd:
            return f"the scenario's ${self._most_usd:g} for a trial were used up", "resources"
        used_up = self._spending.used_up()
        return None if used_up is None else (used_up, "budget")
