"""The comment as golden files, and the laws that hold for every comment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

from tidegate.model.comparison import DefinitionChange
from tidegate.model.result import Result
from tidegate.reports.comment import MAX_BYTES, comment_body

Stories = Mapping[str, Callable[[], Result]]
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
GOLDEN = Path(__file__).parent / "golden"


def test_the_comment_is_the_golden_file(comment: tuple[str, str]) -> None:
    """TIDEGATE_UPDATE_GOLDEN=1 writes the files anew."""
    name, text = comment
    path = GOLDEN / f"{name}.md"
    if os.environ.get("TIDEGATE_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_nothing_in_the_body_looks_like_a_marker(story: tuple[str, Result]) -> None:
    """Whatever is written into the rows, and whatever the instance is called."""
    _, result = story
    assert not any(line.startswith("<!--") for line in comment_body(result).splitlines())


def test_hostile_text_makes_no_markup(stories: Stories) -> None:
    """The only HTML is the template's, the only headings too; there is no link and no image."""
    markdown = comment_body(stories["hostile"]())
    tokens = [inner for token in MARKDOWN.parse(markdown) for inner in (token, *(token.children or ()))]
    html = {line for token in tokens if token.type.startswith("html_") for line in token.content.split("\n") if line}
    html = {line for line in html if not line.startswith("<summary>")}
    assert html == {"<details>", "</details>", "<sub>", "</sub>"}
    assert not {"link_open", "image"}.intersection(token.type for token in tokens)
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    words = (
        "❌ Tidegate",
        "From the merge on",
        "❌ Regressed: ",
        "⚠️ Unconfirmed",
        "⏭️ Not measured",
        "🎉",
        "Also",
        "All",
    )
    assert all(heading.startswith((*words, "Hints from the metrics")) for heading in headings)


def test_hostile_names_keep_the_table_in_shape(stories: Stories) -> None:
    result = stories["hostile"]()
    tokens = MARKDOWN.parse(comment_body(result))
    cells = [after.content for token, after in pairwise(tokens) if token.type == "td_open"]
    undecided = [cells[start : start + 4] for start in range(0, 8, 4)]
    rows = [cells[start : start + 3] for start in range(8, len(cells), 3)]
    assert [row[2].replace("\N{NO-BREAK SPACE}", " ") for row in undecided] == ["2/2 → 0/3"] * 2
    assert len(rows) == len(result.rows)
    for row in rows:
        assert row[2].replace("\N{NO-BREAK SPACE}", " ").startswith("2/2 → 0/3; error rate 0% → 67% (worse)")


def test_no_comment_is_longer_than_github_takes(stories: Stories) -> None:
    """Not even when every name is long and every character of it needs an escape."""
    result = stories["hostile"]()
    huge = "@\N{GRINNING FACE}|" * 150
    rows = [
        row.model_copy(update={"scenario": f"{number} {huge}", "agent": huge, "reason": f"{number} {huge}"})
        for row in result.rows
        for number in range(120)
    ]
    verdict = result.verdict.model_copy(update={"summary": huge, "reasons": (huge,) * 500})
    text = comment_body(result.model_copy(update={"rows": rows, "verdict": verdict, "warnings": (huge,) * 500}))
    assert len(text.encode()) <= MAX_BYTES
    assert "… and 120 more regressions" in text
    assert "Left out" in text


def test_parts_are_dropped_in_order_and_named(stories: Stories) -> None:
    """Verdict, every regression's headline, changed definitions and cost stay."""
    result = stories["many_rows"]()
    change = DefinitionChange(scenario="a", effect="less", detail="tests pass")
    text = comment_body(result.model_copy(update={"definitions": (change,)}))
    assert text.count("### ❌ Regressed: `scenario_") == 10
    assert text.count("\n- `scenario_") == 50
    assert text.count("### ❌ Regressed too") == 1
    assert "⚠️ **less** is checked · `a` · tests pass" in text
    assert "<sub>**time** " in text
    assert text.count("a line of evidence") == 10 * 12
    assert "140 unchanged rows of the table, the evidence of all but the first 10 rows" in text


def test_a_suite_of_one_regressed_row_has_a_table_only_if_that_says_more(stories: Stories) -> None:
    result = stories["one_regression"]()
    (row,) = (row for row in result.rows if row.state == "regressed")
    text = comment_body(result.model_copy(update={"rows": (row,)}))
    assert "### All results" in text
    assert "Success over the suite" not in text
    plain = row.model_copy(update={"metrics": {}})
    assert "### All results" not in comment_body(result.model_copy(update={"rows": (plain,)}))


def test_blank_lines_in_evidence_do_not_end_the_fence(stories: Stories) -> None:
    result = stories["one_regression"]()
    row = result.rows[-1]
    assert row.evidence
    spaced = row.evidence.model_copy(update={"message": "one\n\n\n\n# two"})
    text = comment_body(result.model_copy(update={"rows": (row.model_copy(update={"evidence": spaced}),)}))
    assert "```\none\n\n# two\n```" in text
