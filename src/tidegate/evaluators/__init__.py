"""All evaluators. A new evaluator is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.evaluators.code_judge import CodeJudge
from tidegate.evaluators.composite import CompositeEvaluator
from tidegate.evaluators.expected_state import ExpectedState
from tidegate.evaluators.llm_judge import LlmJudge
from tidegate.evaluators.parameters import Parameters
from tidegate.evaluators.plan import PlanEvaluator
from tidegate.evaluators.rubrics import Rubrics
from tidegate.evaluators.step_rubrics import StepRubrics
from tidegate.evaluators.tool_f1 import ToolF1
from tidegate.evaluators.tool_trajectory import ToolTrajectory

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
