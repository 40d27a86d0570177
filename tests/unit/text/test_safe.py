"""None"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.text.safe import is_visible_json, log_line, one_line, printable, visible
from tidegate.text.scores import score_text
from tidegate.text.shorten import shortened


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain, 100 % ✅ é", "plain, 100 % ✅ é"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://evil.example\x1b\\link", "link"),
        ("\x1b]never closed\nthe next line stays", "\nthe next line stays"),
        ("a\x00b\x08c\x7f", "abc"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("gnp\u202eexe", "gnp[U+202E]exe"),
        ("zero\u200bwidth", "zero[U+200B]width"),
        ("no\u3164ink\u2800 \U000e0101", "no[U+3164]ink[U+2800] [U+E0101]"),
        ("half \ud800", "half \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_what_cannot_be_seen_is_removed_or_named(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_printable_text_has_no_escape_sequence_and_nothing_hidden() -> None:
    assert printable("\x1b[31mred\u202e\u3164\ue000\tand\r\nplain") == "red\tand\nplain"
    assert printable("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ a\x1b]never closed\nb\ud800") == "link a\nb\ufffd"


@given(st.text())
def test_visible_text_can_be_encoded_and_is_visible_already(text: str) -> None:
    seen = visible(text)
    seen.encode()
    assert visible(seen) == seen


def test_one_line_has_single_spaces() -> None:
    assert one_line("  a\n\n b\tc ") == "a b c"


@pytest.mark.parametrize(("limit", "short"), [(5, "abcde"), (4, "abc…"), (1, "…")])
def test_shortened_text_ends_in_an_ellipsis(limit: int, short: str) -> None:
    assert shortened("abcde", limit) == short


@given(
    st.text() | st.sampled_from(["::error::x", "  ::set-output name=a::b", "\u200b::x::", "##[error]x", "\x1b[0m::x::"])
)
def test_no_log_line_is_a_workflow_command(text: str) -> None:
    line = log_line(text)
    assert not line.lstrip().startswith("::")
    assert "##[" not in line
    assert "\n" not in line


def test_json_is_visible_only_if_no_text_in_it_changes() -> None:
    """Every character, by itself and after a backslash; of those that are visible, most are seen to be so."""
    seen = 0
    for number in (*range(0x3400), *range(0xD7F0, 0x10000), *range(0xE0000, 0xE0200)):
        for text in (chr(number), f"\\{chr(number)}"):
            if is_visible_json(json.dumps([text], ensure_ascii=False)):
                assert visible(text) == text
                seen += 1
    assert seen > 13_000
    assert all(is_visible_json(f'["1{space}000"]') for space in "\u00a0\u2009\u202f")
    assert is_visible_json(json.dumps({"a": 'two\nlines\tand "quotes"\\ …'}, ensure_ascii=False))


# --- scores


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.825, None, "0.825"),
        (0.825, 0.83, "0.825"),
        (0.82, 0.83, "0.82"),
        (1.0, None, "1.00"),
        (2 / 3, None, "0.67"),
        (0.7999, 0.8, "0.7999"),
        (0.79999999, 0.8, "0.79999999"),
        (0.8 - 1e-12, 0.8, "0.80"),  # a rounding error of the sum
        (0.8, 0.8, "0.80"),
        (0.8049, 0.8, "0.80"),
    ],
)
def test_a_rounded_score_never_contradicts_its_comparison(value: float, limit: float | None, shown: str) -> None:
    assert score_text(value, limit) == shown
