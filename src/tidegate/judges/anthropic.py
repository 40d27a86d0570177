"""The judge `anthropic`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from tidegate.model.judge import Ask, Judge, JudgeContext
from tidegate.model.question import AskModel, Reply, ReplyEnd
from tidegate.text.shorten import excerpt

if TYPE_CHECKING:
    from anthropic import APIError, AsyncAnthropic
    from anthropic.types import Message

KEY = "ANTHROPIC_API_KEY"
_ENDS: dict[str, ReplyEnd] = {
    "end_turn": "answered",
    "stop_sequence": "answered",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refused",
}


class AnthropicJudge(Judge):
    """An Anthropic model, held to the answer's form by structured output. Needs `ANTHROPIC_API_KEY`.

    The SDK retries temporary failures (408, 409, 429, 5xx, broken connections). The cost is computed from `prices` in
    `tidegate.yaml`, if they include the model.
    """

    type: Literal["anthropic"]
    model: str
    max_tokens: int = Field(default=4096, gt=0, le=20_000)

    @property
    def variables(self) -> tuple[str, ...]:
        """The API key and the address of the model."""
        return (KEY, "ANTHROPIC_BASE_URL")

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """Open one client for all questions. Without a key, every reply says that it is missing."""
        from anthropic import AsyncAnthropic

        if not place.credentials.get(KEY):
            yield _nobody(f"the judge anthropic needs a key in {KEY}")
            return
        address = place.credentials.get("ANTHROPIC_BASE_URL")
        async with AsyncAnthropic(
            api_key=place.credentials[KEY], base_url=address, timeout=self.timeout_secs
        ) as client:

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
            reply = Reply(
                end="outage", message=f"what came back is not a message of a model: {excerpt(str(error), 200)}"
            )
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
    status = getattr(error, "status_code", None)
    return "auth" if status in (401, 403) else "failed" if status in (400, 404, 413, 422) else "outage"


def _told(error: APIError) -> str:
    """Return the provider's error message, if there is one: `HTTP 529, overloaded_error: Overloaded`."""
    body = error.body.get("error") if isinstance(error.body, dict) else None
    status = getattr(error, "status_code", None)
    if status is None or not isinstance(body, dict):
        return f"{type(error).__name__}: {excerpt(str(error), 200)}"
    return excerpt(f"the judge's provider said HTTP {status}, {body.get('type')}: {body.get('message')}", 200)


def _nobody(message: str) -> Ask:
    async def ask(question: AskModel, sample: int) -> Reply:
        return Reply(sample=sample, attempt=question.attempt, end="no_judge", message=message)

    return ask
