"""All evaluators. A new evaluator is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from tidegate.model.evaluator import Evaluator
from tidegate.model.value import Family

EVALUATORS = Family(
    {
        "tool_trajectory": "tidegate.checks.evaluators.tool_trajectory:ToolTrajectory",
        "rubrics": "tidegate.checks.evaluators.rubrics:Rubrics",
        "step_rubrics": "tidegate.checks.evaluators.rubrics:StepRubrics",
        "llm_judge": "tidegate.checks.evaluators.llm_judge:LlmJudge",
        "code_judge": "tidegate.checks.evaluators.code_judge:CodeJudge",
        "composite": "tidegate.checks.evaluators.composite:CompositeEvaluator",
        "expected_state": "tidegate.checks.evaluators.expected_state:ExpectedState",
        "tool_f1": "tidegate.checks.evaluators.tool_trajectory:ToolF1",
        "parameters": "tidegate.checks.evaluators.parameters:Parameters",
        "plan": "tidegate.checks.evaluators.plan:PlanEvaluator",
    }
)
AnyEvaluator = Annotated[Evaluator, EVALUATORS]
"""Every evaluator that a scenario can use, selected by `type`."""
