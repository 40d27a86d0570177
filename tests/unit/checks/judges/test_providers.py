"""The judges of providers: what they send, and what the answers become. No failure is raised."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from pydantic import ValidationError

from tests.model_server import HALF, Fault, Json, ModelServer, Step, serving
from tidegate.checks.judges.provider import (
    AnthropicJudge,
    GoogleJudge,
    OpenAIJudge,
    ProviderJudge,
    read_response,
    unreadable,
)
from tidegate.checks.rubrics.reading import scores_form
from tidegate.model.judge import AskModel, JudgeContext, Reply, ReplyEnd

FORM = scores_form(["kept"])
QUESTION = AskModel(system="You judge.", before="the work", answer_schema=FORM)
SAID = Step('{"scores": {"kept": 1}}')
KEYS = {
    "OPENAI_API_KEY": "dummy-key",
    "GEMINI_API_KEY": "dummy-key",
    "ANTHROPIC_API_KEY": "dummy-key",
    "OWN_KEY": "own-key",
}
NO = {"type": "refusal", "refusal": "No."}
LIMIT = {"reason": "max_output_tokens"}
SOON = {"retry-after-ms": "1"}


def judge(kind: str, **fields: Any) -> ProviderJudge:
    """A judge by the name of its API."""
    if kind == "google":
        return GoogleJudge(type="google", model="gemini-x", **fields)
    if kind == "anthropic":
        return AnthropicJudge(type="anthropic", model="claude-x", **fields)
    return OpenAIJudge(type="openai", model="gpt-x", **{"api": kind, **fields})


def at(kind: str, server: ModelServer, **keys: str) -> Json:
    """The provider that reaches the server, as a suite names it."""
    if kind == "google":
        return {"type": "gemini", "base_url": server.url, **keys}
    if kind == "anthropic":
        return {"type": "anthropic", "base_url": server.url, **keys}
    return {"type": "openai", "base_url": f"{server.url}/v1", **keys}


def asked(asking: ProviderJudge, environ: dict[str, str]) -> Reply:
    async def ask_once() -> Reply:
        async with asking.opened(JudgeContext(Path(), environ)) as ask:
            return await ask(QUESTION, 2)

    return asyncio.run(ask_once())


def served(kind: str, answer: Step | Fault = SAID, **fields: Any) -> tuple[Reply, ModelServer]:
    """What the judge replies if the provider answers like that, and the server with the requests that it got."""
    with serving([]) as server:
        server.judge = lambda _: answer
        return asked(judge(kind, provider=at(kind, server), timeout_secs=20, **fields), KEYS), server


@pytest.mark.parametrize("kind", ["responses", "chat", "google"])
def test_an_answer_comes_with_its_model_and_tokens(kind: str) -> None:
    reply, _ = served(kind)
    assert (reply.end, reply.text, reply.sample) == ("answered", SAID.text, 2)
    assert (reply.tokens_in, reply.tokens_out) == (100, 20)
    assert reply.model == ("gemini-x" if kind == "google" else "gpt-x")


def test_openai_is_held_to_the_form_by_both_of_its_apis() -> None:
    strict: Json = {"name": "answer", "schema": FORM, "strict": True}
    messages = [{"role": "system", "content": "You judge."}, {"role": "user", "content": "the work"}]

    _, server = served("responses", max_tokens=9)
    ((path, body, headers),) = server.requests
    form: Json = {"format": {"type": "json_schema", **strict}}
    assert (path, headers["authorization"]) == ("/v1/responses", "Bearer dummy-key")
    assert body == {"model": "gpt-x", "input": messages, "store": False, "text": form, "max_output_tokens": 9}

    _, server = served("chat", max_tokens=9)
    ((path, body, _),) = server.requests
    form = {"type": "json_schema", "json_schema": strict}
    assert path == "/v1/chat/completions"
    assert body == {"model": "gpt-x", "messages": messages, "response_format": form, "max_completion_tokens": 9}


def test_google_is_held_to_the_form() -> None:
    _, server = served("google", max_tokens=9)
    ((path, body, headers),) = server.requests
    assert (path, headers["x-goog-api-key"]) == ("/v1beta/models/gemini-x:generateContent", "dummy-key")
    form = {"responseMimeType": "application/json", "responseJsonSchema": FORM, "maxOutputTokens": 9}
    assert body["generationConfig"] == form
    assert body["systemInstruction"] == {"parts": [{"text": "You judge."}]}
    assert body["contents"] == [{"role": "user", "parts": [{"text": "the work"}]}]


def test_a_server_without_structured_output_reads_the_form_in_the_prompt() -> None:
    _, server = served("chat", structured=False)
    ((_, body, _),) = server.requests
    assert "response_format" not in body
    assert json.dumps(FORM, indent=1) in body["messages"][0]["content"]


def test_another_key_can_be_named() -> None:
    with serving([]) as server:
        server.judge = lambda _: SAID
        reply = asked(judge("chat", provider=at("chat", server, key="OWN_KEY")), KEYS)
    assert reply.end == "answered"
    assert server.requests[0][2]["authorization"] == "Bearer own-key"


def test_without_a_provider_the_environment_says_where_the_model_is() -> None:
    with serving([]) as server:
        server.judge = lambda _: SAID
        reply = asked(judge("chat"), KEYS | {"OPENAI_BASE_URL": f"{server.url}/v1/"})
    assert reply.end == "answered"
    assert server.requests[0][2]["authorization"] == "Bearer dummy-key"


def test_a_server_without_keys_is_sent_none() -> None:
    with serving([]) as server:
        server.judge = lambda _: SAID
        reply = asked(judge("chat", provider={"type": "compatible", "base_url": f"{server.url}/v1"}), KEYS)
    assert reply.end == "answered"
    assert "authorization" not in server.requests[0][2]


@pytest.mark.parametrize(("key", "address"), [("clé", "http://h.example"), ("k", "http://[h"), ("k", "nowhere")])
def test_a_key_or_an_address_that_no_request_can_have_is_told(key: str, address: str) -> None:
    reply = asked(judge("chat"), {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": address})
    assert reply.end in ("no_judge", "outage")
    assert key not in reply.message or key == "k"


def test_a_provider_without_the_judge_s_api_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be of type gemini or vertex or compatible for this judge"):
        judge("google", provider={"type": "bedrock", "region": "us-east-1"})


@pytest.mark.parametrize(
    ("kind", "stop", "end"),
    [
        ("responses", "failed", "failed"),
        ("chat", "length", "max_tokens"),
        ("chat", "content_filter", "refused"),
        ("chat", "tool_calls", "failed"),
        ("google", "MAX_TOKENS", "max_tokens"),
        ("google", "SAFETY", "refused"),
        ("google", "MALFORMED_FUNCTION_CALL", "failed"),
        ("anthropic", "pause_turn", "failed"),
        ("anthropic", "refusal", "refused"),
    ],
)
def test_an_answer_that_stopped_early_is_none(kind: str, stop: str, end: ReplyEnd) -> None:
    reply, _ = served(kind, Step("{", stop=stop))
    assert (reply.end, stop in reply.message or end != "failed") == (end, True)


@pytest.mark.parametrize(
    ("kind", "answer", "end"),
    [
        ("responses", {"status": "completed", "output": [{"content": [NO]}]}, "refused"),
        ("responses", {"status": "incomplete", "output": [], "incomplete_details": LIMIT}, "max_tokens"),
        ("chat", {"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}, "refused"),
        ("google", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "refused"),
    ],
)  # fmt: skip
def test_refusals_and_limits_in_the_answers_themselves(kind: str, answer: Json, end: ReplyEnd) -> None:
    assert judge(kind).reply(answer).end == end


def test_thoughts_are_no_part_of_an_answer_and_missing_tokens_are_not_zero() -> None:
    parts = [{"text": "Hm.", "thought": True}, {"text": "{}"}]
    reply = judge("google").reply({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("{}", None, None)


@pytest.mark.parametrize(
    ("fault", "end", "says", "requests"),
    [
        (Fault(401, "invalid_request_error"), "auth", "HTTP 401, invalid_request_error: scripted 401", 1),
        (Fault(400, message="API key not valid", kind="API_KEY_INVALID"), "auth", "API key not valid", 1),
        (Fault(404, "not_found"), "failed", "HTTP 404", 1),
        (Fault(302, headers={"location": "/elsewhere"}), "outage", "HTTP 302", 1),
        (Fault(503, headers=SOON), "outage", "HTTP 503, api_error: scripted 503", 3),
        (Fault(429, headers=SOON), "outage", "HTTP 429", 3),
    ],
)
def test_errors_are_told_and_temporary_ones_are_retried_twice(
    fault: Fault, end: ReplyEnd, says: str, requests: int
) -> None:
    reply, server = served("responses", fault)
    assert (reply.end, len(server.requests)) == (end, requests)
    assert says in reply.message


@pytest.mark.parametrize("fault", [Fault(0), Fault(HALF)])
def test_a_broken_connection_is_retried(fault: Fault) -> None:
    with serving([], [fault]) as server:
        server.judge = lambda body: SAID if body else fault
        reply = asked(judge("responses", provider=at("responses", server)), KEYS)
    assert (reply.end, len(server.requests)) == ("answered", 2)


WHOLE = {"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}


@pytest.mark.parametrize("kind", ["responses", "chat", "google", "anthropic"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"output": None},
        {"candidates": "x"},
        WHOLE,
        WHOLE | {"content": None},
        WHOLE | {"content": [{"type": "text"}]},
    ],
)
def test_what_is_no_message_is_no_answer(kind: str, body: Json) -> None:
    with pytest.raises(ValueError, match="no "):
        judge(kind).reply(body)


@pytest.mark.parametrize("text", ["<html>Please log in to the network.</html>", "[]", "null", '{"id":'])
def test_an_answer_that_is_no_json_object_is_an_outage(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)) as raised:
        read_response(Response(200, text=text))
    assert unreadable(raised.value).end == "outage"


def test_a_missing_key_is_told_without_asking() -> None:
    reply = asked(judge("google", provider={"type": "gemini", "key": "NOT_SET"}), {"GEMINI_API_KEY": "dummy-key"})
    assert (reply.end, reply.message) == ("no_judge", "the judge google needs a key in NOT_SET")
