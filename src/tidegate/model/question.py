"""A question to a model that judges, and what came back: the one is a value, the other is stored with the trial."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from tidegate.model.value import Value

ReplyEnd = Literal["answered", "refused", "max_tokens", "no_judge", "auth", "outage", "timeout", "failed", "budget"]
SPOKEN: frozenset[ReplyEnd] = frozenset({"answered", "refused", "max_tokens"})
"""The model itself has spoken, so that the same question need not be paid for again in the same run."""


def _anything(_: str) -> bool:
    return True


class AskModel(Value):
    """Ask the judge's model. The pure stages write it, and read the answers; who asks knows nothing of rubrics.

    `items` stand between `before` and `after`, for each sample in another order: an order that moves the answer shows
    as disagreement. `samples`: the numbers of those to ask for, from 1; none means as many as the judge is set to.
    `readable` says whether an answer is one: what nobody can read is not worth keeping.
    """

    kind: Literal["model"] = "model"
    system: str
    before: str
    items: tuple[str, ...] = ()
    after: str = ""
    answer_schema: dict[str, Any] = {}  # JSON Schema of the answer
    attempt: int = 1
    samples: tuple[int, ...] = ()
    readable: Callable[[str], bool] = Field(default=_anything, exclude=True, repr=False)

    def prompt(self, sample: int) -> str:
        """The whole prompt of one sample."""
        return "".join(
            (self.before, *sorted(self.items, key=lambda item: _rank(self.before, sample, item)), self.after)
        )

    def key(self, judge: str, sample: int) -> str:
        """SHA-256 of all that the answer depends on; `judge` says which one, with its model and settings."""
        parts = [judge, self.system, self.prompt(sample), self.answer_schema, sample, self.attempt]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Reply(Value):
    """One answer of the model, or why there is none: then `end` is not `answered`, and `message` says more.

    `model` as the provider names it. What was not reported is None, never 0. `cached`: it was paid for before.
    """

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
    """The replies to an AskModel, one for each sample."""

    kind: Literal["model"] = "model"
    replies: tuple[Reply, ...]

    def as_cached(self) -> ModelAnswer:
        """The same, paid for in an earlier run."""
        return ModelAnswer(replies=tuple(reply.model_copy(update={"cached": True}) for reply in self.replies))


def _rank(seed: str, sample: int, item: str) -> str:
    return hashlib.sha256(f"{sample}\n{item}\n{seed}".encode(errors="replace")).hexdigest()
