"""How much better a drop explains head's trials than base's history does: for screening; no error rate rests on it."""

from __future__ import annotations

from functools import cache
from math import exp, log

DROP = 0.5  # the drop that is looked for
PRIOR = (0.3, 0.03)  # of base's rate, a beta distribution: most rows pass nearly always
STEPS = 400


@cache
def drop_odds(passes: int, trials: int, past_passes: int, past_trials: int) -> float:
    """Return the logarithm of the Bayes factor of a drop by DROP against base's rate, given base's earlier trials."""
    fails = trials - passes
    same = dropped = 0.0
    for rate, weight in _posterior(past_passes, past_trials):
        lower = max(rate - DROP, 0.02 * rate)
        same += weight * rate**passes * (1 - rate) ** fails
        dropped += weight * lower**passes * (1 - lower) ** fails
    return log(dropped / same)


@cache
def _posterior(passes: int, trials: int) -> tuple[tuple[float, float], ...]:
    """Return rates between 0 and 1, each with its weight after so many passes."""
    rates = [(step + 0.5) / STEPS for step in range(STEPS)]
    logs = [(passes + PRIOR[0] - 1) * log(rate) + (trials - passes + PRIOR[1] - 1) * log(1 - rate) for rate in rates]
    most = max(logs)
    return tuple((rate, exp(one - most)) for rate, one in zip(rates, logs, strict=True))
