"""The evaluator interface: it asks questions about a finished trial, one after another, and then returns a score."""

from collections.abc import Generator
from typing import Any, Literal

from pydantic import Field

from tidegate.model.event import Event, Invocation
from tidegate.model.probe import Answer, Request
from tidegate.model.value import Value


class Case(Value):
    """The expectations of one eval case. Messages have AgentV's form: `{role, content, …}`."""

    question: str = ""  # the texts of the input messages, without roles and files
    expected_outcome: str = ""
    reference_answer: str = ""
    input_messages: tuple[dict[str, Any], ...] = ()
    expected_messages: tuple[dict[str, Any], ...] = ()
    guideline_files: tuple[str, ...] = ()
    input_files: tuple[str, ...] = ()
    conversation_id: str | None = None


class CriterionScore(Value):
    """One criterion: the median of the samples' scores (0 to 1), with the reason of the sample nearest to it.

    `spread` is the highest score minus the lowest. An unmet `required` criterion fails the rubric. `wording` is a hash
    of the prompt text for this criterion.
    """

    id: str
    description: str = ""
    score: float
    reason: str = ""
    weight: float = 1.0
    required: bool = False
    spread: float = 0.0
    wording: str = ""


class Opinion(Value):
    """The scores of one judge of a panel, by criterion. `judge` is its place in the panel, from 0."""

    judge: int
    model: str | None = None
    scores: dict[str, float]


class Judgement(Value):
    """The answers to one rubric, combined; those of a panel's judges by the median of their scores.

    `samples` are the weighted scores of the single answers. `agreement` is the share of sample pairs of one judge that
    agree (met or not), over all criteria; None for one sample. `asked` counts the samples asked for, including lost
    ones. `panel` has the judges of a panel, and `panel_agreement` the share of pairs of them that agree.
    """

    model: str | None = None
    criteria: tuple[CriterionScore, ...] = ()
    met: float = 0.5  # score from which a criterion counts as met
    samples: tuple[float, ...] = ()
    asked: int = 1
    agreement: float | None = None
    panel: tuple[Opinion, ...] = ()
    panel_agreement: float | None = None
    confidence: float | None = None
    issues: tuple[str, ...] = ()
    highlights: tuple[str, ...] = ()


EvaluatorVerdict = Literal["pass", "borderline", "fail", "not_measured"]
Missing = Literal["evaluator", "no_trace", "judge", "unreadable_judge"]
PASS, BORDERLINE = 0.8, 0.6


class EvaluatorRecord(Value):
    """What an evaluator knows about a trial before it asks anything."""

    binary: str
    prompt: str
    case: Case = Case()
    events: tuple[Event, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    agent_started_at: float = 0.0  # seconds since the epoch; event times are relative to it
    diff: str = ""  # what the agent changed in its workspace; for questions to the judge only


class Score(Value):
    """An evaluator's result: a value from 0 to 1, or None if it could not be measured, with the cause in `missing`.

    `passes` is False if a required part failed, regardless of the value. `details` are numbers for the report.
    """

    value: float | None
    reason: str = ""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    unmatched: tuple[tuple[str, str], ...] = ()  # tools, and the pattern that no output of each matches
    details: dict[str, float] = {}
    members: "dict[str, Score]" = {}  # of a composite, by name
    missing: Missing | None = None
    passes: bool = True
    judgement: Judgement | None = None
    notes: tuple[str, ...] = ()  # how what it read was understood; what only head's passes note is a fault

    @classmethod
    def unknown(cls, reason: str, missing: Missing = "evaluator") -> "Score":
        """Return a score that is not measured, which is neither 0 nor 1."""
        return cls(value=None, reason=reason, missing=missing)

    @property
    def verdict(self) -> EvaluatorVerdict:
        """`pass` from 0.8, `borderline` from 0.6, else `fail`; `not_measured` without a value."""
        if self.value is None:
            return "not_measured"
        if not self.passes:
            return "fail"
        score = round(self.value, 9)  # so that rounding errors do not push a mean of tenths below the threshold
        return "pass" if score >= PASS else "borderline" if score >= BORDERLINE else "fail"


Evaluation = Generator[Request, Answer, Score]


class Evaluator(Value):
    """Base class of all evaluators: an evaluator scores one aspect of a trial.

    With `weight` 0 it is reported and does not count, unless it is `required`: then it must pass.
    """

    type: str
    name: str | None = None
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    required: bool = False

    @property
    def label(self) -> str:
        """The display name in reports: its name, or its type."""
        return self.name or self.type

    @property
    def decides(self) -> bool:
        """True if the trial's outcome depends on it."""
        return self.required or self.weight > 0

    @property
    def members(self) -> "tuple[Evaluator, ...]":
        """The evaluators that it combines."""
        return ()

    @property
    def judged(self) -> bool:
        """True if a model contributes to the score."""
        return False

    @property
    def compared_tools(self) -> frozenset[str]:
        """The names of the tools whose calls it compares.

        If it names a tool of the agent's own, it needs an agent that reports its calls.
        """
        return frozenset()

    @property
    def wordings(self) -> dict[str, str]:
        """The hash of each criterion's prompt text, by the criterion's id."""
        return {}

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """Commands that it runs outside the workspace, each with its folder in the checkout."""
        return ()

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Yield one request at a time, receive its answer, and finally return the score. Pure."""
        raise NotImplementedError
