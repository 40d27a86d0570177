"""The judges `anthropic`, `openai` and `google`: access to a model provider, requests with retries, and replies."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from pydantic import Field, field_validator

from tidegate.agents.model_proxy.answers import asked_secs, tokens_of
from tidegate.agents.providers import AnyProvider, types_with
from tidegate.agents.providers.clouds import BedrockProvider, VertexProvider
from tidegate.agents.providers.keyed import CompatibleProvider
from tidegate.agents.streams.json_lines import Json, items, mapping, text
from tidegate.model.field_types import wrong
from tidegate.model.judge import Ask, AskModel, Judge, JudgeContext, Reply, ReplyEnd
from tidegate.model.provider import (
    ANTHROPIC,
    BEDROCK,
    FOUNDRY,
    GOOGLE,
    OPENAI,
    VERTEX_CLAUDE,
    VERTEX_GEMINI,
    Access,
    AccessError,
    ModelApi,
    ModelProvider,
    ModelRequest,
)
from tidegate.text.shorten import excerpt

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response


RETRIES = 2  # of a request, after temporary failures
LONGEST_WAIT = 60.0  # seconds before a retry, whatever the provider asks for
_TEMPORARY = (408, 409, 429)  # and 5xx
_REFUSALS = (400, 404, 413, 422)


class JudgeRequest(NamedTuple):
    """A request to a provider, relative to its address."""

    path: str
    body: dict[str, Any]


class ProviderJudge(Judge):
    """A judge whose model is asked through a provider's API, by HTTP requests with JSON bodies."""

    apis: ClassVar[tuple[ModelApi, ...]]  # that it can use; first the one that it uses without `provider`
    headers: ClassVar[Mapping[str, str]]  # of each request; the one for the key gets the key

    provider: AnyProvider | None = None

    @field_validator("provider", mode="after")
    @classmethod
    def _can_use(cls, provider: ModelProvider | None) -> ModelProvider | None:
        if provider is not None and provider.api_of(cls.apis) is None:
            raise wrong(f"must be of type {types_with(cls.apis)} for this judge, not {provider.type}")
        return provider

    @property
    def model_api(self) -> ModelApi:
        """The API of its model."""
        return (self.provider and self.provider.api_of(self.apis)) or self.apis[0]

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

    def request(self, question: AskModel, sample: int) -> JudgeRequest:
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
            reply = self.reply(read_response(response)) if response.is_success else _refused(response)
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

    async def sent(self, request: JudgeRequest, headers: Mapping[str, str]) -> Response:
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
                wait = min(asked_secs(response.headers) or wait, LONGEST_WAIT)
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


def _end_of_status(status: int | None) -> ReplyEnd:
    """Return the end for an HTTP error."""
    return "auth" if status in (401, 403) else "failed" if status in _REFUSALS else "outage"


def provider_error(status: int, kind: object, message: object) -> str:
    """Return the message of a provider's error: `HTTP 529, overloaded_error: Overloaded`."""
    return excerpt(f"the judge's provider said HTTP {status}, {kind}: {message}", 200)


def read_response(response: Response) -> Json:
    """Return the JSON object that a provider answered. Raises ValueError with its text if it is not one."""
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
    end: ReplyEnd = "auth" if "API_KEY_INVALID" in response.text else _end_of_status(status)
    kind = text(error, "type") or text(error, "status") or text(error, "code") or response.reason_phrase
    return Reply(end=end, message=provider_error(status, kind, text(error, "message")))


_ANTHROPIC_ENDS: dict[str, ReplyEnd] = {
    "end_turn": "answered",
    "stop_sequence": "answered",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refused",
}


