"""Evidence from pairs of trials, one of base and one of head, that may be looked at after every pair.

An e-process is a bet against the hypothesis that both sides pass equally often. It begins at 1, and is not expected to
grow if the hypothesis holds. So it ever reaches 1/limit with at most the probability `limit`, at any number of looks
(Ville 1939, Étude critique de la notion de collectif).

For a base rate b and a head rate h, a pair's likelihood is divided by the one at the shared rate (b + h)/2. For any
rate r that both sides share, the expectation of this ratio is at most 1: it is a concave quadratic function of r, with
its maximum, 1, at (b + h)/2. So r may also change from pair to pair. Source: Turner, Ly & Grünwald 2024, J. Stat. Plan.
Inference 230, 106116. A mixture over several (b, h) is an e-process too.
"""

from __future__ import annotations

from functools import cache
from math import exp, inf, log
from typing import NamedTuple

BASE_RATES = (1.0, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35)
DROPS = tuple((base, base * kept) for base in BASE_RATES for kept in (0.0, 0.25, 0.5, 0.65))  # (b, h), weighted alike
STEPS = 50  # rates at which a likelihood is maximized


class Pairs(NamedTuple):
    """The number of measured pairs, and how many of their trials passed on each side."""

    number: int = 0
    head: int = 0
    base: int = 0

    def plus(self, number: int, head: int, base: int) -> Pairs:
        """Return the counts with these added."""
        return Pairs(self.number + number, self.head + head, self.base + base)

    @property
    def drop(self) -> float:
        """How much less often head passes than base, −1 to 1."""
        return (self.base - self.head) / self.number if self.number else 0.0


@cache
def e_of_drop(pairs: Pairs) -> float:
    """Return the evidence that head passes less often than base: the e-process after these pairs."""
    return sum(exp(log_e(pairs, base, head)) for base, head in DROPS) / len(DROPS)


def log_e(pairs: Pairs, base: float, head: float) -> float:
    """Return the logarithm of one e-process of the mixture, that of these two rates."""
    trials, passes = 2 * pairs.number, pairs.head + pairs.base
    apart = _log(pairs.base, pairs.number, base) + _log(pairs.head, pairs.number, head)
    return apart - _log(passes, trials, (base + head) / 2)


@cache
def e_against_drop(pairs: Pairs, drop: float) -> float:
    """Return the evidence that head does not pass less often than base by `drop` or more.

    The likelihood of equal rates, predicted without a look at the pairs, is divided by the largest one that such a drop
    has. Under every such drop, the ratio is expected to be at most 1, at any number of looks (universal inference:
    Wasserman, Ramdas & Balakrishnan 2020, Proc. Natl. Acad. Sci. 117, 16880–16890).
    """
    number, head, base = pairs
    equal = sum(exp(_log(head, number, rate) + _log(base, number, rate)) for rate in BASE_RATES) / len(BASE_RATES)
    rates = (drop + (1 - drop) * step / STEPS for step in range(STEPS + 1))
    seen = head / number if number else 0.0
    most = max(_log(base, number, rate) + _log(head, number, min(seen, rate - drop)) for rate in rates)
    return equal / exp(most) if equal else 0.0


@cache
def e_of_fall(passes: int, trials: int, before: float) -> float:
    """Return the evidence that trials pass less often than at the rate `before` − 0.25, for a fall by 0.5 or more."""
    lowest = before - 0.5
    if lowest < 0:
        return 0.0
    fallen = sum(exp(_log(passes, trials, lowest * step / 10)) for step in range(11)) / 11
    held = max(before - 0.25, passes / trials) if trials else 1.0
    return fallen / exp(_log(passes, trials, held)) if fallen else 0.0


@cache
def _log(passes: int, trials: int, rate: float) -> float:
    """Return the logarithm of the probability of one order of so many passes."""
    fails = trials - passes
    if (passes and rate <= 0) or (fails and rate >= 1):
        return -inf
    return (passes * log(rate) if passes else 0.0) + (fails * log(1 - rate) if fails else 0.0)
