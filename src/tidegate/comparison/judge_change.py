"""The judge's results for both sides of a row: scores, criteria, and trials that it could not judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean

from tidegate.model.comparison import CriterionChange, JudgeChange, JudgeSide, WinRate
from tidegate.model.judgement import Judgement, PairJudgement
from tidegate.model.measurement import TrialResult
from tidegate.statistics.ranks import mean_shift
from tidegate.statistics.wins import win_rate

MOST_NAMED = 3  # issues and highlights of a side that reports show
MARGIN = 0.05  # smallest change of a score, 0..1, that is reported


def judge_change(
    base: Sequence[TrialResult], head: Sequence[TrialResult], pairs: Iterable[PairJudgement] = ()
) -> JudgeChange | None:
    """Return the judge's results for both sides of a row; None if no judge was configured."""
    sides = {"base": [*filter(_is_judged, base)], "head": [*filter(_is_judged, head)]}
    if not any(sides.values()):
        return None
    scores = {side: _scores(trials) for side, trials in sides.items()}
    shift = mean_shift([(scores["head"], scores["base"])]) if scores["head"] and scores["base"] else None
    difference, interval = shift or (None, None)
    fell = difference is not None and difference <= -MARGIN + 1e-9
    return JudgeChange(
        base=_side(sides["base"]),
        head=_side(sides["head"]),
        difference=difference,
        interval=interval,
        warns=fell and (interval is None or interval[1] < 0),
        criteria=tuple(_criteria(sides["base"], sides["head"])),
        pairs=tuple(_wins(pairs := tuple(pairs))),
        pairs_lost=len(lost := [pair.problem for pair in pairs if pair.problem]),
        pairs_reason=lost[0] if lost else "",
    )


def judgements(trial: TrialResult) -> dict[str, Judgement]:
    """Return the judgements of a trial by evaluator; the key '' is the scenario's own judge."""
    own = {"": trial.judge.judgement} if trial.judge else {}
    others = {result.name: result.judgement for result in trial.evaluators}
    return {name: said for name, said in (own | others).items() if said is not None}


def not_judged(trial: TrialResult) -> str:
    """Return why the judge could not judge the trial; '' if it could, or did not have to."""
    if trial.judge and trial.judge.not_measured:
        return trial.judge.reason
    if any(gate.required and not gate.passed for gate in trial.gates):
        return ""  # the judge is not run once a required gate has failed
    return next((result.reason for result in trial.evaluators if result.judged and result.score is None), "")


def agreement(trials: Iterable[TrialResult]) -> float | None:
    """Return how often the judge agreed with itself, 0..1: a mean over repeated questions; None if there are none."""
    shares = [said.agreement for trial in trials for said in judgements(trial).values()]
    known = [share for share in shares if share is not None]
    return fmean(known) if known else None


def panel_agreement(trials: Iterable[TrialResult]) -> float | None:
    """Return how often two judges of a panel agree, 0..1; None if there is no panel."""
    known = [said.panel_agreement for trial in trials for said in judgements(trial).values()]
    shares = [share for share in known if share is not None]
    return fmean(shares) if shares else None


def criterion_name(evaluator: str, criterion: str) -> str:
    """Return a criterion's name in reports and labels, with the evaluator's name as prefix: `evaluator/criterion`."""
    return criterion if not evaluator else evaluator if criterion == "score" else f"{evaluator}/{criterion}"


def _wins(pairs: Sequence[PairJudgement]) -> Iterable[WinRate]:
    for name in dict.fromkeys(name for pair in pairs for name in pair.said):
        said = Counter(pair.said[name] for pair in pairs if name in pair.said)
        rate, interval = win_rate(said["better"], said["worse"], said["same"])
        yield WinRate(
            criterion=name,
            better=said["better"],
            worse=said["worse"],
            same=said["same"],
            rate=rate,
            interval=interval,
        )


def _is_judged(trial: TrialResult) -> bool:
    return trial.judge is not None or any(result.judged for result in trial.evaluators)


def _scores(trials: Iterable[TrialResult]) -> list[float]:
    return [trial.metrics.judge_score for trial in trials if trial.metrics.judge_score is not None]


def _side(trials: Sequence[TrialResult]) -> JudgeSide:
    scores = _scores(trials)
    reasons = [*filter(None, map(not_judged, trials))]
    answers = [said for trial in trials for said in judgements(trial).values()]
    confidences = [said.confidence for said in answers if said.confidence is not None]
    return JudgeSide(
        score=fmean(scores) if scores else None,
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


def _criteria(base: Sequence[TrialResult], head: Sequence[TrialResult]) -> Iterable[CriterionChange]:
    before, after = _by_criterion(base), _by_criterion(head)
    for name in dict.fromkeys(chain(before, after)):
        scores = {
            side: [score for score, _ in found.get(name, ())] for side, found in (("base", before), ("head", after))
        }
        lowest = min(after.get(name, ()), default=(0.0, ""))
        yield CriterionChange(
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
