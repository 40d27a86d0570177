"""The evaluator `rubrics`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from tidegate.checks.evaluators.rubric_judge import described, judged_score
from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.rubrics.asking import ask_until_read
from tidegate.checks.rubrics.prompts import question, wording
from tidegate.checks.rubrics.reading import checks_form, read_checks
from tidegate.checks.rubrics.samples import Criterion
from tidegate.checks.rubrics.work import candidate_answer, work_of
from tidegate.model.evaluator import Evaluation, Evaluator, Record, Score
from tidegate.model.value import Value

_MET = 0.75  # median of yes/no samples: more than half of them say yes


class RubricItem(Value):
    """One check. A plain text is its description; without an `id` it is named `rubric-N`."""

    id: NonEmpty | None = None
    description: NonEmpty
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    required: bool = True


def _items(value: Any) -> Any:
    """Convert texts to items."""
    if not isinstance(value, list | tuple):
        return value
    return tuple({"description": item} if isinstance(item, str) else item for item in value)


RubricItems = Annotated[tuple[RubricItem, ...], BeforeValidator(_items)]


class RubricList(Evaluator):
    """An evaluator with a list of `rubrics` that a judge is asked about."""

    rubrics: Annotated[RubricItems, Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids = [criterion.id for criterion in self.criteria]
        if len(set(ids)) < len(ids):
            raise ValueError(f"two of its rubrics have the id `{next(name for name in ids if ids.count(name) > 1)}`")
        return self

    @property
    def judged(self) -> bool:
        """Always True."""
        return True

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The items with their ids."""
        return tuple(
            Criterion(**{**dict(item), "id": item.id or f"rubric-{number}"})
            for number, item in enumerate(self.rubrics, 1)
        )


class Rubrics(RubricList):
    """Asks the judge whether each item of `rubrics` is satisfied. The score is the weight of the satisfied items / the
    weight of all items. An item that the judge omits is not satisfied, one that it names twice counts once, and an
    unknown one is ignored; the result notes each of these. The evaluator fails if a `required` item (the default) is
    not satisfied.

    The judge answers `{checks: [{id, reasoning, satisfied}]}` ([answer formats](judges.md#what-it-answers)). An item is
    a text, or `{id, description, weight, required}`. Inline `rubrics` of an AgentV case use this evaluator.
    """

    type: Literal["rubrics"] = "rubrics"

    @property
    def wordings(self) -> dict[str, str]:
        """The hash of each item's prompt."""
        return {criterion.id: wording("checks", described(criterion)) for criterion in self.criteria}

    def evaluate(self, record: Record) -> Evaluation:
        """Ask the judge about all items at once."""
        ids = [criterion.id for criterion in self.criteria]
        ask = question(
            "checks",
            checks_form(ids),
            [described(criterion) for criterion in self.criteria],
            task=record.prompt,
            expected=record.case.expected_outcome,
            reference=record.case.reference_answer,
            work=work_of(record.events, record.invocations, record.diff),
            answer=candidate_answer(record.events),
        )
        answers = yield from ask_until_read(ask, partial(read_checks, ids=ids))
        return _whole(judged_score(self.criteria, answers, met=_MET, yes_or_no=True))


def _whole(score: Score) -> Score:
    """Return the score with whether it passes, and its reason in terms of yes and no."""
    if score.judgement is None:
        return score
    unmet = [one for one in score.judgement.criteria if not one.score]
    reason = _reason([(one.id, one.reason) for one in unmet], score.judgement.notes)
    return score.model_copy(update={"passes": not any(one.required for one in unmet), "reason": reason})


def _reason(unmet: Sequence[tuple[str, str]], notes: Sequence[str]) -> str:
    return "; ".join([*(f"{name} is not met: {reason}".rstrip(": .") for name, reason in unmet[:3]), *notes[:3]])
