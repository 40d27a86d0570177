"""The judge `scripted`: for tests, for demos, and for trying a policy without an API key."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from tidegate.checks.gates.fields import Regex
from tidegate.model.judge import Ask, AskModel, Judge, JudgeContext, Reply, ReplyEnd
from tidegate.model.value import Value


class ScriptedAnswer(Value):
    """The answers to every prompt that matches the regular expression `when`.

    `answers` are for sample 1, 2, …, and repeat from the start: JSON, or a text that is used unchanged.
    """

    when: Regex = ""
    answers: Annotated[tuple[Any, ...], Field(min_length=1)]
    end: ReplyEnd = "answered"


class ScriptedJudge(Judge):
    """Gives the answers in its `script`, from the first entry whose `when` matches the prompt.

    Each entry has `answers`, one per sample, which repeat from the start. An answer is JSON, or a text that is not JSON
    to test how that is handled. An `end` other than `answered` simulates that failure. It is free and calls no model.
    """

    type: Literal["scripted"]
    model: str = "scripted"
    script: Annotated[tuple[ScriptedAnswer, ...], Field(min_length=1)]

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """Needs no connection."""
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
