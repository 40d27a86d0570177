"""What the screening showed of one row."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.statistics.confirm import Confirmed
from tidegate.statistics.rules import Counts


class Screened(NamedTuple):
    """One row's screening trials, and what became of it if they looked worse.

    `compared_with`: the history, or base's screening trials. `hit`: it is, or was, to be confirmed.
    """

    head: Counts
    base: Counts
    compared_with: Counts
    hit: bool = False
    confirmed: Confirmed | None = None
    level: float | None = None
