"""Tokens in the answers of providers, however they are cut into pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.model_proxy.answers import LONGEST, Answer, Tokens

ANTHROPIC = {"input_tokens": 7, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1, "output_tokens": 5}
WHOLE: list[tuple[dict[str, Any], Tokens]] = [
    ({"content": [], "usage": ANTHROPIC}, Tokens(10, 5, 2, 1)),
    ({"usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3}}, Tokens(9, 3, 4)),
    ({"usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}}, Tokens(8, 5)),
    ({"content": [{"text": '"usage"'}]}, Tokens()),
    ({"usage": {"input_tokens": -1, "output_tokens": "many"}}, Tokens()),
    ({"usage": None}, Tokens()),
]
STREAM = b"".join(
    f"event: x\ndata: {json.dumps(data)}\n\n".encode()
    for data in (
        {"type": "message_start", "message": {"usage": ANTHROPIC | {"output_tokens": 1}}},
        {"type": "content_block_delta", "delta": {"text": 'the "usage" of it'}},
        {"type": "message_delta", "usage": {"output_tokens": 5}},
    )
)


def tokens(*pieces: bytes, streamed: bool) -> Tokens:
    answer = Answer(streamed=streamed)
    for piece in pieces:
        answer.feed(piece)
    answer.close()
    return answer.tokens


@pytest.mark.parametrize(("answer", "expected"), WHOLE)
def test_a_whole_answer(answer: dict[str, Any], expected: Tokens) -> None:
    assert tokens(json.dumps(answer).encode(), streamed=False) == expected
    assert tokens(json.dumps(answer, indent=2).encode(), streamed=False) == expected


@given(st.lists(st.integers(0, len(STREAM)), max_size=5))
def test_a_stream_in_pieces(cuts: list[int]) -> None:
    """It tells its input first and its output again and again; where it is cut does not matter."""
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(places)]
    assert tokens(*pieces, streamed=True) == Tokens(10, 5, 2, 1)


@given(st.lists(st.binary(max_size=50) | st.sampled_from([b'"usage"', b"\n", b"data: ", b"[1]"]), max_size=9))
def test_anything_else_tells_nothing_and_never_raises(pieces: list[bytes]) -> None:
    assert tokens(*pieces, streamed=True) == Tokens()


def test_what_is_too_long_is_not_kept() -> None:
    answer = Answer(streamed=False)
    for _ in range(3):
        answer.feed(b" " * (LONGEST // 2))
    answer.feed(json.dumps(WHOLE[0][0]).encode())
    answer.close()
    assert answer.tokens == Tokens()
