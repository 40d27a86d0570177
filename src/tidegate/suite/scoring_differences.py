"""Differences between Tidegate's scores and those of the tools whose files it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.composite import CompositeEvaluator
from tidegate.checks.evaluators.rubrics import Rubrics
from tidegate.checks.evaluators.tool_f1 import ToolF1
from tidegate.checks.evaluators.tool_trajectory import ToolTrajectory
from tidegate.checks.gates.script import Script
from tidegate.model.evaluator import Evaluator
from tidegate.model.suite import Scenario, Suite

_MODES = {
    "exact": "divides by the longer of both lists, so extra calls cost (AgentV 1.5: they are free)",
    "in_order": "is the longest common subsequence (AgentV 1.5: a missing step loses all after it)",
    "any_order": "is met by a minimum of 0 without calls, and not measured without a trace (AgentV 1.5: 0)",
}
_CODE_JUDGE = (
    "code_judge: prose, a score outside of 0..1 or a score as text is not measured "
    "(AgentV 1.5: 0, the nearer end, and 0); nothing printed is the exit status"
)
_RUBRICS = "rubrics: divides by the weight of all that is declared (AgentV 1.5: of what the judge returned)"
_SCRIPT = "script: fails unless it exits with status 0 (llm-tool-test: a printed `passed` overrides the exit status)"
_TOOL_F1 = "tool_f1: routing accuracy divides by the longer of both lists (Agent Surface: by the expected)"
_COMPOSITE = "composite: weighs only the parts that exist, and says so (llm-tool-test: a missing judge counts as 0)"
_FIRST_TRY = (
    "composite: first-try success is of distinct commands, each with its own exit code "
    "(llm-tool-test: of all commands, by the errors before it)"
)


def departures(suite: Suite) -> tuple[str, ...]:
    """Return one sentence for each difference that affects this suite, without duplicates."""
    judged = suite.unread if any(scenario.judged for scenario in suite.scenarios) else ()
    return tuple(dict.fromkeys((*(sentence for scenario in suite.scenarios for sentence in _of(scenario)), *judged)))


def _of(scenario: Scenario) -> Iterator[str]:
    for evaluator in every(scenario.evaluators):
        match evaluator:
            case ToolTrajectory() if evaluator.mode in _MODES:
                yield f"tool_trajectory: {evaluator.mode} {_MODES[evaluator.mode]}"
            case CodeJudge():
                yield _CODE_JUDGE
            case ToolF1():
                yield _TOOL_F1
            case Rubrics():
                yield _RUBRICS
            case _:
                pass
    if any(isinstance(gate, Script) for gate in scenario.gates):
        yield _SCRIPT
    if scenario.composite:
        yield _COMPOSITE
        if scenario.composite.interaction_weight:
            yield _FIRST_TRY


def every(evaluators: Iterable[Evaluator]) -> Iterator[Evaluator]:
    """Yield the evaluators, including the members of composites at any depth."""
    for evaluator in evaluators:
        yield evaluator
        if isinstance(evaluator, CompositeEvaluator):
            yield from every(evaluator.evaluators)
