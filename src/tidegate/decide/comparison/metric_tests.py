"""Find metrics that got worse over the suite, by a test and by a margin. They warn, or block with `block_metrics`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, log, sqrt
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

from tidegate.decide.statistics.means import mean_shift, t_above, van_elteren
from tidegate.decide.statistics.rates import bh
from tidegate.model.comparison import MetricChange
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.suite import RULES, Rule

Q = 0.05  # false discovery rate of warnings (Benjamini and Hochberg)
FEW_RUNS = 4  # with fewer runs in the history, their variation is not estimated
RUN_SPREAD = 0.2  # assumed then: the standard deviation from run to run, as a share; of others, their margin
RUN_GAP = 0.5  # seconds: trials of one run are stored a millisecond apart
_CLOSE = 1e-9


class RowTrials(NamedTuple):
    """The trials of one row whose metrics are compared; `past` is base's history."""

    past: Sequence[PastTrial]
    base: Sequence[TrialResult]
    head: Sequence[TrialResult]


def compared_metrics(rows: Sequence[RowTrials]) -> dict[str, MetricChange]:
    """Return each metric that both sides have, or head alone lacks: its change over the scenarios, interval, q, and
    whether it warns.
    """
    found: dict[str, MetricChange] = {}
    tested: dict[str, float] = {}
    for name, rule in RULES.items():
        pairs = [_values(name, rule, row) for row in rows]
        strata = [pair for pair in pairs if pair[0] and pair[1]]
        missing = [_missing(name, row) for row in rows]
        if strata:
            sign = -1 if rule.lower_is_worse else 1
            p = van_elteren([([sign * x for x in head], [sign * x for x in base]) for head, base in strata])
            found[name] = _change(rule, strata)
            assumed = RUN_SPREAD if rule.ratio else rule.margin
            tested[name] = max(p, by_run_to_run(_runs(name, rule, rows), sign * _shift(found[name]), assumed))
        if any(missing):
            known = found.get(name, MetricChange(base=None, head=None))
            update = {"missing": sum(missing), "worst": _worst(rule, pairs, missing)}
            found[name] = known.model_copy(update=update)
    for name, q in zip(tested, bh([*tested.values()]), strict=True):
        change = found[name]
        found[name] = change.model_copy(update={"q": q, "warns": q <= Q and matters(name, change)})
    return found


def by_run_to_run(runs: Sequence[float], shift: float, assumed: float) -> float:
    """Return the p of a shift as large as this one if only the run differs from those of the history.

    `runs`: each earlier run's mean deviation, on the scale that is compared, so that it includes the trials' own
    scatter. Trials of one run share the provider's state of that day, which no number of trials averages out. With
    fewer than FEW_RUNS, that variation is unknown: `assumed` is its standard deviation then.
    """
    if not runs:
        return 0.0
    both = sqrt(1 + 1 / len(runs))  # head's run varies, and so does the mean of the earlier ones
    if len(runs) < FEW_RUNS:
        return 1 - NormalDist().cdf(shift / (assumed * both))
    spread = stdev(runs) * both
    return t_above(shift / spread, len(runs) - 1) if spread > _CLOSE else 0.0


def matters(name: str, change: MetricChange) -> bool:
    """Return True if the metric got worse by its own margin or more."""
    return is_worse(name, change, RULES[name].margin)


def is_worse(name: str, change: MetricChange, margin: float) -> bool:
    """Return True if the metric got worse by `margin` or more."""
    rule = RULES[name]
    if change.effect is None:
        return False
    worse = change.effect - 1 if rule.ratio else -change.effect if rule.lower_is_worse else change.effect
    return worse >= margin - _CLOSE


def _values(name: str, rule: Rule, row: RowTrials) -> tuple[list[float], list[float]]:
    """Return head's and base's values on the scale that is compared; missing values are left out, not counted as 0."""
    earlier = () if rule.concurrent else row.past
    return _scaled(name, rule, row.head), _scaled(name, rule, (*earlier, *row.base))


def _worst(rule: Rule, pairs: Sequence[tuple[list[float], list[float]]], missing: Sequence[int]) -> float | None:
    """Return the effect if so many missing values of head are 0; None if more is worse, which has no limit."""
    filled = [([*head, *[0.0] * count], base) for (head, base), count in zip(pairs, missing, strict=True)]
    strata = [pair for pair in filled if pair[0] and pair[1]]
    return _change(rule, strata).effect if strata and rule.lower_is_worse else None


def _missing(name: str, row: RowTrials) -> int:
    """Return how many of head's passing trials lack the metric, beyond the share of base's that do.

    A model judges only trials that pass their gates; how many do is compared by itself.
    """
    head, base = (
        [getattr(trial.metrics, name) is None for trial in side if trial.decides == "pass"]
        for side in (row.head, row.base)
    )
    return max(0, sum(head) - round(sum(base) * len(head) / len(base))) if base and not all(base) else 0


def _scaled(name: str, rule: Rule, trials: Sequence[TrialResult | PastTrial]) -> list[float]:
    known = [getattr(trial.metrics, name) for trial in trials if trial.decides is not None]
    if not rule.ratio:
        return [float(value) for value in known if value is not None]
    return [log(value + rule.plus) for value in known if value is not None and value + rule.plus > 0]


def _runs(name: str, rule: Rule, rows: Sequence[RowTrials]) -> list[float]:
    """Return, for each run of the history, the mean over its trials of the deviation from their row's mean."""
    if rule.concurrent:
        return []
    found: list[tuple[float, float]] = []
    for row in rows:
        values = [(trial.at, value) for trial in row.past for value in _scaled(name, rule, [trial])]
        mean = fmean(value for _, value in values) if values else 0.0
        found += [(at, value - mean) for at, value in values]
    runs: list[list[float]] = []
    for (before, _), (at, deviation) in pairwise([(-inf, 0.0), *sorted(found)]):
        if at - before > RUN_GAP:
            runs.append([])
        runs[-1].append(deviation)
    return [fmean(deviations) for deviations in runs]


def _shift(change: MetricChange) -> float:
    assert change.effect is not None
    return log(change.effect) if change.scale == "ratio" else change.effect


def _change(rule: Rule, strata: Sequence[tuple[list[float], list[float]]]) -> MetricChange:
    shift = mean_shift(strata)
    assert shift is not None  # every stratum has both sides
    effect, interval = shift
    head, base = (fmean(fmean(stratum[side]) for stratum in strata) for side in (0, 1))
    if not rule.ratio:
        return MetricChange(base=base, head=head, effect=effect, interval=interval)
    return MetricChange(
        base=exp(base) - rule.plus,
        head=exp(head) - rule.plus,
        effect=exp(effect),
        interval=interval and (exp(interval[0]), exp(interval[1])),
        scale="ratio",
    )
