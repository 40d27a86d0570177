"""Head compared with base: one row per scenario and agent."""

from typing import Annotated, Literal

from pydantic import Field

from tidegate.model.measurement import Call
from tidegate.model.plan import RowKey, row_key
from tidegate.model.run_row import Counts, Kind, Reason, ReplayFinding, Weakness
from tidegate.model.suite import RowState
from tidegate.model.surface import Interface
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value

Interval = tuple[float, float]
Impact = Literal["less", "more", "other"]
Drop = Annotated[str, Field(pattern=r"^-?[0-9](\.[0-9]{1,9})?$")]  # drop of a success rate; JSON keys are text


class BaseCounts(Value):
    """Base's measured trials: the totals, and where the trials come from."""

    passes: int = 0
    trials: int = 0
    history: Counts = (0, 0)
    screen: Counts = (0, 0)
    fresh: Counts = (0, 0)
    not_measured: int = 0
    interval: Interval | None = None  # of the success rate: Wilson score interval, 95 %


class HeadCounts(Value):
    """Head's measured trials: the totals, and the phases that they were run in."""

    passes: int = 0
    trials: int = 0
    screen: Counts = (0, 0)
    confirm: Counts = (0, 0)
    not_measured: int = 0
    interval: Interval | None = None


class Effect(Value):
    """Head's success rate minus base's, with a Newcombe interval, the one-sided p and the p that it must stay below
    (`level`).
    """

    difference: float
    interval: Interval
    confidence: float = 0.95
    p: float | None = None
    level: float | None = None


class MetricChange(Value):
    """A metric's mean on both sides (None if no trial has it), and the `effect`: head − base, or their ratio.

    Of the suite, where `scale` is `ratio`, the means are geometric. `interval` (t, 95 %) and `q` belong to the test
    over the whole suite; `warns` is True if that test is significant and the change is large enough to matter.

    `missing`: head's trials without a value, beyond base's share of them; `worst` is the effect if all of these are 0,
    of a metric of which less is worse.
    """

    base: float | None
    head: float | None
    effect: float | None = None
    missing: int = 0
    worst: float | None = None
    interval: Interval | None = None
    q: float | None = None
    warns: bool = False
    scale: Literal["difference", "ratio"] = "difference"


class GateCounts(Value):
    """How often a gate passed on each side."""

    gate: str
    base: Counts
    head: Counts


class Divergence(Value):
    """The first step (from 1) at which head diverges from base, one line per side; '' if that side had already ended.

    `before` is the last step that both took. `base_steps` and `head_steps` hold that step and the next, with their
    results.
    """

    step: int
    base: str
    head: str
    before: str = ""
    base_steps: tuple[Call, ...] = ()
    head_steps: tuple[Call, ...] = ()


class FailedCall(Value):
    """A failed command of the tool under test, with its exit code and error message."""

    command: str
    exit_code: int | None = None
    message: str = ""


class Read(Value):
    """What a failed check reads, on both sides: the file with that path, or the command with its output."""

    is_file: bool
    base: Call
    head: Call


class LeftFile(Value):
    """A file that head's agent left otherwise than base's, with the lines that differ, as in a diff."""

    path: str
    lines: tuple[str, ...]


class Evidence(Value):
    """What supports a row's state, and how to reproduce it."""

    trial: str
    gate: str | None = None
    message: str = ""
    base_message: str = ""  # the gate's message on base's trial; set only if no call failed and so explains the failure
    calls: tuple[FailedCall, ...] = ()
    divergence: Divergence | None = None
    files: tuple[LeftFile, ...] = ()
    reads: tuple[Read, ...] = ()  # only where both sides differ
    reproduce: str = ""
    clears_when: str = ""


class JudgeSide(Value):
    """The judge's results on one side's trials: the mean score, and how many trials failed or could not be judged.

    `score` includes the `past` trials of base's history. `confidence` is the judge's own, a mean. `issues` and
    `highlights` are the most frequent ones that it named.
    """

    score: float | None = None
    past: int = 0
    judged: int = 0
    below: int = 0
    not_judged: int = 0
    reason: str = ""  # why the first unjudged trial could not be judged
    agreement: float | None = None  # share of the judge's own samples that agree
    confidence: float | None = None
    issues: tuple[str, ...] = ()
    highlights: tuple[str, ...] = ()


