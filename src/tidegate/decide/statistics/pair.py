"""Passes and trials of one row on both sides."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """Passes and trials of one row on both sides; each side has at least one trial."""

    head_pass: int
    head_n: int
    base_pass: int
    base_n: int
