"""Finds out whether head can be why a run's budget ended: base's trials alone would not have ended it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.model.comparison import Overuse
from tidegate.model.measurement import PastTrial, Run, TrialResult
from tidegate.model.plan import RowKey

MOST_OF_JUDGE = 2.0  # times as many tokens as for base's trials; what a judge's answer takes varies
AnyTrial = PastTrial | TrialResult
Amount = Callable[[AnyTrial], float | None]
_Limit = tuple[Literal["s", "US dollars", "tokens", "trials"], float | None, Amount, int]


def used_by_head(
    head: Run, rows: Mapping[RowKey, RowTrials], shares: Iterable[Iterable[RowKey]] = ()
) -> tuple[Overuse, ...]:
    """Return why head can have ended the budget; nothing if base's trials on both sides would have ended it, too.

    Of time, only trials apart from a pull request show that: head can keep base waiting. `shares`: each shard's rows.
    """
    parts = [[rows[key] for key in keys if key in rows] for keys in shares] or [list(rows.values())]
    found: dict[Overuse, None] = {}
    for sides in parts:
        if any(trial.not_measured == "budget" for side in sides for trial in (*side.base, *side.head)):
            found |= dict.fromkeys(_why(head, sides, len(parts)))
    return (*found, *_of_judge(list(rows.values())))


def _why(head: Run, sides: Sequence[RowTrials], parts: int) -> Iterator[Overuse]:
    """Yield what base would have used of each limit, unless it would have exceeded one that can have ended the run."""
    found: list[Overuse] = []
    limits: tuple[_Limit, ...] = (
        ("s", 60 * head.budget.minutes if head.budget.minutes else None, _seconds, head.slots),
        ("US dollars", head.budget.usd, lambda one: one.metrics.cost_usd, 1),
        ("tokens", head.budget.tokens, _tokens, 1),
        ("trials", head.budget.trials, lambda one: 1.0, 1),
    )
    for name, limit, of, share in limits:
        if limit is None:
            continue
        limit = limit if name == "s" else limit / parts
        expected = _expected(sides, of) / share
        if expected > limit and (name != "trials" or _ran(sides) >= limit):
            return
        found.append(Overuse(what=name, base=expected, limit=limit))
    yield from found


def _ran(sides: Sequence[RowTrials]) -> int:
    return sum(one.not_measured != "budget" for side in sides for one in (*side.base, *side.head) if not one.reused)


def _expected(sides: Sequence[RowTrials], of: Amount) -> float:
    """Return what the trials that were asked for would have used as on base. Rows without an amount take the mean."""
    means = [_mean(side, of) for side in sides]
    known = [mean for mean in means if mean is not None]
    usual = fmean(known) if known else 0.0
    return sum((usual if mean is None else mean) * _asked(side) for mean, side in zip(means, sides, strict=True))


def _asked(side: RowTrials) -> int:
    """Return how many trials the screening of both sides asked for; further ones are head's doing."""
    return sum(not trial.reused and trial.phase == "screen" for trial in (*side.base, *side.head))


def _mean(side: RowTrials, of: Amount) -> float | None:
    trials: tuple[AnyTrial, ...] = (*side.past, *side.base)
    amounts = [of(trial) for trial in trials if trial.decides]
    known = [amount for amount in amounts if amount is not None]
    return fmean(known) if known else None


def _seconds(trial: AnyTrial) -> float | None:
    return trial.seconds if isinstance(trial, PastTrial) and not trial.beside_head else None


def _tokens(trial: AnyTrial) -> float | None:
    counts = (trial.metrics.tokens_in, trial.metrics.tokens_out)
    return None if counts == (None, None) else sum(one or 0 for one in counts)


def _of_judge(sides: Sequence[RowTrials]) -> Iterator[Overuse]:
    """Yield the judge's use if the judge's limit ended, and head's trials gave it much more to read than base's."""
    if not any(trial.not_measured == "judge" for side in sides for trial in side.head):
        return
    means = [_judged([trial for side in sides for trial in getattr(side, name)]) for name in ("base", "head")]
    if means[0] and means[1] > MOST_OF_JUDGE * means[0]:
        yield Overuse(what="judge", base=means[0], limit=means[1])


def _judged(trials: Iterable[TrialResult]) -> float:
    uses = [trial.judge_use for trial in trials if trial.judge_use is not None and trial.judge_use.calls]
    return fmean((use.tokens_in or 0) + (use.tokens_out or 0) for use in uses) if uses else 0.0
