"""The scenario's own judge: a rubric of weighted criteria, used only if all gates pass."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from tidegate.checks.rubrics.asking import Answers, Criterion, ask_until_read, combined, of_panel, total
from tidegate.checks.rubrics.prompts import question, wording
from tidegate.checks.rubrics.reading import Scores, read_scores, scores_form
from tidegate.checks.rubrics.work import work_of
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Judgement, Score
from tidegate.model.probe import FileAnswer, ReadFile

AnswerField = Literal["scores", "weighted_score", "confidence", "issues", "highlights"]
WEIGHTS_WITHIN = 0.01  # tolerance of the weights' sum, as in llm-tool-test


class RubricJudge(Evaluator):
    """Scores a trial by a rubric: the sum of weight · score over the criteria, computed here and not by the model."""

    judged: ClassVar[bool] = True
    decides: ClassVar[bool] = False  # it decides by its own threshold, not through the case score

    type: Literal["judge"] = "judge"
    weight: float = 0.0
    rubric: str = ""  # where it was read from, for reports
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    require_fields: tuple[AnswerField, ...] = ()  # an answer without them cannot be read
    files: tuple[str, ...] = ()  # of the workspace, which the judge sees whole
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
    def wordings(self) -> dict[str, str]:
        """The hash of each criterion's prompt."""
        return {criterion.id: wording("rubric", described(criterion)) for criterion in self.criteria}

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Show the judge all of the agent's work, and ask for every criterion."""
        files: dict[str, str | None] = {}
        for path in self.files:
            found = yield ReadFile(path=path)
            files[path] = found.text if isinstance(found, FileAnswer) else None
        ids = [criterion.id for criterion in self.criteria]
        ask = question(
            "rubric",
            scores_form(ids),
            [described(criterion) for criterion in self.criteria],
            task=record.prompt,
            expected=record.case.expected_outcome,
            work=work_of(record.events, record.invocations, record.diff, files),
        )
        answers = yield from ask_until_read(ask, partial(read_scores, ids=ids, required=self.require_fields))
        return judged_score(self.criteria, answers, met=self.pass_threshold)


def described(criterion: Criterion) -> str:
    """Return a criterion as the judge reads it. The weight is left out, since it must not influence the score."""
    return f"- `{criterion.id}`: {' '.join(criterion.description.split())}"


def judged_score(
    criteria: tuple[Criterion, ...], answers: Answers[Scores], *, met: float, yes_or_no: bool = False
) -> Score:
    """Combine all answers into one score; with `yes_or_no`, each judge says either for each criterion.

    Not measured unless more than half of a judge's samples could be read, and more than half of a panel's judges count.
    """
    judgement = _judgement(criteria, answers, met, yes_or_no)
    if judgement is None:
        lost = f" ({len(answers.read)} of {answers.asked} samples could be read)" if answers.asked > 1 else ""
        return Score.unknown(f"{answers.problem}{lost}", "unreadable_judge" if answers.spoilt else "judge")
    unmet = [criterion for criterion in judgement.criteria if criterion.score < met]
    return Score(
        value=total(judgement),
        reason="; ".join(f"{one.id} {one.score:.2f}: {one.reason}".rstrip(": .") for one in unmet[:3]),
        hits=judgement.highlights,
        misses=judgement.issues,
        details={criterion.id: criterion.score for criterion in judgement.criteria},
        judgement=judgement,
        notes=tuple(f"{model} gives no answer that can be read" for model in answers.refused_by),
    )


def _judgement(
    criteria: tuple[Criterion, ...], answers: Answers[Scores], met: float, yes_or_no: bool
) -> Judgement | None:
    """Return the judgement of the judge, or of the panel; None if too few answers could be read."""
    found: dict[int, Judgement] = {}
    for place, judge in enumerate(answers.judges):
        if judge in answers.counting:
            own = combined(criteria, judge.read, met=met, asked=judge.asked)
            own = own.model_copy(update={"model": judge.model})
            found[place] = rounded(own) if yes_or_no else own
    if len(answers.judges) <= 1 or not found:
        return found.get(0)
    panel = of_panel(criteria, found, met=met)
    return rounded(panel) if yes_or_no else panel


def rounded(judgement: Judgement) -> Judgement:
    """Return the judgement with each criterion either met (1) or not (0); a tie is not."""
    criteria = (one.model_copy(update={"score": float(one.score >= judgement.met)}) for one in judgement.criteria)
    return judgement.model_copy(update={"criteria": tuple(criteria)})
