"""The verdict: one decision that drives the comment, the outputs, the status and the exit code."""

from __future__ import annotations

from typing import Literal, Self

from tidegate.model.value import Value

VerdictState = Literal["passed", "failed", "inconclusive", "not_run"]
VerdictReason = Literal[
    "no_regression",
    "nothing_to_do",
    "draft",
    "accepted",
    "regression",
    "setup_regression",
    "checks_less",
    "metric",
    "unconfirmed",
    "unproven",
    "nothing_passes",
    "nothing_compared",
    "infrastructure",
    "budget",
    "fork_without_key",
    "missing_key",
    "no_scenarios",
    "unusable_agent",
    "cancelled",
]


class Verdict(Value):
    """The decision. `summary` is one line with the key numbers; `would_block` is the decision of blocking mode.

    `why_advisory` is set if the mode is not the suite's own.
    """

    state: VerdictState
    reason: VerdictReason
    exit_code: int
    summary: str
    reasons: tuple[str, ...] = ()
    own_reasons: tuple[str, ...] = ()  # of these, those that no row, definition or warning about a metric gives
    mode: Literal["blocking", "advisory"] = "blocking"
    why_advisory: str = ""
    would_block: bool = False
    accepted_by: str | None = None

    def accepted(self, actor: str) -> Self:
        """Return the verdict as accepted by `actor`: regressions are still reported and no longer block."""
        passed = {"state": "passed", "reason": "accepted", "exit_code": 0, "would_block": False, "accepted_by": actor}
        return self.model_copy(update=passed)
