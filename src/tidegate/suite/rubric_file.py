"""A rubric file as it is written (scenarios.md, Judge)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tidegate.model.value import Value
from tidegate.suite.fields import Text

Asked = Literal["scores", "weighted_score", "confidence", "issues", "highlights"]


class CriterionFile(Value):
    """One criterion; all weights of a rubric sum up to 1."""

    id: Text
    weight: Annotated[float, Field(gt=0, le=1)]
    description: Text


class OutputFile(Value):
    """The form of the answer, which is always the same here."""

    format: Literal["json"] = "json"
    require_fields: tuple[Asked, ...] = ()


class RubricFile(Value):
    """A rubric."""

    name: Text | None = None
    description: Text | None = None
    criteria: tuple[CriterionFile, ...] = Field(min_length=1)
    output: OutputFile = OutputFile()
