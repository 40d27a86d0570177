"""The evaluators `rubrics` and `step_rubrics`."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from tidegate.checks.evaluators.rubric_judge import described, judged_score
from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.rubrics.asking import Criterion, ask_until_read
from tidegate.checks.rubrics.prompts import MAX_PART, MAX_TEXT, question, wording
from tidegate.checks.rubrics.reading import (
    Scores,
    checks_form,
    entries_of,
    list_of,
    mapping_of,
    object_of,
    one_of,
    read_checks,
)
from tidegate.checks.rubrics.work import call_line, candidate_answer, line, work_of
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Score
from tidegate.model.event import ToolCall, ToolResult
from tidegate.model.value import Value
from tidegate.text.shorten import both_ends, excerpt

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

    judged: ClassVar[bool] = True

    rubrics: Annotated[RubricItems, Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids = [criterion.id for criterion in self.criteria]
        if len(set(ids)) < len(ids):
            raise ValueError(f"two of its rubrics have the id `{next(name for name in ids if ids.count(name) > 1)}`")
        return self

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The items with their ids."""
        return tuple(
            Criterion(**{**dict(item), "id": item.id or f"rubric-{number}"})
            for number, item in enumerate(self.rubrics, 1)
        )


class Rubrics(RubricList):
    """Asks the judge whether each item of `rubrics` is satisfied. The score is the weight of the satisfied items / the
    weight of all items. The evaluator fails if a `required` item (the default) is not satisfied.

    The judge answers `{checks: [{id, reasoning, satisfied}]}` ([answer formats](judges.md#what-it-answers)). An item is
    a text, or `{id, description, weight, required}`. Inline `rubrics` of an AgentV case use this evaluator.
    """

    type: Literal["rubrics"] = "rubrics"

    @property
    def wordings(self) -> dict[str, str]:
        """The hash of each item's prompt."""
        return {criterion.id: wording("checks", described(criterion)) for criterion in self.criteria}

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
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
    reason = "; ".join(f"{one.id} is not met: {one.reason}".rstrip(": .") for one in unmet[:3])
    return score.model_copy(update={"passes": not any(one.required for one in unmet), "reason": reason})


_FORM = '{"criteria": [{"id": "…", "unmet": [{"step": 2, "reason": "…"}]}, …]}'
_TEMPLATE = "steps"
MOST_STEPS = 400  # that have room in one question
MARKS = 70  # characters beside a step: its number, and that it is cut


class StepRubrics(RubricList):
    """Asks the judge, for each item of `rubrics`, which steps of the agent do not meet it. A step is a call of one of
    the agent's tools with its result, or a recorded call of the tool under test if the agent reports no calls.

    An item's score is the share of steps that meet it, and the evaluator's score the mean by `weight`. An item is met
    if `at_least` that share of the steps meets it; the evaluator fails if a `required` item (the default) is not met.
    The reasons name the steps. A trial without steps, or with more than 400, is not measured. An item is a text, or
    `{id, description, weight, required}`.

    The judge answers `{criteria: [{id, unmet: [{step, reason}]}]}` ([answer formats](judges.md#what-it-answers)).
    """

    type: Literal["step_rubrics"]
    at_least: Annotated[float, Field(gt=0, le=1)] = 0.8

    @property
    def wordings(self) -> dict[str, str]:
        """The hash of each item's prompt."""
        return {criterion.id: wording(_TEMPLATE, described(criterion)) for criterion in self.criteria}

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Ask the judge about all items and all steps at once."""
        steps = steps_of(record)
        if not steps:
            return Score.unknown("the agent took no step that could be judged")
        if len(steps) > MOST_STEPS:
            return Score.unknown(f"the agent took {len(steps)} steps; at most {MOST_STEPS} can be judged")
        ids = [criterion.id for criterion in self.criteria]
        ask = question(
            _TEMPLATE,
            _form(ids),
            [described(criterion) for criterion in self.criteria],
            task=record.prompt,
            expected=record.case.expected_outcome,
            steps="\n\n".join(_shown(number, step, len(steps)) for number, step in enumerate(steps, 1)),
            count=len(steps),
        )
        answers = yield from ask_until_read(ask, partial(_read, ids=ids, count=len(steps)))
        score = judged_score(self.criteria, answers, met=self.at_least)
        if score.judgement is None:
            return score
        unmet = [one for one in score.judgement.criteria if one.score < self.at_least]
        return score.model_copy(update={"passes": not any(one.required for one in unmet)})


def steps_of(record: EvaluatorRecord) -> list[str]:
    """Return the agent's steps: its tool calls with their results, else the recorded calls of the tool under test."""
    results = {event.id: line(event) for event in record.events if isinstance(event, ToolResult)}
    calls = [event for event in record.events if isinstance(event, ToolCall)]
    if calls:
        return ["\n".join(filter(None, (line(call), results.get(call.id)))) for call in calls]
    return [call_line(call) for call in record.invocations]


def _shown(number: int, step: str, count: int) -> str:
    """Return a step with its number, so short that all steps have room."""
    return f"step {number}: {both_ends(step, min(MAX_PART, MAX_TEXT // count - MARKS))}"


def _form(ids: Collection[str]) -> dict[str, Any]:
    unmet = list_of(object_of(step={"type": "integer"}, reason={"type": "string"}))
    return object_of(criteria=list_of(object_of(id=one_of(list(ids)), unmet=unmet)))


def _read(text: str, ids: Collection[str], count: int) -> Scores:
    """Parse the answer: each criterion exactly once, with the numbers of the steps that do not meet it."""
    scores, reasons = {}, {}
    for name, entry in entries_of(mapping_of(text), "criteria", _FORM, ids).items():
        unmet = _unmet(name, entry.get("unmet"), count)
        scores[name] = 1 - len(unmet) / count
        reasons[name] = "; ".join(f"step {step}: {reason}" for step, reason in sorted(unmet.items()))
    return Scores(scores, reasons)


def _unmet(name: str, entries: object, count: int) -> dict[int, str]:
    """Return the reason of each step that does not meet the criterion."""
    if not isinstance(entries, list):
        raise ValueError(f"`unmet` of `{name}` is not a list; expected {_FORM}")
    found: dict[int, str] = {}
    for entry in entries:
        step, reason = (entry.get("step"), entry.get("reason")) if isinstance(entry, dict) else (None, None)
        if not isinstance(step, int) or isinstance(step, bool) or not 1 <= step <= count or step in found:
            raise ValueError(f"`{name}` names the step {excerpt(repr(step), 20)}; there are 1 to {count}, each once")
        found[step] = excerpt(reason, 200) if isinstance(reason, str) else ""
    return found
