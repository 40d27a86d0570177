"""The judge `openai`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from tidegate.agents.streams.json_values import Json, items, mapping, text
from tidegate.checks.judges.provider import ProviderJudge, Request, used
from tidegate.model.judge import AskModel, Reply, ReplyEnd
from tidegate.model.provider import OPENAI, ModelApi

_FINISHED: dict[str, ReplyEnd] = {"stop": "answered", "length": "max_tokens", "content_filter": "refused"}
_INCOMPLETE: dict[str, ReplyEnd] = {"max_output_tokens": "max_tokens", "content_filter": "refused"}


class OpenAIJudge(ProviderJudge):
    """An OpenAI model, or one behind a compatible API, held to the answer's form by structured output.

    Needs `OPENAI_API_KEY`, or a `provider`, whose address ends with `/v1`. Without a provider, `OPENAI_BASE_URL` can
    name it. Most compatible servers have `api: chat` only. `structured: false` is for servers
    that reject JSON schemas: the form is then part of the prompt. Without `max_tokens`, the provider's own limit holds.
    Temporary failures (408, 409, 429, 5xx, broken connections) are retried twice.
    """

    apis: ClassVar[Mapping[str, ModelApi]] = dict.fromkeys(("openai", "compatible", "bedrock", "azure"), OPENAI)
    headers: ClassVar[Mapping[str, str]] = {"authorization": "Bearer "}

    type: Literal["openai"]
    model: str
    api: Literal["responses", "chat"] = "responses"
    structured: bool = True
    max_tokens: int | None = Field(default=None, gt=0)

    def request(self, question: AskModel, sample: int) -> Request:
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

    def _with(self, path: str, body: Json, form: Json, limit: Json) -> Request:
        more = (form if self.structured else {}) | (limit if self.max_tokens else {})
        return Request(path, {"model": self.model, **body, **more})

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
