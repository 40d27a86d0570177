"""The screening result of one row."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.procedure.confirm import Confirmed
from tidegate.procedure.rules import Counts


class Screened(NamedTuple):
    """One row's screening trials, and its confirmation if they looked worse.

    `compared_with`: base's history, or base's screening trials without history. `hit`: the row looked worse.
    """

    head: Counts
    base: Counts
    compared_with: Counts
    hit: bool = False
    confirmed: Confirmed | None = None
    level: float | None = None
