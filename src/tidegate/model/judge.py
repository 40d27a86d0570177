"""The judge interface: a judge sends a prompt to a model and returns the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, SerializeAsAny

from tidegate.model.provider import ModelApi, ModelProvider
from tidegate.model.question import AskModel, Reply
from tidegate.model.value import Value

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
        return None

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables that belong to this judge: its API key and the address of its model."""
        return ()

    def lacks(self, environ: Mapping[str, str]) -> str | None:
        """Return what it lacks to reach its model, such as `a key in X`; None if nothing is known to be missing."""
        return None

    @property
    def members(self) -> tuple[Judge, ...]:
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
    def members(self) -> tuple[Judge, ...]:
        """Its judges."""
        return self.judges

    def identity(self, folder: Path) -> str:
        """Return what the answers of all its judges depend on, and how often each is asked."""
        return " ".join(f"{judge.identity(folder)} {judge.samples}" for judge in self.judges)
