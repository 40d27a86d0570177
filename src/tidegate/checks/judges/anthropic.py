"""The judge `anthropic`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from tidegate.checks.judges.provider import ProviderJudge, end_of_status, provider_error, unreadable
from tidegate.model.judge import Ask, JudgeContext
from tidegate.model.model_apis import ANTHROPIC
from tidegate.model.provider import ModelApi
from tidegate.model.question import AskModel, Reply, ReplyEnd
from tidegate.text.shorten import excerpt

if TYPE_CHECKING:
    from anthropic import APIError, AsyncAnthropic
    from anthropic.types import Message

_ENDS: dict[str, ReplyEnd] = {
    "end_turn": "answered",
    "stop_sequence": "answered",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refused",
}


class AnthropicJudge(ProviderJudge):
    """An Anthropic model, held to the answer's form by structured output.

    Needs `ANTHROPIC_API_KEY`, or the variable that `key` names. `base_url` is the API's address (default:
    `ANTHROPIC_BASE_URL`, else Anthropic's). Temporary failures (408, 409, 429, 5xx, broken connections) are retried
    twice.
    """

    provider: ClassVar[ModelApi] = ANTHROPIC

    type: Literal["anthropic"]
    model: str
    max_tokens: int = Field(default=4096, gt=0, le=20_000)

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """Open one client for all questions. Without a key, every reply says that it is missing."""
        from anthropic import AsyncAnthropic

        key = self.key_of(place)
        if not key:
            yield self.without_key()
            return
        async with AsyncAnthropic(api_key=key, base_url=self.address(place), timeout=self.timeout_secs) as client:

            async def ask(question: AskModel, sample: int) -> Reply:
                return await self._ask(client, question, sample)

            yield ask

    async def _ask(self, client: AsyncAnthropic, question: AskModel, sample: int) -> Reply:
        from anthropic import APIError

        started = time.monotonic()
        try:
            reply = _reply(await self._message(client, question, sample))
        except APIError as error:
            reply = Reply(end=_end_of(error), message=_told(error))
        except (AttributeError, TypeError, ValueError) as error:  # the SDK accepts any response of a proxy as a message
            reply = unreadable(error)
        known = {"sample": sample, "attempt": question.attempt, "seconds": round(time.monotonic() - started, 3)}
        return reply.model_copy(update=known)

    async def _message(self, client: AsyncAnthropic, question: AskModel, sample: int) -> Message:
        from anthropic import transform_schema

        return await client.messages.create(
            model=self.model,
            max_tokens=self.max_tokens,
            system=question.system,
            messages=[{"role": "user", "content": question.prompt(sample)}],
            output_config={"format": {"type": "json_schema", "schema": transform_schema(question.answer_schema)}},
        )


def _reply(message: Message) -> Reply:
    usage = message.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Reply(
        end=_ENDS.get(message.stop_reason or "", "failed"),
        text="".join(block.text for block in message.content if block.type == "text"),
        message="" if message.stop_reason in _ENDS else f"the model stopped: {message.stop_reason}",
        model=message.model,
        tokens_in=usage.input_tokens + cached,
        tokens_out=usage.output_tokens,
    )


def _end_of(error: APIError) -> ReplyEnd:
    from anthropic import APITimeoutError

    if isinstance(error, APITimeoutError):
        return "timeout"
    return end_of_status(getattr(error, "status_code", None))


def _told(error: APIError) -> str:
    """Return the provider's error message, if there is one: `HTTP 529, overloaded_error: Overloaded`."""
    body = error.body.get("error") if isinstance(error.body, dict) else None
    status = getattr(error, "status_code", None)
    if status is None or not isinstance(body, dict):
        return f"{type(error).__name__}: {excerpt(str(error), 200)}"
    return provider_error(status, body.get("type"), body.get("message"))
