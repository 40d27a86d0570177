"""What a comparison knows about a row before its trials, and from earlier pushes."""

from __future__ import annotations

from typing import Literal

from tidegate.model.plan import RowKey, row_key
from tidegate.model.row_replay import RowReplay
from tidegate.model.suite import TrialCounts
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value


class EarlierPushes(Value):
    """What earlier runs of the same pull request showed for a row.

    `state`: the last finding. `pairs`: number of pairs in which it regressed, and the passes of head and base in them.
    `failed`: any run had a failure on head and none on base. `pushes`: earlier pushes in which any row was tested on
    pairs; all pushes of a pull request share `policy.alpha`.
    """

    state: Literal["regressed", "unconfirmed", "ok"] = "ok"
    pairs: tuple[int, int, int] = (0, 0, 0)
    failed: bool = False
    pushes: int = 0


class RunRow(Value):
    """What a comparison needs to know about a row besides its trials."""

    scenario: str
    agent: str
    deterministic: bool
    purpose: Literal["regression", "capability"] = "regression"
    task: str = ""  # the start of the prompt
    source: str | None = None  # origin of the case
    presence: Literal["both", "added", "removed"] = "both"
    can_fail: bool = True  # False: no gate or evaluator is required, so every trial passes
    definition: str = ""  # hash of the scenario's definition
    fingerprint: str = ""  # hash of everything that makes base's trials exchangeable; '' if not computed
    trials: TrialCounts = TrialCounts()
    earlier: EarlierPushes = EarlierPushes()
    no_agent: NotMeasured | None = None  # why no agent may be run for it
    replay: RowReplay | None = None  # head only: what base's recorded sessions show; None if none was replayed

    @property
    def turn(self) -> int:
        """When the row is run: 0, then 1 for head's own definitions, so that these never use up base's budget."""
        return int(self.presence == "added")

    @property
    def key(self) -> RowKey:
        """The row's scenario and agent."""
        return row_key(self.scenario, self.agent)
