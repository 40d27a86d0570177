"""The evaluator `composite`."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import Field, model_validator

from tidegate.checks.evaluators import EVALUATORS
from tidegate.checks.evaluators.code_judge import judged
from tidegate.checks.evaluators.llm_judge import one_score, one_wording
from tidegate.checks.gates.fields import NonEmpty, ShellCommand
from tidegate.checks.rubrics.prompts import RESULTS, filled, question
from tidegate.checks.rubrics.reading import score_form
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Score
from tidegate.model.judge import AskModel
from tidegate.model.probe import Answer, Request, RunJudge
from tidegate.model.value import Value

if TYPE_CHECKING:
    from tidegate.checks.evaluators import AnyEvaluator

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class WeightedAverage(Value):
    """Σ score·weight / Σ weight. A member that `weights` does not name uses its own weight."""

    type: Literal["weighted_average"] = "weighted_average"
    weights: dict[str, Weight] = {}


class CodeAggregator(Value):
    """A script reads `{results: {name: {score, verdict, hits, misses, reasoning}}}` and prints the output of a
    code_judge.
    """

    type: Literal["code_judge"] = "code_judge"
    path: ShellCommand
    cwd: NonEmpty | None = None
    timeout_secs: float = Field(default=60, gt=0, le=86_400)


class LlmAggregator(Value):
    """The judge's model reads the same results and answers like an llm_judge. `prompt` is your own prompt file."""

    type: Literal["llm_judge"] = "llm_judge"
    prompt: NonEmpty | None = None


AnyAggregator = Annotated[WeightedAverage | CodeAggregator | LlmAggregator, Field(discriminator="type")]


class CompositeEvaluator(Evaluator):
    """Combines the scores of other `evaluators`, which may be composites themselves. Their names must differ.

    `aggregator` is one of:

    - `{type: weighted_average, weights: {NAME: WEIGHT}}`: the default, with the members' own weights
    - `{type: code_judge, path: SCRIPT}`: the script reads
    `{results: {NAME: {score, verdict, hits, misses, reasoning}}}` and prints the output of a code_judge.
    After members that ask the judge, its workspace is rebuilt from the diff: without times, other modes than
    executable, changes of HOME, and branches. Check these in a gate
    - `{type: llm_judge, prompt: FILE}`: the judge scores the same results, which replace `{{EVALUATOR_RESULTS_JSON}}`
    in your prompt, or are part of the default prompt

    The composite fails if a `required` member does not pass. So does a weighted average if a required part of a member
    with a weight fails. The composite is not measured if a member that counts is not measured.
    """

    type: Literal["composite"] = "composite"
    evaluators: tuple[AnyEvaluator, ...] = Field(min_length=1)
    aggregator: AnyAggregator = WeightedAverage()

    @model_validator(mode="after")
    def _members_fit(self) -> Self:
        names = [member.label for member in self.evaluators]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two of its evaluators are named `{twice}`: give them a `name`")
        if isinstance(self.aggregator, WeightedAverage):
            if unknown := [name for name in self.aggregator.weights if name not in names]:
                raise ValueError(f"`weights` names `{unknown[0]}`, which is none of its evaluators")
            if not any(self._weights().values()):
                raise ValueError("needs an evaluator with a weight above 0")
        return self

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Evaluate the members, then aggregate their scores."""
        scores = yield from _scores({member.label: member.evaluate(record) for member in self.evaluators})
        weights = self._weights()
        averaged = isinstance(self.aggregator, WeightedAverage)
        broken = {name for name, score in scores.items() if averaged and weights[name] > 0 and not score.passes}
        required = {m.label for m in self.evaluators if m.required}
        failed = [
            name for name, score in scores.items() if name in broken or (name in required and score.verdict != "pass")
        ]
        for name, score in scores.items():
            if score.missing and (weights[name] > 0 or name in failed):
                return Score.unknown(f"{name}: {score.reason}", score.missing)
        total = yield from self._total(scores)
        if total.missing:
            return total
        details = {name: score.value for name, score in scores.items() if score.value is not None}
        what = "which is required, did not pass" if required & {*failed[:1]} else "of which a required part failed"
        reason = f"{failed[0]}, {what}: {scores[failed[0]].reason}" if failed else total.reason
        return total.model_copy(
            update={
                "details": details,
                "reason": reason,
                "passes": not failed,
                "members": scores,
                **_labelled(scores, total),
            }
        )

    @property
    def members(self) -> tuple[Evaluator, ...]:
        """Its evaluators."""
        return self.evaluators

    @property
    def judged(self) -> bool:
        """True if the aggregator is a model or any member is judged."""
        return isinstance(self.aggregator, LlmAggregator) or any(member.judged for member in self.evaluators)

    @property
    def compared_tools(self) -> frozenset[str]:
        """The tools that its members compare."""
        return frozenset().union(*(member.compared_tools for member in self.evaluators))

    @property
    def wordings(self) -> dict[str, str]:
        """The hash of the aggregator's prompt, if it is a model. The members' prompts are not recorded separately."""
        return one_wording("aggregate", self.aggregator.prompt) if isinstance(self.aggregator, LlmAggregator) else {}

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """The scripts of its members and of its aggregator."""
        of_members = [script for member in self.evaluators for script in member.scripts]
        if isinstance(self.aggregator, CodeAggregator):
            of_members.append((self.aggregator.path, self.aggregator.cwd or "."))
        return tuple(of_members)

    def _total(self, scores: dict[str, Score]) -> Evaluation:
        match self.aggregator:
            case WeightedAverage():
                return _mean(scores, self._weights())
            case CodeAggregator(path=path, cwd=folder, timeout_secs=timeout):
                stdin = json.dumps({"results": _results(scores)})
                return judged((yield RunJudge(command=path, stdin=stdin, folder=folder or ".", timeout_secs=timeout)))
            case LlmAggregator(prompt=prompt):
                results = json.dumps(_results(scores), ensure_ascii=False, indent=1)
                if prompt is None:
                    return (yield from one_score(question("aggregate", score_form(), results=results)))
                return (yield from one_score(filled(prompt, {RESULTS: results}, score_form())))

    def _weights(self) -> dict[str, float]:
        """Return each member's weight. If a script or a model aggregates, every member counts 1."""
        if not isinstance(self.aggregator, WeightedAverage):
            return {member.label: 1.0 for member in self.evaluators}
        return {member.label: self.aggregator.weights.get(member.label, member.weight) for member in self.evaluators}


