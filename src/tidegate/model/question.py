"""A question to the judge's model, and the replies. Replies are stored with the trial."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

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

    def to_judge(self, number: int) -> AskModel | None:
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
    """The replies to an AskModel, one per judge and sample."""

    kind: Literal["model"] = "model"
    replies: tuple[Reply, ...]

    def as_cached(self) -> ModelAnswer:
        """Return the same replies, marked as paid for in an earlier run."""
        return ModelAnswer(replies=tuple(reply.model_copy(update={"cached": True}) for reply in self.replies))


def _rank(seed: str, sample: int, item: str) -> str:
    return hashlib.sha256(f"{sample}\n{item}\n{seed}".encode(errors="replace")).hexdigest()
