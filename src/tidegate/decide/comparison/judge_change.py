"""The judge's results for both sides of a row: scores, criteria, and trials that it could not judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean

from tidegate.decide.statistics.means import moderated_drops
from tidegate.decide.statistics.rates import bh
from tidegate.decide.trust import agreement, criterion_name, judgements, not_judged
from tidegate.model.comparison import CriterionScores, JudgeChange, JudgeSide, Row
from tidegate.model.measurement import PastTrial, TrialResult

MOST_NAMED = 3  # issues and highlights of a side that reports show
MARGIN = 0.05  # smallest change of a score, 0..1, that is reported
Q = 0.025  # false discovery rate of warnings over the judged rows
LEAST_SD = 0.03  # of a judge's scores: equal scores of a few trials do not mean that it never errs
Scored = Iterable[TrialResult | PastTrial]


def judge_change(
    base: Sequence[TrialResult],
    head: Sequence[TrialResult],
    past: Sequence[PastTrial] = (),
) -> JudgeChange | None:
    """Return the judge's results for both sides of a row, before the test; None if no judge was configured."""
    sides = {"base": [*filter(_is_judged, base)], "head": [*filter(_is_judged, head)]}
    if not any(sides.values()):
        return None
    before, after = _side(sides["base"], past), _side(sides["head"])
    return JudgeChange(
        base=before,
        head=after,
        difference=None if after.score is None or before.score is None else after.score - before.score,
        criteria=tuple(_criteria(sides["base"], sides["head"])),
    )


def with_judge_tests(rows: Sequence[Row], trials: Sequence[tuple[Scored, Scored]]) -> list[Row]:
    """Return the rows with the test of the judge's scores. `trials`: head's of each row, and base's with its history.

    Rows are tested together, and warn at a false discovery rate of Q. A row without an interval never warns.
    """
    judged = [place for place, row in enumerate(rows) if row.judge is not None]
    drops = moderated_drops([(_scores(trials[place][0]), _scores(trials[place][1])) for place in judged], LEAST_SD)
    tested = [(place, drop) for place, drop in zip(judged, drops, strict=True) if drop is not None]
    found = list(rows)
    for (place, drop), q in zip(tested, bh([drop.p for _, drop in tested]), strict=True):
        warns = q <= Q and drop.difference <= -MARGIN + 1e-9 and drop.interval[1] < 0
        known = {"difference": drop.difference, "interval": drop.interval, "q": q, "warns": warns}
        judge = rows[place].judge
        found[place] = rows[place].model_copy(update={"judge": judge and judge.model_copy(update=known)})
    return found


def _is_judged(trial: TrialResult) -> bool:
    return trial.judge is not None or any(result.judged for result in trial.evaluators)


def _scores(trials: Scored) -> list[float]:
    return [trial.metrics.judge_score for trial in trials if trial.metrics.judge_score is not None]


def _side(trials: Sequence[TrialResult], past: Sequence[PastTrial] = ()) -> JudgeSide:
    scores, earlier = _scores(trials), _scores(past)
    reasons = [*filter(None, map(not_judged, trials))]
    answers = [said for trial in trials for said in judgements(trial).values()]
    confidences = [said.confidence for said in answers if said.confidence is not None]
    return JudgeSide(
        score=fmean([*earlier, *scores]) if earlier or scores else None,
        past=len(earlier),
        judged=len(scores),
        below=sum(map(_is_below, trials)),
        not_judged=len(reasons),
        reason=reasons[0] if reasons else "",
        agreement=agreement(trials),
        confidence=fmean(confidences) if confidences else None,
        issues=_most_frequent(said.issues for said in answers),
        highlights=_most_frequent(said.highlights for said in answers),
    )


def _most_frequent(named: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(text for text, _ in Counter(chain.from_iterable(named)).most_common(MOST_NAMED))


def _is_below(trial: TrialResult) -> bool:
    own = trial.judge is not None and trial.judge.passed is False
    return own or any(result.judged and result.verdict in ("borderline", "fail") for result in trial.evaluators)


def _criteria(base: Sequence[TrialResult], head: Sequence[TrialResult]) -> Iterable[CriterionScores]:
    before, after = _by_criterion(base), _by_criterion(head)
    for name in dict.fromkeys(chain(before, after)):
        scores = {
            side: [score for score, _ in found.get(name, ())] for side, found in (("base", before), ("head", after))
        }
        lowest = min(after.get(name, ()), default=(0.0, ""))
        yield CriterionScores(
            criterion=name,
            base=fmean(scores["base"]) if scores["base"] else None,
            head=fmean(scores["head"]) if scores["head"] else None,
            reason=lowest[1],
        )


def _by_criterion(trials: Iterable[TrialResult]) -> Mapping[str, list[tuple[float, str]]]:
    found: dict[str, list[tuple[float, str]]] = {}
    for trial in trials:
        for evaluator, said in judgements(trial).items():
            for one in said.criteria:
                found.setdefault(criterion_name(evaluator, one.id), []).append((one.score, one.reason))
    return found
