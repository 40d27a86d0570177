"""The keys of a rubric file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tidegate.checks.evaluators.rubric_judge import AnswerField
from tidegate.model.field_types import Text
from tidegate.model.value import Value


class CriterionFile(Value):
    """One criterion of a rubric. The weights of all criteria must sum to 1."""

    id: Text
    weight: Annotated[float, Field(gt=0, le=1)]
    description: Text


class OutputFile(Value):
    """The format of the judge's answer, which is always JSON, and the fields that each answer must have."""

    format: Literal["json"] = "json"
    require_fields: tuple[AnswerField, ...] = ()


class RubricFile(Value):
    """A rubric: the criteria by which a judge scores a trial."""

    name: Text | None = None
    description: Text | None = None
    criteria: tuple[CriterionFile, ...] = Field(min_length=1)
    output: OutputFile = OutputFile()
