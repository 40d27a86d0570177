"""What a judge is: it carries a prompt to a model and brings an answer back, and nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from tidegate.model.question import AskModel, Reply
from tidegate.model.value import Value

Ask = Callable[[AskModel, int], Awaitable[Reply]]
"""One sample of a question, by its number; whatever goes wrong is in the reply, never raised."""


class JudgePlace(NamedTuple):
    """Where a judge works: `folder` is the checkout that the rules are read at, `credentials` its own variables."""

    folder: Path
    path: str
    credentials: Mapping[str, str]


class Judge(Value):
    """The model that scores trials by rubrics; the base of the family in `tidegate.judges`.

    It must not be the tested model, unless `allow_self_judging`. `samples` answers are asked for each question, `jobs`
    of them at once; no more is asked once `max_usd` are spent in a run.
    """

    type: str
    model: str
    samples: int = Field(default=1, ge=1, le=25)
    allow_self_judging: bool = False
    max_usd: float | None = Field(default=None, gt=0)
    timeout_secs: float = Field(default=120, gt=0, le=3600)
    jobs: int = Field(default=4, ge=1, le=64)
    pairwise: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of Tidegate's environment that are this judge's own: its key, and where its model is."""
        return ()

    def identity(self, folder: Path) -> str:
        """All that an answer depends on besides the question; `folder` is the checkout that the judge works in."""
        apart = {"samples", "allow_self_judging", "max_usd", "timeout_secs", "jobs", "pairwise"}
        return self.model_dump_json(exclude=apart)

    def opened(self, place: JudgePlace) -> AbstractAsyncContextManager[Ask]:
        """Connect it."""
        raise NotImplementedError
