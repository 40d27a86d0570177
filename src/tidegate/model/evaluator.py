"""What an evaluator is: questions to what the trial left behind, one after another, and then a score."""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

from pydantic import Field

from tidegate.model.case import Case
from tidegate.model.event import Event
from tidegate.model.judgement import Judgement
from tidegate.model.probe import Answer, Request
from tidegate.model.trial import Invocation
from tidegate.model.value import Value

EvaluatorVerdict = Literal["pass", "borderline", "fail", "not_measured"]
Missing = Literal["evaluator", "no_trace", "judge"]
PASS, BORDERLINE = 0.8, 0.6


class Record(Value):
    """All that an evaluator knows of a trial before it asks anything."""

    binary: str
    prompt: str
    case: Case = Case()
    events: tuple[Event, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    agent_started_at: float = 0.0  # seconds since the epoch; events count from here


class Score(Value):
    """An evaluator's last word: 0 to 1, or None where it could not be measured; `missing` then says what kept it.

    `passes` False: a part that is required has failed, whatever the score. `details` are numbers for the report.
    """

    value: float | None
    reason: str = ""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    details: dict[str, float] = {}
    missing: Missing | None = None
    passes: bool = True
    judgement: Judgement | None = None

    @classmethod
    def unknown(cls, reason: str, missing: Missing = "evaluator") -> Score:
        """Not measured, which is neither 0 nor 1."""
        return cls(value=None, reason=reason, missing=missing)

    @property
    def verdict(self) -> EvaluatorVerdict:
        """Pass from 0.8, borderline from 0.6, else fail."""
        if self.value is None:
            return "not_measured"
        if not self.passes:
            return "fail"
        score = round(self.value, 9)  # a mean of tenths must not miss the mark by a rounding error
        return "pass" if score >= PASS else "borderline" if score >= BORDERLINE else "fail"


Evaluation = Generator[Request, Answer, Score]


class Evaluator(Value):
    """A score for one aspect of a trial; the base of the family in `tidegate.evaluators`.

    With `weight` 0 it is reported and counts for nothing, unless it is `required`: then it has to pass.
    """

    type: str
    name: str | None = None
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    required: bool = False

    @property
    def label(self) -> str:
        """How reports name it: its name, or its type."""
        return self.name or self.type

    @property
    def decides(self) -> bool:
        """A trial's outcome depends on it."""
        return self.required or self.weight > 0

    @property
    def judged(self) -> bool:
        """A model has a say in the score."""
        return False

    @property
    def wordings(self) -> dict[str, str]:
        """The hash of the words that a model is asked by for each criterion; by the criteria's ids."""
        return {}

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """The commands that it runs outside of the workspace, each with its folder of the checkout."""
        return ()

    def evaluate(self, record: Record) -> Evaluation:
        """Ask what has to be known, one request at a time, then give the score; pure."""
        raise NotImplementedError
