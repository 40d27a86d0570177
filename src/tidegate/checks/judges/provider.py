"""What judges share that ask a model provider: settings, requests with retries, and errors as replies."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from pydantic import Field

from tidegate.agents.streams.json_values import Json, mapping, text
from tidegate.agents.streams.provider_answers import tokens_of
from tidegate.model.judge import Ask, Judge, JudgeContext
from tidegate.model.provider import ModelApi
from tidegate.model.question import AskModel, Reply, ReplyEnd
from tidegate.text.shorten import excerpt

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

RETRIES = 2  # of a request, after temporary failures
LONGEST_WAIT = 60.0  # seconds before a retry, whatever the provider asks for
_TEMPORARY = (408, 409, 429)  # and 5xx
_REFUSALS = (400, 404, 413, 422)


class ProviderJudge(Judge):
    """A judge whose model is asked through a provider's API. `key` names the environment variable with the API key."""

    provider: ClassVar[ModelApi]

    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/]")] | None = None
    key: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The API key and, unless `base_url` is set, the address of the model."""
        endpoint = () if self.base_url else (self.provider.endpoint,)
        return (self.key_variable, *endpoint)

    @property
    def key_variable(self) -> str:
        """The environment variable with its API key."""
        return self.key or self.provider.key

    def identity(self, folder: Path) -> str:
        """Return the judge's settings without the name of the key's variable."""
        return self.model_copy(update={"key": None}).without_limits()

    def key_of(self, place: JudgeContext) -> str:
        """Return the API key; '' if it is not set."""
        return place.credentials.get(self.key_variable, "")

    def address(self, place: JudgeContext) -> str | None:
        """Return the address that is set in the suite or the environment; None for the provider's own."""
        return self.base_url or place.credentials.get(self.provider.endpoint)

    def without_key(self) -> Ask:
        """Return what answers every question by saying that the key is missing."""
        return no_answer(f"the judge {self.type} needs a key in {self.key_variable}")


class Request(NamedTuple):
    """A request to a provider, relative to its address."""

    path: str
    body: dict[str, Any]


class HttpJudge(ProviderJudge):
    """A judge whose provider is asked by plain HTTP requests with JSON bodies."""

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers that carry the key."""
        raise NotImplementedError

    def request(self, question: AskModel, sample: int) -> Request:
        """Return the request that asks one sample."""
        raise NotImplementedError

    def reply(self, data: Json) -> Reply:
        """Return the reply in the provider's answer. Raises ValueError if it is not one."""
        raise NotImplementedError

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """Open one client for all questions. Without a key, every reply says that it is missing."""
        from httpx2 import AsyncClient, InvalidURL

        key = self.key_of(place)
        address = self.address(place) or self.provider.address
        if not key:
            yield self.without_key()
            return
        try:
            client = AsyncClient(base_url=address, headers=self.headers(key), timeout=self.timeout_secs)
        except (InvalidURL, ValueError):  # a key or an address with characters that a request cannot have
            yield no_answer(f"{self.key_variable} or the address {address} cannot be used in a request")
            return
        async with client:

            async def ask(question: AskModel, sample: int) -> Reply:
                return await self._ask(client, question, sample)

            yield ask

    async def _ask(self, client: AsyncClient, question: AskModel, sample: int) -> Reply:
        from httpx2 import HTTPError, InvalidURL, TimeoutException

        started = time.monotonic()
        try:
            response = await _sent(client, self.request(question, sample))
            reply = self.reply(_read(response)) if response.is_success else _refused(response)
        except TimeoutException:
            reply = Reply(end="timeout", message=f"the judge gave no answer within {self.timeout_secs:g} s")
        except (HTTPError, InvalidURL) as error:
            reply = Reply(end="outage", message=f"{type(error).__name__}: {excerpt(str(error), 200)}")
        except ValueError as error:
            reply = unreadable(error)
        known = {"sample": sample, "attempt": question.attempt, "seconds": round(time.monotonic() - started, 3)}
        return reply.model_copy(update=known)


def used(data: Json) -> dict[str, int]:
    """Return the tokens of an answer as fields of a reply; none if it does not report them."""
    tokens = tokens_of(data)
    return {"tokens_in": tokens.given, "tokens_out": tokens.said} if any(tokens) else {}


def no_answer(message: str) -> Ask:
    """Return what answers every question with that message."""

    async def ask(question: AskModel, sample: int) -> Reply:
        return Reply(sample=sample, attempt=question.attempt, end="no_judge", message=message)

    return ask


def unreadable(error: Exception) -> Reply:
    """Return the reply for a response that is not an answer of a model."""
    return Reply(end="outage", message=f"what came back is not a message of a model: {excerpt(str(error), 200)}")


def end_of_status(status: int | None) -> ReplyEnd:
    """Return the end for an HTTP error."""
    return "auth" if status in (401, 403) else "failed" if status in _REFUSALS else "outage"


def provider_error(status: int, kind: object, message: object) -> str:
    """Return the message of a provider's error: `HTTP 529, overloaded_error: Overloaded`."""
    return excerpt(f"the judge's provider said HTTP {status}, {kind}: {message}", 200)


async def _sent(client: AsyncClient, request: Request) -> Response:
    """Send the request, again after temporary failures. A request that ran out of time is not repeated."""
    import asyncio

    from httpx2 import TimeoutException, TransportError

    for attempt in range(RETRIES + 1):
        wait = min(2.0**attempt / 2, LONGEST_WAIT)
        try:
            response = await client.post(request.path, json=request.body)
        except TransportError as error:
            if isinstance(error, TimeoutException) or attempt == RETRIES:
                raise
        else:
            temporary = response.status_code in _TEMPORARY or response.status_code >= 500
            if not temporary or attempt == RETRIES:
                return response
            wait = _asked_wait(response.headers, wait)
        await asyncio.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _asked_wait(headers: Mapping[str, str], otherwise: float) -> float:
    """Return how many seconds the provider asks to wait."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return min(max(0.0, float(headers[name]) * unit), LONGEST_WAIT)
        except (KeyError, ValueError):  # a date is not read
            continue
    return otherwise


def _read(response: Response) -> Json:
    try:
        data = response.json()
    except ValueError:
        raise ValueError(response.text) from None
    if not isinstance(data, dict):
        raise ValueError(response.text)
    return data


def _refused(response: Response) -> Reply:
    """Return the reply for an HTTP error, with the provider's message if there is one."""
    try:
        data = response.json()
    except ValueError:
        data = None
    error = mapping(data[0] if isinstance(data, list) and data else data, "error")
    status = response.status_code
    # Google refuses a wrong key with 400.
    end: ReplyEnd = "auth" if "API_KEY_INVALID" in response.text else end_of_status(status)
    kind = text(error, "type") or text(error, "status") or text(error, "code") or response.reason_phrase
    return Reply(end=end, message=provider_error(status, kind, text(error, "message")))
