"""Where the numbers of a suite are computed in another way than by the tools whose files it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.evaluators.composite import CompositeEvaluator
from tidegate.evaluators.tool_trajectory import ToolTrajectory
from tidegate.model.evaluator import Evaluator
from tidegate.model.suite import Suite

_MODES = {
    "exact": "divides by the longer of both lists, so extra calls cost (AgentV 1.5: they are free)",
    "in_order": "is the longest common subsequence (AgentV 1.5: a missing step loses all after it)",
    "any_order": "is met by a minimum of 0 without calls, and not measured without a trace (AgentV 1.5: 0)",
}
_COMPOSITE = "weighs only the parts that exist, and says so (llm-tool-test: a missing judge counts as 0)"


def departures(suite: Suite) -> tuple[str, ...]:
    """One sentence for each departure that matters here, each once."""
    found = dict.fromkeys(
        f"tool_trajectory: {evaluator.mode} {_MODES[evaluator.mode]}"
        for scenario in suite.scenarios
        for evaluator in every(scenario.evaluators)
        if isinstance(evaluator, ToolTrajectory) and evaluator.mode in _MODES
    )
    composite = any(scenario.composite for scenario in suite.scenarios)
    return (*found, *([f"composite: {_COMPOSITE}"] if composite else []))


def every(evaluators: Iterable[Evaluator]) -> Iterator[Evaluator]:
    """The evaluators with the members of composites."""
    for evaluator in evaluators:
        yield evaluator
        if isinstance(evaluator, CompositeEvaluator):
            yield from every(evaluator.evaluators)
