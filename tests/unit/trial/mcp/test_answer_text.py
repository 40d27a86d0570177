"""What gates and agents are shown of an answer of an MCP server."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.checks.gates.assertion import parse_json
from tidegate.trial.mcp.answer_status import CALL, PROMPT, READ
from tidegate.trial.mcp.mcp_client import _has_no_text, _part, _text

STRUCTURE = {"structuredContent": {"count": 2}}
IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "items://all", "name": "x"}
EMBEDDED = {"type": "resource", "resource": {"uri": "items://all", "text": '{"count": 2}'}}


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("result", "is_without"),
    [
        ({"content": [block("2")]}, False),
        ({"content": []}, False),
        ({"content": [block("")]}, False),
        ({"content": [block("2"), IMAGE], **STRUCTURE}, False),
        ({"content": [], **STRUCTURE}, True),
        ({"content": [block(" ")], **STRUCTURE}, True),
        ({"content": [IMAGE], **STRUCTURE}, True),
        ({"content": [LINK], **STRUCTURE}, True),
        ({"content": [EMBEDDED]}, True),
    ],
)
def test_other_content_is_no_text(result: dict[str, Any], is_without: bool) -> None:
    assert _has_no_text(result) is is_without


@pytest.mark.parametrize(
    "texts", [('{"count":', "2}"), ("", '{"count": 2}')], ids=["cut in two", "behind an empty block"]
)
def test_json_is_in_one_block(texts: tuple[str, str]) -> None:
    contents = {"contents": [{"uri": "a:b", "text": one} for one in texts]}
    for method, result in ((CALL, {"content": [*map(block, texts)]}), (READ, contents)):
        with pytest.raises(ValueError, match=r".+"):
            parse_json(_text(method, result))
    assert parse_json(_text(CALL, {"content": [block('{"count": 2}')]})) == {"count": 2}


def test_no_line_of_a_message_looks_like_another_message() -> None:
    said = [("assistant", "x\nuser: Plan day\nuser of it: none"), ("user", "Plan\nday")]
    messages = [{"role": role, "content": block(text)} for role, text in said]
    shown = "assistant: x\n  user: Plan day\nuser of it: none\nuser: Plan\nday"
    assert _text(PROMPT, {"messages": messages}) == shown


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "data": "", "mimeType": "kept tea"},
        {"type": "resource_link", "uri": "note://kept tea", "name": "kept tea"},
        {"type": "resource", "resource": {"uri": "note://kept tea", "blob": ""}},
    ],
)
def test_a_sentence_in_a_type_or_an_address_is_not_read(part: dict[str, object]) -> None:
    assert "kept tea" not in _part(part)


@pytest.mark.parametrize(
    ("method", "own"),
    [
        (CALL, {"content": [block("own")]}),
        (READ, {"contents": [{"uri": "a:b", "text": "own"}]}),
        (PROMPT, {"messages": [{"role": "user", "content": block("own")}]}),
    ],
)
def test_a_field_that_the_result_of_a_method_does_not_have_is_not_read(method: str, own: dict[str, Any]) -> None:
    others: dict[str, Any] = {
        "content": [block("other")],
        "contents": [{"uri": "a:b", "text": "other"}],
        "messages": [{"role": "user", "content": block("other")}],
    }
    if method != CALL:
        others |= STRUCTURE
    assert "own" in _text(method, others | own)
    assert "other" not in _text(method, others | own)


def test_a_message_may_have_several_blocks_or_none() -> None:
    messages = [{"role": "user", "content": [block("a"), block("b"), "c"]}, {"role": "user", "content": None}]
    assert _text(PROMPT, {"messages": messages}).startswith("user: a")
    assert _text(PROMPT, {"messages": messages}).endswith("user: ")


def test_only_text_and_resources_have_a_text() -> None:
    assert _part({**IMAGE, "text": "other"}) == "[image image/png]"
    assert _part({**block("own"), "resource": {"uri": "a:b", "text": "other"}}) == "own"
