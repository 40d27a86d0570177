"""A judge that says what its script says: for tests, for demonstrations, and for trying a policy without a key."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from tidegate.gates.fields import Regex
from tidegate.model.judge import Ask, Judge, JudgeContext
from tidegate.model.question import AskModel, Reply, ReplyEnd
from tidegate.model.value import Value


class ScriptedAnswer(Value):
    """An answer to every prompt in which the regular expression `when` is found.

    `answers` are the answers of sample 1, 2, …, from the start again when they are used up: JSON, or a text as it is.
    """

    when: Regex = ""
    answers: Annotated[tuple[Any, ...], Field(min_length=1)]
    end: ReplyEnd = "answered"


class ScriptedJudge(Judge):
    """Gives the answers of its `script`: the first entry whose `when` is found in the prompt.

    Each entry has `answers`, one for each sample and then from the start again: JSON, or a text that is no JSON to see
    what comes of it; with an `end` other than `answered` it fails in that way. It costs nothing and asks nobody.
    """

    type: Literal["scripted"]
    model: str = "scripted"
    script: Annotated[tuple[ScriptedAnswer, ...], Field(min_length=1)]

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """There is nothing to connect."""
        yield self._ask

    async def _ask(self, question: AskModel, sample: int) -> Reply:
        prompt = question.prompt(sample)
        known = {"sample": sample, "attempt": question.attempt, "model": self.model}
        for entry in self.script:
            if re.search(entry.when, prompt):
                answer = entry.answers[(sample - 1) % len(entry.answers)]
                text = answer if isinstance(answer, str) else json.dumps(answer)
                return Reply.model_validate({**known, "end": entry.end, "text": text})
        return Reply.model_validate({**known, "end": "failed", "message": "the judge's script has no answer to this"})