class CriterionScores(Value):
    """A criterion's mean score on both sides, and the judge's reason for head's lowest score."""

    criterion: str
    base: float | None = None
    head: float | None = None
    reason: str = ""


class JudgeChange(Value):
    """The judge's scores of both sides. `q` is the adjusted p of the test over all judged rows; None without one.

    `warns` is True if the test is significant, and head scores lower by the margin or more.
    """

    base: JudgeSide
    head: JudgeSide
    difference: float | None = None
    interval: Interval | None = None
    q: float | None = None
    warns: bool = False
    criteria: tuple[CriterionScores, ...] = ()

    @property
    def not_measured(self) -> str:
        """Why a trial of head, or else of base, could not be judged; '' if all were judged."""
        return next((side.reason or "not judged" for side in (self.head, self.base) if side.not_judged), "")


class Row(Value):
    """One scenario × agent, compared."""

    scenario: str
    agent: str
    state: RowState
    reason: str = ""  # the sentence of `why`
    why: Reason | None = None
    kind: Kind = "outcome"
    not_measured: NotMeasured | None = None  # set if the state is `not_measured`: the cause
    purpose: Literal["regression", "capability"] = "regression"
    task: str = ""  # the start of the prompt
    source: str | None = None  # origin of the case, from the scenario's file
    deterministic: bool = False
    can_fail: bool = True  # False: no gate or evaluator is required, so every trial passes
    one_shot: bool = False
    fingerprint: str = ""  # hash of everything that makes trials exchangeable; '' for deterministic rows
    base: BaseCounts = BaseCounts()
    head: HeadCounts = HeadCounts()
    effect: Effect | None = None
    metrics: dict[str, MetricChange] = {}
    gates: tuple[GateCounts, ...] = ()
    judge: JudgeChange | None = None
    evidence: Evidence | None = None
    detection: dict[Drop, float] = {}  # drop → probability that this run detects it in this row
    replay: ReplayFinding | None = None  # what base's recorded sessions show; None if none was replayed

    @property
    def key(self) -> RowKey:
        """The row's scenario and agent."""
        return row_key(self.scenario, self.agent)


class SuiteEffect(Value):
    """The suite as a whole: mean success rates over the rows that were measured on both sides."""

    base_rate: float | None = None
    head_rate: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    detection: dict[Drop, float] = {}  # drop of one row → probability that this run detects it: a mean over the rows
    state: Literal["ok", "unconfirmed", "regressed"] | None = None  # result of the suite-level test; None if not tested
    p: float | None = None  # p of that test: of the screening, or of the pairs if they were run
    level: float | None = None
    metrics: dict[str, MetricChange] = {}  # tested over all scenarios; empty if the baseline changed


class DefinitionChange(Value):
    """Something that will be checked differently from the merge on; `effect`: whether it may check less."""

    scenario: str | None
    agent: str | None = None
    effect: Impact
    detail: str = ""


class Overuse(Value):
    """Of what head used so much more than base that it can have ended the budget.

    `base`: what all trials take at base's rate, as far as it is known, of the `limit`; of the judge, US dollars
    for base's trials, and for all.
    """

    what: Literal["s", "US dollars", "tokens", "trials", "judge"]
    base: float
    limit: float


class Note(Value):
    """What a reader should know of some rows, or of the comparison: a row that could not have failed, for example."""

    code: Literal[
        "stored", "interrupted", "demoted", "never_passes", "new_fails", "never_called", "crashed", "shows_little"
    ]
    rows: tuple[RowKey, ...] = ()
    ref: str = ""  # of the run that was interrupted
    crashed: Counts = (0, 0)  # trials on head, of how many
    weakness: Weakness | None = None


class Comparison(Value):
    """All rows, in the suite's order."""

    rows: tuple[Row, ...]
    suite: SuiteEffect = SuiteEffect()
    definitions: tuple[DefinitionChange, ...] = ()
    excluded_share: float = 0.0  # share of all trials that infrastructure errors exclude
    used_by_head: tuple[Overuse, ...] = ()
    notes: tuple[Note, ...] = ()
    interfaces: tuple[Interface, ...] = ()  # what each tool offers on both sides; none where the policy has them off
