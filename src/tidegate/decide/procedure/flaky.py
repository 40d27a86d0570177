"""Flaky rows. Only base's trials count, so that a pull request cannot excuse its own regression (verdict.md)."""

from __future__ import annotations

from tidegate.decide.procedure.rules import Counts

TOO_LOW, AT_LEAST = 0.7, 10  # a row is flaky below this pass rate, over at least this many base trials


def is_flaky(base: Counts) -> bool:
    """Return True if base itself fails often: a label, since flaky rows are screened and confirmed like all others."""
    passes, trials = base
    return trials >= AT_LEAST and passes < TOO_LOW * trials
