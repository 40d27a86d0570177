"""pass@k and pass^k of one scenario: average them over scenarios, never pool the trials first."""

from __future__ import annotations

from math import comb


def pass_at_k(passes: int, trials: int, k: int) -> float:
    """Probability that at least one of k trials passes, unbiased: 1 − C(n−c, k)/C(n, k) (Chen et al. 2021).

    ValueError for k > trials: it is not defined there, and a smaller k would answer another question.
    """
    _check(passes, trials, k)
    return 1 - comb(trials - passes, k) / comb(trials, k)


def pass_hat_k(passes: int, trials: int, k: int) -> float:
    """Probability that all of k trials pass, unbiased: C(c, k)/C(n, k) (Yao et al. 2024); ValueError for k > trials."""
    _check(passes, trials, k)
    return comb(passes, k) / comb(trials, k)


def _check(passes: int, trials: int, k: int) -> None:
    if not (0 <= passes <= trials and 1 <= k <= trials):
        raise ValueError(f"needs 1 ≤ k ≤ trials: k = {k}, {passes} of {trials} passed")