class AnthropicJudge(ProviderJudge):
    """An Anthropic model, held to the answer's form by structured output.

    Needs `ANTHROPIC_API_KEY`, or a `provider`. Without a provider, `ANTHROPIC_BASE_URL` can name the address of the
    API. Temporary failures (408, 409, 429, 5xx, broken connections) are retried twice.
    """

    apis: ClassVar[tuple[ModelApi, ...]] = (ANTHROPIC, BEDROCK, VERTEX_CLAUDE, FOUNDRY)
    headers: ClassVar[Mapping[str, str]] = {"x-api-key": "", "anthropic-version": "2023-06-01"}

    type: Literal["anthropic"]
    model: str
    max_tokens: int = Field(default=4096, gt=0, le=20_000)

    def request(self, question: AskModel, sample: int) -> JudgeRequest:
        """Return the request of the Messages API, which has another form in two clouds."""
        body: dict[str, Any] = {
            "max_tokens": self.max_tokens,
            "system": question.system,
            "messages": [{"role": "user", "content": question.prompt(sample)}],
            "output_config": {"format": {"type": "json_schema", "schema": question.answer_schema}},
        }
        model = quote(self.model, safe="@")
        match self.provider:
            case BedrockProvider():
                return JudgeRequest(f"/model/{model}/invoke", {"anthropic_version": "bedrock-2023-05-31", **body})
            case VertexProvider(project=project, region=region):
                place = f"/projects/{project}/locations/{region}/publishers/anthropic/models/{model}:rawPredict"
                return JudgeRequest(place, {"anthropic_version": "vertex-2023-10-16", **body})
            case _:
                return JudgeRequest("/v1/messages", {"model": self.model, **body})

    def reply(self, data: Json) -> Reply:
        """Return the text of the message."""
        stop = text(data, "stop_reason")
        said = [block.get("text") for block in items(data, "content") if block.get("type") == "text"]
        if not stop or not isinstance(data.get("content"), list) or None in said:
            raise ValueError(f"no message in {data}")
        return Reply(
            end=_ANTHROPIC_ENDS.get(stop, "failed"),
            text="".join(map(str, said)),
            message="" if stop in _ANTHROPIC_ENDS else f"the model stopped: {stop}",
        ).model_copy(update={"model": text(data, "model") or self.model, **used(data)})


_FINISHED: dict[str, ReplyEnd] = {"stop": "answered", "length": "max_tokens", "content_filter": "refused"}
_INCOMPLETE: dict[str, ReplyEnd] = {"max_output_tokens": "max_tokens", "content_filter": "refused"}


class OpenAIJudge(ProviderJudge):
    """An OpenAI model, or one behind a compatible API, held to the answer's form by structured output.

    Needs `OPENAI_API_KEY`, or a `provider`, whose address ends with `/v1`. Without a provider, `OPENAI_BASE_URL` can
    name it. Most compatible servers have `api: chat` only. `structured: false` is for servers
    that reject JSON schemas: the form is then part of the prompt. Without `max_tokens`, the provider's own limit holds.
    Temporary failures (408, 409, 429, 5xx, broken connections) are retried twice.
    """

    apis: ClassVar[tuple[ModelApi, ...]] = (OPENAI,)
    headers: ClassVar[Mapping[str, str]] = {"authorization": "Bearer "}

    type: Literal["openai"]
    model: str
    api: Literal["responses", "chat"] = "responses"
    structured: bool = True
    max_tokens: int | None = Field(default=None, gt=0)

    def request(self, question: AskModel, sample: int) -> JudgeRequest:
        """Return the request of the chosen API."""
        schema = {"name": "answer", "schema": question.answer_schema, "strict": True}
        system = question.system if self.structured else f"{question.system}\n\n{question.form}"
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question.prompt(sample)}]
        if self.api == "chat":
            chat: dict[str, Any] = {"response_format": {"type": "json_schema", "json_schema": schema}}
            limit = {"max_completion_tokens": self.max_tokens}
            return self._with("/chat/completions", {"messages": messages}, chat, limit)
        form = {"text": {"format": {"type": "json_schema", **schema}}}
        limit = {"max_output_tokens": self.max_tokens}
        return self._with("/responses", {"input": messages, "store": False}, form, limit)

    def _with(self, path: str, body: Json, form: Json, limit: Json) -> JudgeRequest:
        more = (form if self.structured else {}) | (limit if self.max_tokens else {})
        return JudgeRequest(path, {"model": self.model, **body, **more})

    def reply(self, data: Json) -> Reply:
        """Return the reply of either API."""
        found = _of_chat(data) if self.api == "chat" else _of_response(data)
        return found.model_copy(update={"model": text(data, "model") or self.model, **used(data)})


