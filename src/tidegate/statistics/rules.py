"""The numbers of screen, confirm and verify (verdict.md), and what they are applied to."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tidegate.model.suite import Policy
from tidegate.model.trial import Phase, Side

SCREENING = {"quick": 1, "standard": 3, "thorough": 5}  # k0 of the presets
DELTA = 0.10  # so near to base's rate head has recovered
LEAST_HISTORY = 8  # min_hist: with fewer base trials of old, fresh ones are run
Counts = tuple[int, int]  # passes, trials


class Rules(NamedTuple):
    """The parameters of the procedure; the defaults are verdict.md's. Its names are in the comments."""

    alpha: float = 0.02
    fail_fast: bool = True
    suite: Literal["off", "warn", "block"] = "warn"
    heads: int = 8  # K: head trials of a confirmation, without those of its verification
    first_heads: int = 3  # j0: head trials before the first look
    guard_bases: int = 3  # g: fresh base trials that history is checked against
    verify_bases: int = 10  # g2: fresh base trials of a verified row
    verify_heads: int = 2  # vh
    tau_early: float = 0.05  # a screen hit before the last round
    tau_last: float = 0.15  # a screen hit in the last round
    tau_last_alone: float = 0.25  # the same without history
    guard: float = 0.20  # history is contradicted for this row
    drift_p: float = 0.05  # history is contradicted over all confirmed rows
    suite_screen: float = 0.10
    suite_alpha: float = 0.005  # alpha_s
    suite_rounds: int = 3

    @property
    def most_heads(self) -> int:
        """K + vh: head trials of a whole confirmation."""
        return self.heads + self.verify_heads

    @classmethod
    def of(cls, policy: Policy) -> Rules:
        """What the policy says, and the defaults for all else."""
        return cls(alpha=policy.alpha, fail_fast=policy.fail_fast, suite=policy.suite)


class Facts(NamedTuple):
    """What has to be known of a row before its first trial.

    `history`: base's earlier trials; `screening`: k0; `most`: head trials over all phases; `flaky`: too unsteady on
    base to be confirmed by itself; `blocks`: its regression may end the run (fail_fast).
    """

    history: Counts = (0, 0)
    screening: int = 3
    most: int | None = None
    flaky: bool = False
    blocks: bool = True


class Ask(NamedTuple):
    """One trial that is to be run: of the row with that number."""

    row: int
    side: Side
    phase: Phase


def level(rules: Rules, place: int, has_history: bool) -> float:
    """What the `place`-th row to be confirmed is tested at: alpha/(j(j+1)), half of it without history."""
    return rules.alpha / (place * (place + 1)) / (1 if has_history else 2)
