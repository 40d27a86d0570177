"""Tokens of streams that are cut in the middle: by the provider, by the agent, or because the trial ends."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple

import pytest

from tests.unit.agents.model_proxy.test_proxy import HEAD, client, lent_by, posted
from tidegate.agents.model_proxy.answers import request_letters
from tidegate.agents.model_proxy.traffic import Lease
from tidegate.model.event import End
from tidegate.model.provider import ANTHROPIC, GOOGLE, OPENAI, ModelApi

BODY = b'{"input": "' + 27 * b"x" + b'"}'  # 40 letters: 10 tokens
CUT = HEAD + b"content-length: 9999\r\n\r\n"


class Shape(NamedTuple):
    """A provider's stream, event by event; `cut` is what counts without the last event, and `whole` with it.

    Counts are given, said, read from the cache, written to it.
    """

    provider: ModelApi
    path: str
    events: tuple[dict[str, Any], ...]
    cut: tuple[int, int, int, int]
    whole: tuple[int, int, int, int]


USAGE = {"input_tokens": 7, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1, "output_tokens": 1}
SHAPES = {
    # 16 letters of text and arguments: 4 tokens.
    "anthropic": Shape(
        ANTHROPIC,
        "/v1/messages",
        (
            {"type": "message_start", "message": {"usage": USAGE}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "12345678"}},
            {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
        ),
        (10, 4, 2, 1),
        (10, 3, 2, 1),
    ),
    # Nothing is reported before the end: 40 letters of the request are 10 tokens, 9 of the answer 3.
    "responses": Shape(
        OPENAI,
        "/responses",
        (
            {"type": "response.created", "response": {"status": "in_progress", "usage": None}},
            {"type": "response.output_text.delta", "item_id": "m", "delta": "123456789"},
            {
                "type": "response.completed",
                "response": {
                    "usage": {"input_tokens": 8, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}
                },
            },
        ),
        (10, 3, 0, 0),
        (8, 2, 4, 0),
    ),
    "chat": Shape(
        OPENAI,
        "/chat/completions",
        (
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "12345678"}}]},
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1234"}}]}}]},
            {"choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": 2}},
        ),
        (10, 3, 0, 0),
        (8, 2, 0, 0),
    ),
    # The last report before the cut is of 2 tokens; 12 letters are 3.
    "gemini": Shape(
        GOOGLE,
        "/v1beta/models/m:streamGenerateContent",
        (
            {
                "candidates": [{"content": {"role": "model", "parts": [{"text": "12345678"}]}}],
                "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "cachedContentTokenCount": 5},
            },
            {"candidates": [{"content": {"parts": [{"text": "1234"}]}}]},
            {
                "candidates": [{"content": {"parts": []}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "thoughtsTokenCount": 4},
            },
        ),
        (8, 3, 5, 0),
        (8, 6, 5, 0),
    ),
}


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> Shape:
    return SHAPES[request.param]


def lines(events: tuple[dict[str, Any], ...]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


@contextmanager
def asked(lease: Lease, shape: Shape) -> Iterator[http.client.HTTPResponse]:
    """The answer to a streamed request, of which nothing is read yet."""
    with client(lease) as connection, posted(connection, lease, BODY, shape.path) as answer:
        yield answer


def counted(end: End | None) -> tuple[int | None, ...]:
    assert end
    return end.tokens_in, end.tokens_out, end.tokens_cache_read, end.tokens_cache_write


def when_counted(lease: Lease, expected: tuple[int, ...]) -> End:
    """What the proxy knows once it has the expected tokens; the last thing that it knew if it never does."""
    deadline = time.monotonic() + 20
    while counted(found := lease.traffic.told() or End(end="killed")) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def test_a_stream_that_the_provider_cuts_counts_as_far_as_it_came(shape: Shape) -> None:
    with lent_by(CUT + lines(shape.events[:-1]), go_on=Event(), provider=shape.provider) as lease:
        with asked(lease, shape) as answer, pytest.raises(http.client.IncompleteRead):
            answer.read()
        told = when_counted(lease, shape.cut)
    assert told.tokens_guessed
    assert counted(told) == shape.cut
    assert told.end == "outage"


def test_a_stream_that_is_still_under_way_counts_when_its_agent_is_stopped(shape: Shape) -> None:
    """The trial ends before the provider goes on: nobody reads what would follow."""
    go_on = Event()
    with (
        lent_by(
            HEAD + b"\r\n" + lines(shape.events[:-1]), b"data: 1\n\n", go_on=go_on, provider=shape.provider
        ) as lease,
        asked(lease, shape) as answer,
    ):
        assert answer.read1()
        told = when_counted(lease, shape.cut)
    assert told.tokens_guessed
    assert counted(told) == shape.cut


def test_a_stream_that_its_agent_leaves_counts(shape: Shape) -> None:
    go_on = Event()
    more = (1 << 12) * [b": nothing\n\n" * 100]
    parts = (HEAD + b"\r\n" + lines(shape.events[:-1]), *more)
    with lent_by(*parts, go_on=go_on, provider=shape.provider) as lease:
        with asked(lease, shape) as answer:
            assert answer.read1()
        go_on.set()
        told = when_counted(lease, shape.cut)
    assert told.tokens_guessed
    assert (counted(told), told.end) == (shape.cut, "killed")


def test_nothing_is_guessed_of_a_whole_stream(shape: Shape) -> None:
    with lent_by(HEAD + b"\r\n" + lines(shape.events), go_on=Event(), provider=shape.provider) as lease:
        with asked(lease, shape) as answer:
            answer.read()
        told = when_counted(lease, shape.whole)
    assert not told.tokens_guessed
    assert counted(told) == shape.whole


def test_an_image_is_not_guessed_by_its_letters() -> None:
    image = b'{"image": "' + 5000 * b"iVBORw0K" + b'=="}'
    assert request_letters(image) == len(b'{"image": ""}')
