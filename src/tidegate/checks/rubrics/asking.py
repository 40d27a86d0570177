"""Repeat a question until its answer can be read, and combine several answers. Pure: answers are stored in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from functools import partial
from itertools import combinations
from statistics import fmean, median
from typing import Generic, NamedTuple, TypeVar

from tidegate.checks.rubrics.reading import Scores
from tidegate.model.evaluator import CriterionScore, Judgement, Opinion
from tidegate.model.judge import AskModel, ModelAnswer, Reply
from tidegate.model.probe import Answer, Request
from tidegate.model.value import Value

ATTEMPTS = 3
T = TypeVar("T")
_Place = tuple[int, int]  # a judge's place in the panel, and the number of the sample


class Answers(NamedTuple, Generic[T]):
    """The readable answers, by judge and sample. `problem` says why another one could not be read, '' if all could.

    `judges` has one entry per judge that was asked, in the panel's order; a single judge is a panel of one. `refused`
    counts the samples that a judge refused, answered unreadably, or did not answer in time: what a trial left behind
    can cause each of them.
    """

    judges: tuple[JudgeAnswers[T], ...]
    problem: str
    refused: int = 0
    refused_by: tuple[str, ...] = ()  # the models of these judges, or the judges' numbers

    @property
    def spoilt(self) -> bool:
        """True if too few samples would be left, even if an outage had lost none."""
        return 2 * (self.asked - self.refused) <= self.asked

    @property
    def read(self) -> tuple[T, ...]:
        """The readable answers of all judges."""
        return tuple(answer for judge in self.judges for answer in judge.read)

    @property
    def asked(self) -> int:
        """How many answers were asked for."""
        return max(sum(judge.asked for judge in self.judges), 1)

    @property
    def counting(self) -> tuple[JudgeAnswers[T], ...]:
        """The judges of whose samples more than half could be read; none unless that is more than half of the panel."""
        found = tuple(judge for judge in self.judges if 2 * len(judge.read) > judge.asked)
        return found if 2 * len(found) > len(self.judges) else ()


class JudgeAnswers(NamedTuple, Generic[T]):
    """One judge's readable answers, in the order of the samples, and the name of its model."""

    read: tuple[T, ...]
    asked: int
    model: str | None


def ask_until_read(ask: AskModel, read: Callable[[str], T]) -> Generator[Request, Answer, Answers[T]]:
    """Ask, and ask again for each sample that was refused, cut off, or that `read` rejects with a ValueError.

    Gives up after ATTEMPTS attempts.
    """
    found: dict[_Place, T] = {}
    problems: dict[_Place, str] = {}
    models: dict[int, str | None] = {}
    refused: set[_Place] = set()
    again: tuple[_Place, ...] = ()
    for attempt in range(1, ATTEMPTS + 1):
        known = {"attempt": attempt, "again": again, "readable": partial(_can_be_read, read)}
        answer = yield ask.model_copy(update=known)
        unread = []
        for reply in answer.replies if isinstance(answer, ModelAnswer) else ():
            place = reply.judge, reply.sample
            models[reply.judge] = reply.model or models.get(reply.judge)
            try:
                found[place] = _read(reply, read)
                problems.pop(place, None)
                refused.discard(place)
            except _LostError as lost:
                problems[place] = str(lost)
                if reply.end in ("failed", "timeout"):
                    refused.add(place)
            except ValueError as error:
                problems[place] = f"the answer cannot be read: {error}"
                unread.append(place)
                refused.add(place)
        again = tuple(unread)
        if not again:
            break
    problem = next(iter(problems.values()), "" if models else "no judge was asked")
    judges = tuple(_of_judge(number, found, problems, models[number]) for number in sorted(models))
    by = {models[judge] or f"judge {judge + 1}" for judge, _ in refused}
    return Answers(judges, problem, len(refused), tuple(sorted(by)))


def _of_judge(
    number: int, found: Mapping[_Place, T], problems: Collection[_Place], model: str | None
) -> JudgeAnswers[T]:
    own = sorted(place for place in found if place[0] == number)
    lost = sum(judge == number for judge, _ in problems)
    return JudgeAnswers(tuple(found[place] for place in own), len(own) + lost, model)


