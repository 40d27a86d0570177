"""The scenario's own judge: a rubric of weighted criteria, asked once all gates pass."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tidegate.model.evaluator import Evaluation, Evaluator, Record, Score
from tidegate.rubrics.asking import Answers, ask_until_read
from tidegate.rubrics.forms import scores_form
from tidegate.rubrics.prompts import question, wording
from tidegate.rubrics.reading import Scores, read_scores
from tidegate.rubrics.samples import Criterion, combined, total
from tidegate.rubrics.transcript import transcript

WEIGHTS_WITHIN = 0.01  # of 1, as llm-tool-test has it


class RubricJudge(Evaluator):
    """Scores a trial by a rubric: the sum of the criteria's scores by their weights, which is computed here."""

    type: Literal["judge"] = "judge"
    weight: float = 0.0
    rubric: str = ""  # where it was read, for reports
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    pass_threshold: Annotated[float, Field(ge=0, le=1)] = 0.70

    @model_validator(mode="after")
    def _weighs_one(self) -> Self:
        ids = [criterion.id for criterion in self.criteria]
        if len(set(ids)) < len(ids):
            raise ValueError(f"two criteria have the id `{next(name for name in ids if ids.count(name) > 1)}`")
        whole = sum(criterion.weight for criterion in self.criteria)
        if abs(whole - 1) > WEIGHTS_WITHIN + 1e-9:
            raise ValueError(f"the weights of a rubric sum up to 1, these to {whole:g}")
        return self

    @property
    def judged(self) -> bool:
        """Always."""
        return True

    @property
    def decides(self) -> bool:
        """By its own threshold, not by the case score."""
        return False

    @property
    def wordings(self) -> dict[str, str]:
        """Of each criterion."""
        return {criterion.id: wording("rubric", described(criterion)) for criterion in self.criteria}

    def evaluate(self, record: Record) -> Evaluation:
        """Show the whole transcript, and ask for every criterion."""
        ids = [criterion.id for criterion in self.criteria]
        ask = question(
            "rubric",
            scores_form(ids),
            [described(criterion) for criterion in self.criteria],
            task=record.prompt,
            expected=record.case.expected_outcome,
            transcript=transcript(record.events),
        )
        answers = yield from ask_until_read(ask, partial(read_scores, ids=ids))
        return judged_score(self.criteria, answers, met=self.pass_threshold)


def described(criterion: Criterion) -> str:
    """A criterion as the judge reads it; its weight would not make the judge fairer."""
    return f"- `{criterion.id}`: {' '.join(criterion.description.split())}"


def judged_score(criteria: tuple[Criterion, ...], answers: Answers[Scores], *, met: float) -> Score:
    """All samples as one score; not measured where not even half of them could be read."""
    if not answers.enough:
        lost = f" ({len(answers.read)} of {answers.asked} samples could be read)" if answers.asked > 1 else ""
        return Score.unknown(f"{answers.problem}{lost}", "judge")
    judgement = combined(criteria, answers.read, met=met, asked=answers.asked)
    judgement = judgement.model_copy(update={"model": answers.model})
    unmet = [criterion for criterion in judgement.criteria if criterion.score < met]
    return Score(
        value=total(judgement),
        reason="; ".join(f"{one.id} {one.score:.2f}: {one.reason}".rstrip(": .") for one in unmet[:3]),
        hits=judgement.highlights,
        misses=judgement.issues,
        details={criterion.id: criterion.score for criterion in judgement.criteria},
        judgement=judgement,
    )
