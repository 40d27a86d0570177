"""Agreement of two raters: the raw rate, and Cohen's kappa, which corrects for chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import NormalDist

Table = Mapping[tuple[str, str], int]
"""Counts: (first rater's label, second rater's label) → number of items."""


def agreement_rate(table: Table) -> float | None:
    """Return the share of items that both raters label alike, 0..1; None for an empty table."""
    total = sum(table.values())
    return sum(count for (one, other), count in table.items() if one == other) / total if total else None


def cohens_kappa(table: Table, confidence: float = 0.95) -> tuple[float, tuple[float, float]] | None:
    """Return Cohen's kappa, −1..1, with its asymptotic interval, which is wide for few items.

    None if kappa is undefined: the table is empty, or both raters use one and the same label only.
    Sources: Cohen 1960, Educ. Psychol. Meas. 20, 37–46; Fleiss, Cohen & Everitt 1969, Psychol. Bull. 72, 323–327.
    """
    total = sum(table.values())
    words = sorted({word for pair in table for word in pair})
    if not total:
        return None
    share = {(one, other): table.get((one, other), 0) / total for one in words for other in words}
    first = {one: sum(share[one, other] for other in words) for one in words}
    second = {other: sum(share[one, other] for one in words) for other in words}
    seen = sum(share[word, word] for word in words)
    chance = sum(first[word] * second[word] for word in words)
    if 1 - chance < 1e-12:
        return None
    kappa = (seen - chance) / (1 - chance)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(
        _variance(share, first, second, words, seen, chance) / total
    )
    return kappa, (kappa - half, kappa + half)


def _variance(
    share: Mapping[tuple[str, str], float],
    first: Mapping[str, float],
    second: Mapping[str, float],
    words: Sequence[str],
    seen: float,
    chance: float,
) -> float:
    """Return the asymptotic variance of kappa times the number of items (Fleiss, Cohen & Everitt 1969)."""
    same = sum(share[word, word] * ((1 - chance) - (first[word] + second[word]) * (1 - seen)) ** 2 for word in words)
    apart = (1 - seen) ** 2 * sum(
        share[one, other] * (second[one] + first[other]) ** 2 for one in words for other in words if one != other
    )
    rest = (seen * chance - 2 * chance + seen) ** 2
    return max(0.0, same + apart - rest) / (1 - chance) ** 4
