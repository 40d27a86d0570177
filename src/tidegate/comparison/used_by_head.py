"""Finds out whether head can be why a run's budget ended: its trials used more than twice as much as base's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from tidegate.comparison.metric_tests import RowTrials
from tidegate.model.measurement import PastTrial, Run, TrialResult
from tidegate.model.plan import RowKey

MOST = 2.0  # times as much as base's

Amount = Callable[[PastTrial | TrialResult], float | None]


def used_by_head(
    base: Run, head: Run, rows: Mapping[RowKey, RowTrials], shares: Iterable[Iterable[RowKey]] = ()
) -> tuple[str, ...]:
    """Return a sentence for each thing of which head used more than twice as much as base would have used.

    `shares`: the rows of each shard, which had a part of the budget for itself.
    """
    found: dict[str, None] = {}
    for keys in (rows, *shares):
        sides = [rows[key] for key in keys if key in rows]
        found |= dict.fromkeys(_excesses(sides, base.build_s, head.build_s))
    return tuple(found)


class _Kind(NamedTuple):
    """Something that a budget limits. `text` has the amounts on head, and as on base."""

    text: str
    of: Amount


_KINDS = (
    _Kind("head's agents cost ${0:.4g}; as on base, the same trials cost ${1:.4g}", lambda one: one.metrics.cost_usd),
    _Kind("head's agents used {0:,.0f} tokens; as on base, the same trials use {1:,.0f}", lambda one: _tokens(one)),
    _Kind("the judge of head's trials cost ${0:.4g}; as on base, it costs ${1:.4g}", lambda one: _judge_usd(one)),
    _Kind("the judge of head's trials used {0:,.0f} tokens; as on base, it uses {1:,.0f}", lambda one: _judged(one)),
)
_TIME = _Kind("head's build and trials took {0:.3g} s; as on base, they take {1:.3g} s", lambda one: one.seconds)


def _excesses(sides: Sequence[RowTrials], base_build_s: float, head_build_s: float) -> Iterator[str]:
    for kind, before, after in ((_TIME, base_build_s, head_build_s), *((kind, 0.0, 0.0) for kind in _KINDS)):
        amounts = [_compared(side, kind.of) for side in sides]
        of_head, expected = after + sum(own for own, _ in amounts), before + sum(usual for _, usual in amounts)
        if of_head > MOST * expected:
            yield kind.text.format(of_head, expected)
    trials = [trial for side in sides for trial in side.head if trial.decides and not trial.reused]
    screened = sum(trial.phase == "screen" for trial in trials)
    if len(trials) > MOST * screened:
        yield f"head needed {len(trials) - screened} trials more, besides {screened} of the screening"


def _compared(side: RowTrials, amount: Amount) -> tuple[float, float]:
    """Return what head's new trials of a row used, and what the same number uses on base; zeros if one is unknown.

    A trial that the budget cut off would have used more. So it counts only as far as it exceeds base's.
    """
    of_base = _amounts((*side.past, *side.base), amount) or _amounts(side.base, amount, cut_off=True)
    fresh = [trial for trial in side.head if not trial.reused]
    whole, cut_off = _amounts(fresh, amount), _amounts(fresh, amount, cut_off=True)
    if not of_base:
        return 0.0, 0.0
    usual = fmean(of_base)
    return sum(whole) + sum(cut_off), usual * len(whole) + sum(min(usual, one) for one in cut_off)


def _amounts(trials: Iterable[PastTrial | TrialResult], amount: Amount, *, cut_off: bool = False) -> list[float]:
    """Return the known amounts of the measured trials, or of those that the budget cut off."""
    chosen = (one for one in trials if (_is_cut_off(one) if cut_off else one.decides))
    return [found for one in chosen if (found := amount(one)) is not None]


def _is_cut_off(trial: PastTrial | TrialResult) -> bool:
    return isinstance(trial, TrialResult) and trial.not_measured == "budget"


def _tokens(trial: PastTrial | TrialResult) -> float | None:
    return _sum(trial.metrics.tokens_in, trial.metrics.tokens_out)


def _judge_usd(trial: PastTrial | TrialResult) -> float | None:
    use = trial.judge_use if isinstance(trial, TrialResult) else None
    return use.usd if use is not None and use.calls else None


def _judged(trial: PastTrial | TrialResult) -> float | None:
    use = trial.judge_use if isinstance(trial, TrialResult) else None
    return _sum(use.tokens_in, use.tokens_out) if use is not None and use.calls else None


def _sum(read: int | None, written: int | None) -> float | None:
    return None if read is None and written is None else (read or 0) + (written or 0)