def _of_chat(data: Json) -> Reply:
    choices = items(data, "choices")
    if not choices:
        raise ValueError(f"no choices in {data}")
    message = mapping(choices[0], "message")
    if refusal := text(message, "refusal"):
        return Reply(end="refused", message=refusal)
    return _reply(text(choices[0], "finish_reason"), _FINISHED, text(message, "content"))


def _of_response(data: Json) -> Reply:
    if not isinstance(data.get("output"), list):
        raise ValueError(f"no output in {data}")
    parts = [part for item in items(data, "output") for part in items(item, "content")]
    if refusal := next((text(part, "refusal") for part in parts if part.get("type") == "refusal"), ""):
        return Reply(end="refused", message=refusal)
    said = "".join(text(part, "text") for part in parts if part.get("type") == "output_text")
    status = text(data, "status")
    if status == "incomplete":
        return _reply(text(mapping(data, "incomplete_details"), "reason"), _INCOMPLETE, said)
    return _reply(status, {"completed": "answered"}, said, text(mapping(data, "error"), "message"))


def _reply(stop: str, ends: Mapping[str, ReplyEnd], said: str, why: str = "") -> Reply:
    return Reply(
        end=ends.get(stop, "failed"), text=said, message="" if stop in ends else why or f"the model stopped: {stop}"
    )


_BLOCKED = ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
_GOOGLE_ENDS: dict[str, ReplyEnd] = {
    "STOP": "answered",
    "MAX_TOKENS": "max_tokens",
    **dict.fromkeys(_BLOCKED, "refused"),
}


class GoogleJudge(ProviderJudge):
    """A Gemini model, held to the answer's form by structured output.

    Needs `GEMINI_API_KEY`, or a `provider`, whose address is the part before `/v1beta`. Without a provider,
    `GOOGLE_GEMINI_BASE_URL` can name it. Without `max_tokens`, the provider's own limit holds. Temporary failures (408,
    409, 429, 5xx, broken connections) are retried twice.
    """

    apis: ClassVar[tuple[ModelApi, ...]] = (GOOGLE, VERTEX_GEMINI)
    headers: ClassVar[Mapping[str, str]] = {"x-goog-api-key": ""}

    type: Literal["google"]
    model: str
    max_tokens: int | None = Field(default=None, gt=0)

    def request(self, question: AskModel, sample: int) -> JudgeRequest:
        """Return the request of `generateContent`."""
        form: dict[str, Any] = {"responseMimeType": "application/json", "responseJsonSchema": question.answer_schema}
        if self.max_tokens:
            form["maxOutputTokens"] = self.max_tokens
        body = {
            "systemInstruction": {"parts": [{"text": question.system}]},
            "contents": [{"role": "user", "parts": [{"text": question.prompt(sample)}]}],
            "generationConfig": form,
        }
        name = quote(self.model.removeprefix("models/"), safe="")
        folder = "v1/publishers/google" if self.model_api == VERTEX_GEMINI else "v1beta"
        return JudgeRequest(f"/{folder}/models/{name}:generateContent", body)

    def reply(self, data: Json) -> Reply:
        """Return the first candidate's text without its thoughts."""
        known = {"model": text(data, "modelVersion") or self.model, **used(data)}
        if blocked := text(mapping(data, "promptFeedback"), "blockReason"):
            return Reply(end="refused", message=blocked).model_copy(update=known)
        candidates = items(data, "candidates")
        if not candidates:
            raise ValueError(f"no candidates in {data}")
        stop = text(candidates[0], "finishReason")
        parts = items(mapping(candidates[0], "content"), "parts")
        return Reply(
            end=_GOOGLE_ENDS.get(stop, "failed"),
            text="".join(text(part, "text") for part in parts if not part.get("thought")),
            message="" if _GOOGLE_ENDS.get(stop) == "answered" else f"the model stopped: {stop}",
        ).model_copy(update=known)