# As a union, since only pydantic's own can hold itself in a JSON Schema.
_union: Any = Union[tuple(EVALUATORS.members.values())]  # noqa: UP007  (not known before)
CompositeEvaluator.model_rebuild(_types_namespace={"AnyEvaluator": Annotated[_union, Field(discriminator="type")]})


def _scores(evaluations: Mapping[str, Evaluation]) -> Generator[Request, Answer, dict[str, Score]]:
    """Return each member's score.

    All workspace requests come first, since the workspace no longer exists when a model is asked.
    """
    reached: dict[str, AskModel | Score] = {}
    for name, evaluation in evaluations.items():
        reached[name] = yield from _up_to_the_model(evaluation)
    scores: dict[str, Score] = {}
    for name, step in reached.items():
        scores[name] = step if isinstance(step, Score) else (yield from _from_the_model_on(evaluations[name], step))
    return scores


def _up_to_the_model(evaluation: Evaluation) -> Generator[Request, Answer, AskModel | Score]:
    try:
        request = next(evaluation)
        while not isinstance(request, AskModel):
            request = evaluation.send((yield request))
    except StopIteration as end:
        score: Score = end.value
        return score
    return request


def _from_the_model_on(evaluation: Evaluation, request: Request) -> Evaluation:
    try:
        while True:
            request = evaluation.send((yield request))
    except StopIteration as end:
        score: Score = end.value
        return score


def _results(scores: dict[str, Score]) -> dict[str, dict[str, Any]]:
    """Return what an aggregator reads about each member."""
    return {
        name: {
            "score": score.value,
            "verdict": score.verdict,
            "hits": score.hits,
            "misses": score.misses,
            "reasoning": score.reason,
        }
        for name, score in scores.items()
    }


def _mean(scores: dict[str, Score], weights: dict[str, float]) -> Score:
    parts = [(weights[name], score) for name, score in scores.items() if weights[name] > 0]
    value = sum(weight * (score.value or 0) for weight, score in parts) / sum(weight for weight, _ in parts)
    low = [f"[{name}] {score.reason}" for name, score in scores.items() if score.reason and weights[name] > 0]
    return Score(value=value, reason="; ".join(low))


def _labelled(scores: dict[str, Score], total: Score) -> dict[str, tuple[str, ...]]:
    """Return the aggregator's hits and misses, followed by those of all members, labelled with their names."""
    return {
        kind: (*own, *(f"[{name}] {text}" for name, score in scores.items() for text in getattr(score, kind)))
        for kind, own in (("hits", total.hits), ("misses", total.misses))
    }
