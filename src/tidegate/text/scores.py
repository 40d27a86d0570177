"""Scores and p-values as people read them."""

from __future__ import annotations


def p_text(p: float) -> str:
    """Return a p-value or its limit with two significant digits: `0.0033`, `1.9e-7`."""
    return f"{p:.2g}".replace("e-0", "e-")


def score_text(value: float, limit: float | None = None) -> str:
    """Return a score with two digits, or with as many as it takes to see that it is below `limit`, or is not.

    0.825 keeps its third digit: rounded either way, it would look like another score.
    """
    exact, shown = round(value, 9), ""
    for digits in range(2, 10):
        shown = f"{exact:.{digits}f}"
        if digits == 2 and exact == round(exact, 3) != round(exact, 2):
            continue
        if limit is None or (float(shown) >= limit) == (exact >= limit):
            break
    return shown
