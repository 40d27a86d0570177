"""The judge `anthropic`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field

from tidegate.agents.providers.bedrock import BedrockProvider
from tidegate.agents.providers.vertex import VertexProvider
from tidegate.agents.streams.json_values import Json, items, text
from tidegate.checks.judges.provider import ProviderJudge, Request, used
from tidegate.model.judge import AskModel, Reply, ReplyEnd
from tidegate.model.provider import ANTHROPIC, BEDROCK, FOUNDRY, VERTEX_CLAUDE, ModelApi

_ENDS: dict[str, ReplyEnd] = {
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

    apis: ClassVar[Mapping[str, ModelApi]] = {
        "anthropic": ANTHROPIC,
        "compatible": ANTHROPIC,
        "bedrock": BEDROCK,
        "vertex": VERTEX_CLAUDE,
        "azure": FOUNDRY,
    }
    headers: ClassVar[Mapping[str, str]] = {"x-api-key": "", "anthropic-version": "2023-06-01"}

    type: Literal["anthropic"]
    model: str
    max_tokens: int = Field(default=4096, gt=0, le=20_000)

    def request(self, question: AskModel, sample: int) -> Request:
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
                return Request(f"/model/{model}/invoke", {"anthropic_version": "bedrock-2023-05-31", **body})
            case VertexProvider(project=project, region=region):
                place = f"/projects/{project}/locations/{region}/publishers/anthropic/models/{model}:rawPredict"
                return Request(place, {"anthropic_version": "vertex-2023-10-16", **body})
            case _:
                return Request("/v1/messages", {"model": self.model, **body})

    def reply(self, data: Json) -> Reply:
        """Return the text of the message."""
        stop = text(data, "stop_reason")
        said = [block.get("text") for block in items(data, "content") if block.get("type") == "text"]
        if not stop or not isinstance(data.get("content"), list) or None in said:
            raise ValueError(f"no message in {data}")
        return Reply(
            end=_ENDS.get(stop, "failed"),
            text="".join(map(str, said)),
            message="" if stop in _ENDS else f"the model stopped: {stop}",
        ).model_copy(update={"model": text(data, "model") or self.model, **used(data)})
