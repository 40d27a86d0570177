"""The metrics that are compared, each with the change that matters. A suite file names them."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """How a metric is compared. `margin`: the smallest change that matters, as a difference or as ratio − 1."""

    margin: float
    ratio: bool = False
    lower_is_worse: bool = False
    concurrent: bool = False  # it depends on the machine and the provider's load, so history is not comparable
    plus: float = 0.0  # added before the logarithm, for metrics that can be 0


# A new metric joins the family whose false-discovery rate is limited, and is a value of `policy.block_metrics`.
RULES = {
    "error_rate": Rule(0.05),
    "retry_rate": Rule(0.05),
    "first_try_success_rate": Rule(0.05, lower_is_worse=True),
    "iteration_ratio": Rule(0.05, lower_is_worse=True),
    "help_count": Rule(0.5),
    "plan_adherence": Rule(0.05, lower_is_worse=True),
    "tool_routing_accuracy": Rule(0.05, lower_is_worse=True),
    "tool_precision": Rule(0.05, lower_is_worse=True),
    "parameter_schema_valid": Rule(0.05, lower_is_worse=True),
    "case_score": Rule(0.05, lower_is_worse=True),
    "judge_score": Rule(0.05, lower_is_worse=True),
    "command_count": Rule(0.15, ratio=True, plus=1.0),
    "tokens_in": Rule(0.15, ratio=True),
    "tokens_out": Rule(0.15, ratio=True),
    "cost_usd": Rule(0.15, ratio=True),
    "duration_s": Rule(0.25, ratio=True, concurrent=True),
}
