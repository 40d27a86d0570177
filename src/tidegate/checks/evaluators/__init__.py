"""All evaluators. A new evaluator is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.composite import CompositeEvaluator
from tidegate.checks.evaluators.expected_state import ExpectedState
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.checks.evaluators.parameters import Parameters
from tidegate.checks.evaluators.plan import PlanEvaluator
from tidegate.checks.evaluators.rubrics import Rubrics, StepRubrics
from tidegate.checks.evaluators.tool_trajectory import ToolF1, ToolTrajectory

AnyEvaluator = Annotated[
    ToolTrajectory
    | Rubrics
    | StepRubrics
    | LlmJudge
    | CodeJudge
    | CompositeEvaluator
    | ExpectedState
    | ToolF1
    | Parameters
    | PlanEvaluator,
    Field(discriminator="type"),
]
"""Every evaluator that a scenario can use, selected by `type`."""

CompositeEvaluator.model_rebuild(_types_namespace={"AnyEvaluator": AnyEvaluator})
