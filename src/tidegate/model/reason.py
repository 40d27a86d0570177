"""Why a row has its state, as values. `reports/verdict_text.py` turns them into words."""

from __future__ import annotations

from typing import Literal

from tidegate.model.trial_spec import NotMeasured, Side
from tidegate.model.value import Value

Kind = Literal["outcome", "setup", "unmeasurable", "unused", "rewritten", "cut_short", "base_fails"]
Counts = tuple[int, int]  # passes, trials
ReasonCode = Literal[
    "replayed",  # recorded sessions replay alike
    "replay_differs",  # they do not, and no agent may be run
    "no_agent",
    "removed",
    "added",
    "lost",  # no trial of head has an outcome, for an inside cause
    "base_lost",  # no trial of base has
    "unmeasured",
    "key_refused",
    "repeats",
    "one_shot",
    "screened",
    "pairs",
    "some_lost",  # trials of head have no outcome, and those of base have
    "base_fails",
    "unused_tool",
    "replaced_files",
    "other_program",
    "cut_short",  # by the budget
    "mended_at_tip",
]


class Reason(Value):
    """Why a row has its state: what decided, and the numbers that its sentence needs."""

    code: ReasonCode
    head: Counts | None = None  # what was compared
    base: Counts | None = None
    p: float | None = None  # of the test; its limit
    limit: float | None = None
    sides: tuple[Side, ...] = ()
    cause: NotMeasured | None = None  # why trials have no outcome
    detail: str = ""  # what they said
    lost: Counts = (0, 0)  # trials without an outcome, of how many
    needs: tuple[int, int] | None = None  # trials of head and base that would confirm it, where these are too few
    most: int | None = None  # what `trials.max` allows
    enough: int | None = None  # head trials that have to pass until it is ok; of pairs, the `trials.max` that they need
    settle: int | None = None  # trials per side that would be significant at these rates
    carried: bool = False  # an earlier push or run showed it
    ended: Literal["", "budget", "run"] = ""  # before the row was decided
    done: tuple[int, int] | None = None  # trials until then, of how many
    reached: bool = False  # the limit was reached, and the second batch did not show the drop again
    past: Counts = (0, 0)  # base's history
    uses: int = 0  # passing trials of base that use the tool
    files: tuple[str, ...] = ()  # that head replaced or changed; what its `path` finds, or "", and what was tested
    tip: Counts = (0, 0)  # trials at the tip of `branch`
    branch: str = ""
    doubted: bool = False  # a spot check of another row looks worse, so that replays decide for none


class Weakness(Value):
    """The share of runs that would find a complete failure of a row which base passes at `rate`, and what helps most.

    `helps`: so many trials of history, or screening trials, by which it would be found in the share `then`.
    """

    found: float
    rate: float
    helps: Literal["", "history", "trials"] = ""
    then: float = 0.0
