"""pass@k and pass^k of one scenario. For a suite, average them over scenarios; do not pool the trials."""

from __future__ import annotations

from math import comb


def pass_at_k(passes: int, trials: int, k: int) -> float:
    """Return the unbiased estimate of P(at least one of k trials passes): 1 − C(n−c, k)/C(n, k).

    ValueError unless 1 ≤ k ≤ trials: it is undefined elsewhere. Source: Chen et al. 2021, arXiv:2107.03374, eq. 1.
    """
    _check(passes, trials, k)
    return 1 - comb(trials - passes, k) / comb(trials, k)


def pass_hat_k(passes: int, trials: int, k: int) -> float:
    """Return the unbiased estimate of P(all of k trials pass): C(c, k)/C(n, k).

    ValueError unless 1 ≤ k ≤ trials. Source: Yao et al. 2024, arXiv:2406.12045.
    """
    _check(passes, trials, k)
    return comb(passes, k) / comb(trials, k)


def _check(passes: int, trials: int, k: int) -> None:
    if not (0 <= passes <= trials and 1 <= k <= trials):
        raise ValueError(f"needs 1 ≤ k ≤ trials: k = {k}, {passes} of {trials} passed")
