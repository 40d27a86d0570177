"""What judges share that ask a model provider: access, requests with retries, and errors as replies."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from pydantic import field_validator

from tidegate.agents.providers import AnyProvider
from tidegate.agents.providers.keyed import CompatibleProvider
from tidegate.agents.streams.json_values import Json, mapping, text
from tidegate.agents.streams.provider_answers import tokens_of
from tidegate.model.field_types import wrong
from tidegate.model.judge import Ask, AskModel, Judge, JudgeContext, Reply, ReplyEnd
from tidegate.model.provider import Access, AccessError, ModelApi, ModelProvider, ModelRequest
from tidegate.text.shorten import excerpt

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

RETRIES = 2  # of a request, after temporary failures
LONGEST_WAIT = 60.0  # seconds before a retry, whatever the provider asks for
_TEMPORARY = (408, 409, 429)  # and 5xx
_REFUSALS = (400, 404, 413, 422)


class Request(NamedTuple):
    """A request to a provider, relative to its address."""

    path: str
    body: dict[str, Any]


class ProviderJudge(Judge):
    """A judge whose model is asked through a provider's API, by HTTP requests with JSON bodies."""

    apis: ClassVar[Mapping[str, ModelApi]]  # that it uses with each type of provider; first the one without `provider`
    headers: ClassVar[Mapping[str, str]]  # of each request; the one for the key gets the key

    provider: AnyProvider | None = None

    @field_validator("provider", mode="after")
    @classmethod
    def _can_use(cls, provider: ModelProvider | None) -> ModelProvider | None:
        if provider is not None and provider.type not in cls.apis:
            raise wrong(f"must be of type {' or '.join(cls.apis)} for this judge, not {provider.type}")
        return provider

    @property
    def model_api(self) -> ModelApi:
        """The API of its model."""
        default, *_ = self.apis.values()
        return self.apis[self.provider.type] if self.provider else default

    @property
    def chosen_provider(self) -> ModelProvider | None:
        """The provider that the suite names."""
        return self.provider

    @property
    def variables(self) -> tuple[str, ...]:
        """The API key and, without `provider`, the address of the model."""
        return self.provider.variables if self.provider else (self.model_api.key, self.model_api.endpoint)

    def lacks(self, environ: Mapping[str, str]) -> str | None:
        """Return what its provider lacks."""
        return self._reached_by(environ).missing(environ)

    def _reached_by(self, environ: Mapping[str, str]) -> ModelProvider:
        """Return the suite's provider, or the API's own, at the address that the environment may name."""
        api = self.model_api
        address = (environ.get(api.endpoint) or api.address).rstrip("/")
        # It is not validated: what is wrong with an address of the environment is told by the answers.
        return self.provider or CompatibleProvider.model_construct(type="compatible", base_url=address, key=api.key)

    def identity(self, folder: Path) -> str:
        """Return the judge's settings with the address of its model instead of the credentials."""
        address = self.provider.address(self.model_api) if self.provider else ""
        return f"{self.model_copy(update={'provider': None}).without_limits()} {address}"

    def request(self, question: AskModel, sample: int) -> Request:
        """Return the request that asks one sample."""
        raise NotImplementedError

    def reply(self, data: Json) -> Reply:
        """Return the reply in the provider's answer. Raises ValueError if it is not one."""
        raise NotImplementedError

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        """Open one client for all questions. Without a key, every reply says that it is missing."""
        import asyncio  # 30 ms

        from httpx2 import AsyncClient  # 50 ms

        provider = self._reached_by(place.environ)
        if (lacking := provider.missing(place.environ)) is not None:
            yield no_answer(f"the judge {self.type} needs {lacking}")
            return
        try:
            access = await asyncio.to_thread(provider.access, place.environ, self.model_api)
        except AccessError as error:
            yield no_answer(f"the judge {self.type} has no access to {provider.type}: {error}")
            return
        async with AsyncClient(timeout=self.timeout_secs) as client:

            async def ask(question: AskModel, sample: int) -> Reply:
                return await self._ask(_Line(client, access, provider.address(self.model_api)), question, sample)

            yield ask

    async def _ask(self, line: _Line, question: AskModel, sample: int) -> Reply:
        from httpx2 import HTTPError, InvalidURL, TimeoutException  # 50 ms

        started = time.monotonic()
        try:
            response = await line.sent(self.request(question, sample), self.headers)
            reply = self.reply(_read(response)) if response.is_success else _refused(response)
        except AccessError as error:
            reply = Reply(end="auth" if error.denied else "outage", message=excerpt(str(error), 200))
        except TimeoutException:
            reply = Reply(end="timeout", message=f"the judge gave no answer within {self.timeout_secs:g} s")
        except (HTTPError, InvalidURL) as error:
            reply = Reply(end="outage", message=f"{type(error).__name__}: {excerpt(str(error), 200)}")
        except UnicodeEncodeError:  # its text would quote the key
            reply = Reply(end="no_judge", message="the judge's key has characters that a request cannot have")
        except ValueError as error:
            reply = unreadable(error)
        known = {"sample": sample, "attempt": question.attempt, "seconds": round(time.monotonic() - started, 3)}
        return reply.model_copy(update=known)


class _Line(NamedTuple):
    """The way to a provider: a client, the access, and the address of the API."""

    client: AsyncClient
    access: Access
    address: str

    async def sent(self, request: Request, headers: Mapping[str, str]) -> Response:
        """Send the request, again after temporary failures. A request that ran out of time is not repeated."""
        import asyncio  # 30 ms

        from httpx2 import TimeoutException, TransportError  # 50 ms

        unsent = ModelRequest(
            "POST",
            self.address + request.path,
            {"host": urlsplit(self.address).netloc.rpartition("@")[2], "content-type": "application/json", **headers},
            json.dumps(request.body).encode(),
        )
        for attempt in range(RETRIES + 1):
            wait = min(2.0**attempt / 2, LONGEST_WAIT)
            ready = await asyncio.to_thread(self.access.authorized, unsent)
            try:
                response = await self.client.post(ready.url, content=ready.body, headers=dict(ready.headers))
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
