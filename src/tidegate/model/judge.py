"""The judge interface: questions to a model, and the replies, which are stored with the trial."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, SerializeAsAny

from tidegate.model.provider import ModelApi, ModelProvider
from tidegate.model.value import Value

ReplyEnd = Literal["answered", "refused", "max_tokens", "no_judge", "auth", "outage", "timeout", "failed", "budget"]
SPOKEN: frozenset[ReplyEnd] = frozenset({"answered", "refused", "max_tokens"})
"""Ends that come from the model itself, so the same question is not paid for again in the same run."""


def _anything(_: str) -> bool:
    return True


class AskModel(Value):
    """A question to the judge's model. Pure stages write it and read the answers; the code that sends it knows no
    rubrics.

    The `items` go between `before` and `after`, in a different order for each sample, so that an answer that depends on
    the order shows as disagreement. `samples` are the numbers of the samples to ask each judge for, from 1; empty means
    as many as the judge's setting. `again`, if not empty, are the only ones to ask for: a judge's place in the panel,
    and the sample. `about` names the trial whose opinion this is: the same text about another trial is a new question.
    `readable` returns True for an answer that can be parsed; only those are cached.
    """

    kind: Literal["model"] = "model"
    system: str
    before: str
    items: tuple[str, ...] = ()
    after: str = ""
    answer_schema: dict[str, Any] = {}  # JSON Schema of the answer
    attempt: int = 1
    samples: tuple[int, ...] = ()
    again: tuple[tuple[int, int], ...] = ()
    about: str = ""
    readable: Callable[[str], bool] = Field(default=_anything, exclude=True, repr=False)

    def prompt(self, sample: int) -> str:
        """Return the full prompt of one sample."""
        return "".join(
            (self.before, *sorted(self.items, key=lambda item: _rank(self.before, sample, item)), self.after)
        )

    @property
    def form(self) -> str:
        """Return the answer's JSON Schema as text, for models that cannot be held to it."""
        return f"The JSON Schema of the answer:\n\n{json.dumps(self.answer_schema, indent=1)}"

    def to_judge(self, number: int) -> "AskModel | None":
        """Return the question to one judge of a panel; None if there is nothing to ask it again."""
        if not self.again:
            return self
        samples = tuple(sample for judge, sample in self.again if judge == number)
        return self.model_copy(update={"samples": samples, "again": ()}) if samples else None

    def key(self, judge: str, sample: int) -> str:
        """Return the SHA-256 of everything that the answer depends on. `judge` identifies the judge, its model and
        settings.
        """
        parts = [judge, self.system, self.prompt(sample), self.answer_schema, sample, self.attempt, self.about]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Reply(Value):
    """One answer of the model, or why there is none: then `end` is not `answered`, and `message` gives details.

    `judge` is the judge's place in a panel, from 0. `model` is the provider's name of it. Values that were not reported
    are None, never 0. `cached` replies were paid for earlier.
    """

    judge: int = 0
    sample: int = 1
    attempt: int = 1
    end: ReplyEnd = "answered"
    text: str = ""
    message: str = ""
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    cached: bool = False


class ModelAnswer(Value):
    """The replies to an AskModel, one per judge and sample. `cut`: a part of what the judge was shown is left out."""

    kind: Literal["model"] = "model"
    replies: tuple[Reply, ...]
    cut: bool = False


def _rank(seed: str, sample: int, item: str) -> str:
    return hashlib.sha256(f"{sample}\n{item}\n{seed}".encode(errors="replace")).hexdigest()


SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"  # if Tidegate itself has no PATH
MOST_JUDGES = 9  # of a panel
Ask = Callable[[AskModel, int], Awaitable[Reply]]
"""Asks a question and returns one sample, given by its number. Errors are in the reply, never raised."""


class JudgeContext(NamedTuple):
    """Where a judge works: `folder` is the checkout that defines the suite, `environ` is Tidegate's environment."""

    folder: Path
    environ: Mapping[str, str]


class Judge(Value):
    """Base class of all judges: the model that scores trials by rubrics.

    Its model must not be the one under test, unless `allow_self_judging` is set. Each question is asked `samples`
    times, at most `jobs` at once. After `max_usd` have been spent in a run, no more questions are asked.
    """

    type: str
    model: str
    samples: int = Field(default=1, ge=1, le=25)
    allow_self_judging: bool = False
    max_usd: float | None = Field(default=None, gt=0)
    timeout_secs: float = Field(default=120, gt=0, le=3600)
    jobs: int = Field(default=4, ge=1, le=64)

    @property
    def model_api(self) -> ModelApi | None:
        """The API of its model; None if it asks none."""
        return None

    @property
    def chosen_provider(self) -> ModelProvider | None:
        """The provider that the suite names; None for the API's own, with a key."""
        return getattr(self, "provider", None)

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables that belong to this judge: its API key and the address of its model."""
        return ()

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """Commands that it runs, each with its folder in the checkout."""
        return ()

    def lacks(self, environ: Mapping[str, str]) -> str | None:
        """Return what it lacks to reach its model, such as `a key in X`; None if nothing is known to be missing."""
        return None

    @property
    def members(self) -> "tuple[Judge, ...]":
        """The judges that are asked: this one, or those of a panel."""
        return (self,)

    def identity(self, folder: Path) -> str:
        """Return everything that an answer depends on besides the question. `folder` is the judge's checkout."""
        return self.without_limits()

    def without_limits(self) -> str:
        """Return the settings that an answer depends on."""
        apart = {"samples", "allow_self_judging", "max_usd", "timeout_secs", "jobs"}
        return self.model_dump_json(exclude=apart)

    def opened(self, place: JudgeContext) -> AbstractAsyncContextManager[Ask]:
        """Connect to the model."""
        raise NotImplementedError


class Panel(Judge):
    """Several judges that are asked the same questions: the median of their scores counts, for yes or no the majority.

    Its judges have models of their own, so that one model's preference is not asked twice.
    """

    type: str = "panel"
    judges: tuple[SerializeAsAny[Judge], ...]

    @classmethod
    def of(cls, judges: Sequence[Judge]) -> Judge:
        """Return the panel of these judges; a single judge needs none."""
        if len(judges) == 1:
            return judges[0]
        names = " + ".join(judge.model for judge in judges)
        return cls(model=names, judges=tuple(judges))

    @property
    def members(self) -> "tuple[Judge, ...]":
        """Its judges."""
        return self.judges

    def identity(self, folder: Path) -> str:
        """Return what the answers of all its judges depend on, and how often each is asked."""
        return " ".join(f"{judge.identity(folder)} {judge.samples}" for judge in self.judges)
