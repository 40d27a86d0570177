"""result.json, the public machine-readable result with the verdict. Every report is made from this value alone."""

from typing import Literal, Self

from tidegate.model.cause import Cause, Fix
from tidegate.model.comparison import DefinitionChange, Row, SuiteEffect
from tidegate.model.judge_result import JudgeReport
from tidegate.model.measurement import AgentInfo, TrialResult
from tidegate.model.revision import Links
from tidegate.model.suite import Diagnosis
from tidegate.model.surface import Interface
from tidegate.model.value import Value

VerdictState = Literal["passed", "failed", "inconclusive", "not_run"]
VerdictReason = Literal[
    "no_regression",
    "nothing_to_do",
    "draft",
    "accepted",
    "regression",
    "setup_regression",
    "checks_less",
    "metric",
    "interface",
    "unconfirmed",
    "unproven",
    "nothing_passes",
    "nothing_compared",
    "infrastructure",
    "budget",
    "fork_without_key",
    "missing_key",
    "no_scenarios",
    "unusable_agent",
    "cancelled",
]


class Verdict(Value):
    """The decision. `summary` is one line with the key numbers; `would_block` is the decision of blocking mode.

    `why_advisory` is set if the mode is not the suite's own.
    """

    state: VerdictState
    reason: VerdictReason
    exit_code: int
    summary: str
    reasons: tuple[str, ...] = ()
    own_reasons: tuple[str, ...] = ()  # of these, those that no row, definition or warning about a metric gives
    mode: Literal["blocking", "advisory"] = "blocking"
    why_advisory: str = ""
    would_block: bool = False
    red: tuple[str, ...] = ()  # names of all that would block on its own: what an acceptance has to cover
    accepted_by: str | None = None

    def accepted(self, actor: str) -> Self:
        """Return the verdict as accepted by `actor`: regressions are still reported and no longer block."""
        passed = {"state": "passed", "reason": "accepted", "exit_code": 0, "would_block": False, "accepted_by": actor}
        return self.model_copy(update=passed)


class BaseSide(Value):
    """Base's commit, and where its trials come from."""

    sha: str
    ref: str
    origin: Literal["run", "history", "reused"] = "run"
    history_trials: int = 0


class HeadSide(Value):
    """Head's commit, and where its trials come from."""

    sha: str
    ref: str
    origin: Literal["run", "reused"] = "run"
    tree: str = ""  # id of git's tree object that was tested
    tested_at: float = 0.0  # seconds since the epoch


class Sides(Value):
    """The two commits."""

    base: BaseSide
    head: HeadSide


class TrialTotals(Value):
    """How many trials ran on each side."""

    base: int = 0
    head: int = 0


class Cost(Value):
    """What the run used; None if no agent reported it. `budget_used` is the largest share of any limit.

    `usd` is the sum over `usd_of` of the trials that ask a model, (known, all); `usd_guessed` of the known ones are
    computed from tokens and prices, since the agent did not report all of the cost. `tokens_guessed`: an answer was
    cut off before all of its tokens were reported.
    """

    usd: float | None = None
    usd_of: tuple[int, int] = (0, 0)
    usd_guessed: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_guessed: bool = False
    trials: TrialTotals = TrialTotals()
    seconds: float = 0.0
    budget_used: float | None = None


class FileChange(Value):
    """A file that the pull request changed, as a unified diff, which is cut if it is long.

    `role` is `watch` if each side is tested with its own version, `definition` if both are tested with head's.
    `scenarios` lists the scenarios that use the file; empty means all.
    """

    path: str
    role: Literal["watched", "definition"]
    scenarios: tuple[str, ...] = ()
    diff: str


class Result(Value):
    """A complete comparison, ready to be reported."""

    schema_version: Literal[1] = 1
    tidegate_version: str
    instance: str = "default"
    verdict: Verdict
    links: Links = Links()
    sides: Sides
    rows: tuple[Row, ...]
    suite: SuiteEffect
    causes: tuple[Cause, ...] = ()  # at most one for a row
    fix: Fix | None = None  # None if none was tried, or if it does not make its rows pass
    definitions: tuple[DefinitionChange, ...] = ()
    interfaces: tuple[Interface, ...] = ()  # what each tool under test offers, compared
    agents: dict[str, AgentInfo] = {}
    judge: JudgeReport | None = None
    diagnosis: Diagnosis = Diagnosis()  # the suite's thresholds
    warnings: tuple[str, ...] = ()
    cost: Cost
    comment_template: str | None = None  # text of the suite's Jinja template, which extends the default one
    changes: tuple[FileChange, ...] = ()
    confinement: tuple[str, ...] = ()
    trials: tuple[TrialResult, ...] = ()
