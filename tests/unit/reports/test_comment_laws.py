"""Laws of the comment for any result: rendered by GitHub's library, data never becomes markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import cmarkgfm  # type: ignore[import-untyped]
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.reports.anything import anything, hostile
from tidegate.github.comment import with_marker
from tidegate.model.marker import MAX_BYTES as MARKER_BYTES
from tidegate.model.marker import Marker
from tidegate.model.result import Result
from tidegate.model.revision import Links
from tidegate.reports.comment import MAX_BYTES, comment_body

HEADINGS = (
    *("❌", "✅", "⚠️", "⏭️", "🎉", "⚖️", "From the merge on", "Also", "All results", "Hints from the metrics", "What"),
    *("The pull request", "Trend", "Judge", "📈"),
)
OURS = {"details", "summary", "sub", "h2", "h3", "p", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
NEVER_CLOSED = {"br", "hr", "input"}
LIVE = re.compile(r"(?<![\w`/])@[A-Za-z0-9]|(?<!\w)#\d|\bGH-\d|https?://|\bwww\.\w")


class Page(HTMLParser):
    """What stands on the page: tags in their order, headings, plain text, links, images, comments."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.headings: list[str] = []
        self.text = ""
        self.comments: list[str] = []
        self.crossed: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.headings.append("")
        if tag not in NEVER_CLOSED:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data: str) -> None:
        if any(tag.startswith("h") and tag[1:].isdigit() for tag in self.open):
            self.headings[-1] += data
        if not {"code", "pre"}.intersection(self.open):
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def rendered(markdown: str) -> Page:
    """As GitHub does it, before it takes dangerous tags away: what is dangerous has to be absent already."""
    return Page(cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE))


def check(text: str, marker: Marker) -> None:
    """All that has to hold."""
    assert len(text.encode()) <= MAX_BYTES + MARKER_BYTES
    first, _, rest = text.partition("\n")
    assert Marker.parse(text) == Marker.parse(marker.format())
    assert Marker.parse(rest) is None
    page = rendered(text)
    assert [f"<!--{comment}-->" for comment in page.comments] == [first]
    assert (page.open, page.crossed) == ([], [])
    assert page.tags <= OURS | TABLES | NEVER_CLOSED
    assert not LIVE.search(page.text), LIVE.search(page.text)
    assert page.headings[0].split(" ")[1].startswith("Tidegate"), page.headings[0]
    assert [heading for heading in page.headings if not heading.startswith(HEADINGS)] == []


@settings(suppress_health_check=list(HealthCheck), max_examples=settings().max_examples // 4)
@given(anything(Result), hostile, hostile)
def test_nothing_stands_in_the_comment_but_what_we_have_put_there(result: Result, notice: str, name: str) -> None:
    result = result.model_copy(update={"comment_template": None, "links": Links()})  # links would be ours
    marker = Marker(instance=name or "default", head="1" * 40, run=3, attempt=1)

    text = comment_body(result, notice=notice)

    check(with_marker(marker, text), marker)
    assert comment_body(result, notice=notice) == text


@settings(suppress_health_check=list(HealthCheck), max_examples=settings().max_examples // 10)
@given(anything(Result), st.sampled_from([40, 400, 4_000]))
def test_nor_in_one_of_many_rows(result: Result, times: int) -> None:
    """Whole parts go, so that what stays is whole."""
    many = result.model_copy(
        update={
            "comment_template": None,
            "links": Links(),
            "rows": tuple(
                row.model_copy(update={"scenario": f"{row.scenario}{number}", "reason": row.reason * 20})
                for number in range(times)
                for row in result.rows
            ),
            "warnings": result.warnings * times,
            "definitions": result.definitions * times,
        }
    )
    marker = Marker(instance="default", head="1" * 40, run=3, attempt=1)

    check(with_marker(marker, comment_body(many)), marker)


@pytest.mark.parametrize(
    "text",
    [
        "<!-- m -->\n## ✅ Tidegate: passed\n\n@octocat",
        "<!-- m -->\n## ✅ Tidegate: passed\n\n<!-- hidden -->",
        "<!-- m -->\n## ✅ Tidegate: passed\n\n<details>\n\nnever closed",
        "<!-- m -->\n## ✅ Tidegate: passed\n\n![](https://evil.example/x.png)",
        "<!-- m -->\n## ✅ Tidegate: passed\n\n## Tidegate: all is well",
    ],
)
def test_the_check_can_fail(text: str) -> None:
    marker = Marker(instance="default", head="1" * 40)

    with pytest.raises(AssertionError):
        check(text.replace("<!-- m -->", marker.format()), marker)
