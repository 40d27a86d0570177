"""The detection power as bars, for the HTML report: how likely the run was to find a drop of each size."""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.value import Value
from tidegate.reports.filters import percent


class PowerBar(Value):
    """One size of a drop, with the share of runs that find it as a number and as text."""

    drop: str
    share: float
    text: str


def power_bars(detection: Mapping[str, float]) -> tuple[PowerBar, ...]:
    """Return one bar per size of the drop, the smallest first."""
    found = sorted((-float(drop), share) for drop, share in detection.items())
    return tuple(PowerBar(drop=_drop(drop), share=share, text=percent(share)) for drop, share in found)


def _drop(drop: float) -> str:
    return "to 0" if drop >= 1 else f"−{100 * drop:.0f}"
