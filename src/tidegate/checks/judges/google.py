"""The judge `google`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field

from tidegate.agents.streams.json_values import Json, items, mapping, text
from tidegate.checks.judges.provider import ProviderJudge, Request, used
from tidegate.model.judge import AskModel, Reply, ReplyEnd
from tidegate.model.provider import GOOGLE, VERTEX_GEMINI, ModelApi

_BLOCKED = ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
_ENDS: dict[str, ReplyEnd] = {"STOP": "answered", "MAX_TOKENS": "max_tokens", **dict.fromkeys(_BLOCKED, "refused")}


class GoogleJudge(ProviderJudge):
    """A Gemini model, held to the answer's form by structured output.

    Needs `GEMINI_API_KEY`, or a `provider`, whose address is the part before `/v1beta`. Without a provider,
    `GOOGLE_GEMINI_BASE_URL` can name it. Without `max_tokens`, the provider's own limit holds. Temporary failures (408,
    409, 429, 5xx, broken connections) are retried twice.
    """

    apis: ClassVar[Mapping[str, ModelApi]] = {"gemini": GOOGLE, "compatible": GOOGLE, "vertex": VERTEX_GEMINI}
    headers: ClassVar[Mapping[str, str]] = {"x-goog-api-key": ""}

    type: Literal["google"]
    model: str
    max_tokens: int | None = Field(default=None, gt=0)

    def request(self, question: AskModel, sample: int) -> Request:
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
        return Request(f"/{folder}/models/{name}:generateContent", body)

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
            end=_ENDS.get(stop, "failed"),
            text="".join(text(part, "text") for part in parts if not part.get("thought")),
            message="" if _ENDS.get(stop) == "answered" else f"the model stopped: {stop}",
        ).model_copy(update=known)