class _LostError(Exception):
    """The sample is lost: asking again would not help."""


def _can_be_read(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    match reply.end:
        case "answered":
            return read(reply.text)
        case "refused":
            raise ValueError(f"the model refused to answer{_more(reply)}")
        case "max_tokens":
            raise ValueError(f"it was cut off{_more(reply)}")
        case "budget":
            raise _LostError(reply.message)
        case _:
            raise _LostError(reply.message or f"the judge could not be asked: {reply.end}")


def _more(reply: Reply) -> str:
    return f": {reply.message}" if reply.message else ""


class Criterion(Value):
    """What a judge scores. An unmet `required` criterion fails the whole rubric."""

    id: str
    description: str
    weight: float = 1.0
    required: bool = False


def of_panel(criteria: Sequence[Criterion], judges: Mapping[int, Judgement], *, met: float) -> Judgement:
    """Combine the judgements of a panel's judges, by their place: each criterion has the median of their scores."""
    opinions = {
        place: Opinion(judge=place, model=one.model, scores={c.id: c.score for c in one.criteria})
        for place, one in judges.items()
    }
    agreements = [one.agreement for one in judges.values() if one.agreement is not None]
    answers = [
        Scores(
            opinion.scores,
            {criterion.id: criterion.reason for criterion in judges[place].criteria},
            judges[place].confidence,
            *(judges[place].issues, judges[place].highlights),
        )
        for place, opinion in opinions.items()
    ]
    whole = combined(criteria, answers, met=met, asked=sum(one.asked for one in judges.values()))
    return whole.model_copy(
        update={
            "samples": tuple(sample for one in judges.values() for sample in one.samples),
            "agreement": fmean(agreements) if agreements else None,
            "panel": tuple(opinions.values()),
            "panel_agreement": whole.agreement,
        }
    )


def combined(criteria: Sequence[Criterion], answers: Sequence[Scores], *, met: float, asked: int) -> Judgement:
    """Combine one judge's answers. `met` is the score from which a criterion counts as met, for the agreement."""
    weights = {criterion.id: criterion.weight for criterion in criteria}
    confidences = [answer.confidence for answer in answers if answer.confidence is not None]
    scores = tuple(_criterion(criterion, answers) for criterion in criteria)
    middle = median([weighted(weights, answer.scores) for answer in answers])
    nearest = min(answers, key=lambda answer: abs(weighted(weights, answer.scores) - middle))
    return Judgement(
        criteria=scores,
        met=met,
        samples=tuple(weighted(weights, answer.scores) for answer in answers),
        asked=asked,
        agreement=_agreement(criteria, answers, met),
        confidence=median(confidences) if confidences else None,
        issues=nearest.issues,
        highlights=nearest.highlights,
    )


def weighted(weights: dict[str, float], scores: dict[str, float]) -> float:
    """Return Σ weight·score / Σ weight over the declared criteria."""
    return sum(weight * scores[name] for name, weight in weights.items()) / sum(weights.values())


def total(judgement: Judgement) -> float:
    """Return the weighted score of the criteria's medians."""
    weights = {criterion.id: criterion.weight for criterion in judgement.criteria}
    return weighted(weights, {criterion.id: criterion.score for criterion in judgement.criteria})


def _criterion(criterion: Criterion, answers: Sequence[Scores]) -> CriterionScore:
    scores = [answer.scores[criterion.id] for answer in answers]
    middle = median(scores)
    nearest = min(answers, key=lambda answer: abs(answer.scores[criterion.id] - middle))
    return CriterionScore(
        id=criterion.id,
        description=criterion.description,
        score=middle,
        reason=nearest.reasons.get(criterion.id, ""),
        weight=criterion.weight,
        required=criterion.required,
        spread=max(scores) - min(scores),
    )


def _agreement(criteria: Sequence[Criterion], answers: Sequence[Scores], met: float) -> float | None:
    """Return the share of answer pairs that agree (met or not) over all criteria; None for a single answer."""
    pairs = list(combinations(answers, 2))
    if not pairs:
        return None
    same = [
        (one.scores[criterion.id] >= met) == (other.scores[criterion.id] >= met)
        for criterion in criteria
        for one, other in pairs
    ]
    return fmean(same)
