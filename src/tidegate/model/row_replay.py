"""What replaying the recorded sessions of one row showed."""

from __future__ import annotations

from typing import Literal

from tidegate.model.plan import RowKey
from tidegate.model.value import Value


class Difference(Value):
    """The first step of a session whose result differs: the step, and what it shows on base and on head."""

    step: str
    base: str
    head: str
    number: int = 1  # of the step, from 1


class LeftOut(Value):
    """Why a recorded session does not count. `detail`: the step, or what a trial said."""

    code: Literal["not_replayed", "lost", "guidance", "tools", "unsteady", "unlike_recorded"]
    detail: str = ""


class RowReplay(Value):
    """What replaying base's sessions of one row showed.

    `same` sessions replay alike on both sides, `differing` do not. `unusable` says why others were not counted, and
    `left_out` says it in words.
    `unseen` estimates the chance that a new session makes a call that none of the recorded ones made. `surface`: what
    the pull request changes in the help of the subcommands that these sessions call, and none of them shows. `skipped`:
    no agent is run for the row, unless a spot check of another row looks worse on head. `spot`: the row could be
    skipped, but was chosen at random for a trial with an agent.
    """

    scenario: str
    agent: str
    same: int = 0
    passed: int = 0  # of those, by the trials that they were recorded in
    differing: int = 0
    unusable: tuple[LeftOut, ...] = ()
    left_out: tuple[str, ...] = ()
    steps: int = 0
    unseen: float = 1.0
    surface: tuple[str, ...] = ()
    difference: Difference | None = None
    first_step: int = 0  # the number of the first step that differs, over all sessions; 0 if none does
    failing: tuple[str, ...] = ()  # gates that pass in a replay on base and fail in that on head
    unsteady: bool = False  # replays of a session on base differ from each other
    skipped: bool = False
    spot: bool = False
    why_run: str = ""  # why the row is not skipped; '' if it is
    base: str = ""  # the commit that head was compared with

    @property
    def key(self) -> RowKey:
        """The row's scenario and agent."""
        return RowKey(scenario=self.scenario, agent=self.agent)

    @property
    def severity(self) -> float:
        """Return how bad the difference looks: 0 for none, more if gates fail, early, or in many sessions."""
        if self.difference is None:
            return 0.0
        sessions = max(1, self.same + self.differing)
        return 2.0 * bool(self.failing) + self.differing / sessions + 1 / max(1, self.first_step)
