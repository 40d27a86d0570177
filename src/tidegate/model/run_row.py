"""What a comparison knows about a row before its trials, and why it has its state."""

from typing import Literal

from tidegate.model.plan import RowKey, row_key
from tidegate.model.suite import TrialCounts
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
    "never_passes",  # on head, and on base only sometimes
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
    """The share of runs that would find a complete failure of a row which base passes at `rate`."""

    found: float
    rate: float


class DifferingStep(Value):
    """The first step of a session whose result differs: the step, and what it shows on base and on head."""

    step: str
    base: str
    head: str
    number: int = 1  # of the step, from 1


class LeftOut(Value):
    """Why a recorded session does not count. `detail`: the step, or what a trial said."""

    code: Literal["not_replayed", "lost", "guidance", "tools", "unsteady", "unlike_recorded"]
    detail: str = ""


LEAST = 3  # sessions that have to replay alike


class WhyRun(Value):
    """Why agents are run for a row. `detail`: the step that differs, an earlier push's state, `policy.replay.use`."""

    code: Literal[
        "differs",
        "unsteady",  # sessions of base do not replay alike on base
        "few",  # too few sessions replay alike
        "none_passed",
        "earlier_push",
        "earlier_failure",  # of head, in an earlier run of the pull request
        "agents_began",  # in an earlier run of the same test
        "agent_changed",
        "prompt_changed",  # a file that it names
        "unseen",  # a new session may do something new
        "use",
        "spot_check",
    ]
    detail: str = ""


class ReplayFinding(Value):
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
    difference: DifferingStep | None = None
    first_step: int = 0  # the number of the first step that differs, over all sessions; 0 if none does
    failing: tuple[str, ...] = ()  # gates that pass in a replay on base and fail in that on head
    unsteady: bool = False  # replays of a session on base differ from each other
    skipped: bool = False
    spot: bool = False
    run: WhyRun | None = None  # why the row is not skipped; None if it is
    why_run: str = ""  # the same in words
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
    replay: ReplayFinding | None = None  # head only: what base's recorded sessions show; None if none was replayed

    @property
    def turn(self) -> int:
        """When the row is run: 0, then 1 for head's own definitions, so that these never use up base's budget."""
        return int(self.presence == "added")

    @property
    def key(self) -> RowKey:
        """The row's scenario and agent."""
        return row_key(self.scenario, self.agent)
