from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tidegate.reports import filters
from tidegate.reports.filters import cell, code, fenced
from tidegate.text.safe import one_line, visible

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FORBIDDEN = {
    "html_inline",
    "html_block",
    "link_open",
    "image",
    "heading_open",
    "em_open",
    "strong_open",
    "s_open",
    "hr",
}
PIECES = (
    *("|", "`", "``", "```", "~~~", "~", "<", ">", "<!--", "-->", "<b>", "[a](b)", "![a](b)", "[x]: y", "\\", "\\|"),
    *(
        "#",
        "# h",
        "*",
        "**",
        "_",
        "__",
        "-",
        "- ",
        "1.",
        "1)",
        "+",
        "=",
        "===",
        "---",
        "&",
        "&lt;",
        "&#124;",
        "\n",
        "\n\n",
    ),
    *(
        "    ",
        "\t",
        "\r",
        "@octocat",
        "@org/team",
        "#12",
        "GH-3",
        "a/b#4",
        "https://x.example",
        "www.x.example",
        "a@b.example",
    ),
    *("4f1c2a9be07d5a33", ":tada:", "$x$", "word", "é", "\u202e", "\x1b[31m", "<http://x.example>", "[^1]", "✅"),
)
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map("".join)


def tokens(markdown: str) -> list[Token]:
    """All tokens, those inside of lines too."""
    return [inner for token in MARKDOWN.parse(markdown) for inner in (token, *(token.children or ()))]


def types(markdown: str) -> list[str]:
    return [token.type for token in tokens(markdown)]


def text_of(markdown: str) -> str:
    return "".join(token.content for token in tokens(markdown) if token.type in ("text", "text_special", "code_inline"))


@given(hostile)
@example("a\\|b")
@example("\\")
def test_a_cell_stays_one_cell_of_plain_text(text: str) -> None:
    """Its neighbours tell: a parser drops cells that the table's head has no column for."""
    row = f"| a | b | c |\n|---|---|---|\n| x | {cell(text)} | z |\n"
    found = types(row)
    assert not FORBIDDEN.intersection(found)
    assert "code_inline" not in found
    first, _, last = [token.content for token in tokens(row) if token.type == "inline"][3:]
    assert (first, last) == ("x", "z")
    assert found.count("tr_open") == 2


@given(hostile, st.sampled_from(["{}", "- {}", "**bold** {}", "# {}", "before\n{}"]))
def test_a_cell_is_only_text_wherever_a_line_begins(text: str, place: str) -> None:
    """The line's own markup stays as it would be around a harmless word."""
    if one_line(text):
        shape = [kind for kind in types(place.format(cell(text))) if kind not in ("text", "text_special")]
        assert shape == [kind for kind in types(place.format("word")) if kind not in ("text", "text_special")]


@given(hostile)
def test_a_cell_reads_as_what_was_written(text: str) -> None:
    """Zero-width spaces apart, which keep GitHub from making links."""
    seen = text_of(f"word {cell(text, 10_000)}").replace("\u200b", "").removeprefix("word").strip()
    assert seen == one_line(text)


@given(hostile)
@example("4f1c2a9be07d5a33")
@example("octocat/hello@4F1C2A9BE07D5A334F1C2A9BE07D5A334F1C2A9B.")
def test_nothing_in_a_cell_notifies_or_links(text: str) -> None:
    seen = text_of(f"word {cell(text, 10_000)}")
    assert not re.search(r"@\w|#\d|\bGH-\d|\w://|\bwww\.\w", seen, re.IGNORECASE)
    assert not re.search(r"(?<![0-9A-Za-z])[0-9a-f]{7,}(?![0-9A-Za-z])", seen, re.IGNORECASE)


def test_a_cell_leaves_ordinary_names_as_they_are() -> None:
    assert cell("create_and_link × docs, exit 2: file-name.json (100%)") == (
        "create_and_link × docs, exit 2: file-name.json (100%)"
    )


def test_a_cell_is_bounded_as_the_reader_sees_it() -> None:
    assert cell("<" * 50, 10) == "&lt;" * 9 + "…"


@given(hostile)
@example("`")
@example("```x")
def test_code_is_one_span_with_the_text_in_it(text: str) -> None:
    spans = [token.content for token in tokens(f"a {code(text, 10_000)} b") if token.type == "code_inline"]
    assert spans == ([one_line(text)] if one_line(text) else [])


@given(hostile)
@example("```\n# out\n````")
def test_a_fence_holds_all_of_the_text(text: str) -> None:
    found = tokens(f"before\n\n{fenced(text, lines=10_000, width=10_000)}\n\nafter")
    assert [token.type for token in found if token.block and token.nesting >= 0] == [
        *("paragraph_open", "inline", "fence", "paragraph_open", "inline")
    ]
    assert [token.content for token in found if token.type == "fence"] == [visible(text).strip("\n") + "\n"]


def test_a_fence_says_how_many_lines_are_left_out() -> None:
    assert fenced("\n".join("abcdefg"), lines=4) == "```\na\nb\n… 3 lines left out …\nf\ng\n```"


def test_a_long_line_in_a_fence_keeps_its_start_and_end() -> None:
    assert fenced("error: " + "x" * 20 + " --to", width=14) == "```\nerror: …x --to\n```"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (filters.percent(0.425), "42%"),
        (filters.percent(0.0), "0%"),
        (filters.percent(0.001), "<1%"),
        (filters.percent(0.999), ">99%"),
        (filters.percent(None), "–"),
        (filters.points(0.12), "+12 points"),
        (filters.points(-0.01), "−1 point"),
        (filters.points(0.0), "0 points"),
        (filters.points(None), "–"),
        (filters.signed(-1.5, 1), "−1.5"),
        (filters.signed(-0.2), "0"),
        (filters.number(3.0), "3"),
        (filters.number(3.25), "3.2"),
        (filters.number(12345.0), "12,345"),
        (filters.number(None), "–"),
        (filters.count(1, "row"), "1 row"),
        (filters.count(0, "row"), "0 rows"),
        (filters.count(2, "try", "tries"), "2 tries"),
        (filters.seconds(0), "0 s"),
        (filters.seconds(0.041), "0.04 s"),
        (filters.seconds(4.2), "4.2 s"),
        (filters.seconds(59.6), "1 min 0 s"),
        (filters.seconds(125), "2 min 5 s"),
        (filters.seconds(3720), "1 h 2 min"),
        (filters.seconds(None), "–"),
        (filters.money(1.254), "$1.25"),
        (filters.money(0.001), "<$0.01"),
        (filters.money(0.0), "$0.00"),
        (filters.money(None), "not reported"),
        (filters.probability(2e-7), "2e-7"),
        (filters.probability(0.05), "0.05"),
        (filters.times_in_ten(1.0), "every time"),
        (filters.times_in_ten(0.96), "nearly every time"),
        (filters.times_in_ten(0.73), "7 times in 10"),
        (filters.times_in_ten(0.1), "1 time in 10"),
        (filters.times_in_ten(0.01), "less than once in 20"),
        (filters.to("5%", "40%"), "5% → 40%"),
        (filters.to("5%", "5%"), "5%"),
    ],
)
def test_numbers_as_words(made: str, expected: str) -> None:
    assert made == expected
