"""The comment as golden files, and the laws that hold for every comment."""

from __future__ import annotations

import os
import re
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


def test_a_comment_that_fits_leaves_nothing_out(stories: Stories) -> None:
    assert "Left out" not in comment_body(stories["one_regression"]())


def test_nothing_is_said_to_be_caught_where_nothing_was_measured(stories: Stories) -> None:
    text = comment_body(stories["not_run"]())
    assert "caught" not in text
    assert "Success" not in text


def test_a_deterministic_row_has_no_interval(stories: Stories) -> None:
    """Three repeats that must agree are no sample to make an interval from."""
    text = comment_body(stories["one_regression"]())
    effect = "**2/2** trials pass on base → **0/3** on head; the agent is deterministic, and every repeat agrees"
    assert effect in text
    assert "95% interval" not in text


def test_what_was_not_measured_is_no_number(stories: Stories) -> None:
    text = comment_body(stories["partly_not_measured"]())
    assert "| ⏭️ not measured | sync × claude | 40/40 → – |" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "(2 not measured)" in text


def test_nothing_is_claimed_for_rows_that_were_not_measured(stories: Stories) -> None:
    claim = "This holds for the rows that were measured, not for the others."
    assert claim in comment_body(stories["partly_not_measured"]())
    assert claim not in comment_body(stories["all_fine"]())


def test_a_suite_that_can_not_vary_has_no_interval(stories: Stories) -> None:
    fine = stories["all_fine"]()
    suite = fine.suite.model_copy(update={"head_rate": 0.5, "difference": -0.5, "interval": (-0.5, -0.5)})
    text = comment_body(fine.model_copy(update={"suite": suite}))
    assert "Success over the suite: 100% → 50% (−50 points)." in text


def test_one_broken_build_is_told_once(stories: Stories) -> None:
    text = comment_body(stories["setup_regression"]())
    assert text.partition("For a coding agent")[0].count("ModuleNotFoundError") == 1
    assert "`add_task` × `docs`, `list_tasks` × `docs`, `finish_task` × `docs` and 1 more row" in text


def test_when_all_is_well_three_paragraphs_and_a_fold_are_enough(stories: Stories) -> None:
    heading, _, caught, _, fold, *_ = comment_body(stories["all_fine"]()).splitlines()
    assert heading.startswith("## ✅ Tidegate: passed")
    assert caught.startswith("Complete failures are detected")
    assert fold == "<details>"


def test_a_suite_of_one_regressed_row_has_a_table_only_if_that_says_more(stories: Stories) -> None:
    result = stories["one_regression"]()
    (row,) = (row for row in result.rows if row.state == "regressed")
    text = comment_body(result.model_copy(update={"rows": (row,)}))
    assert "### All results" in text
    assert "Success over the suite" not in text
    plain = row.model_copy(update={"metrics": {}})
    assert "### All results" not in comment_body(result.model_copy(update={"rows": (plain,)}))


def test_where_a_fix_is_named_the_comment_gives_no_general_advice(stories: Stories) -> None:
    result = stories["one_regression"]()
    text = comment_body(result)
    assert re.search(
        r"\*\*To fix:\*\* update .*AGENTS.md:12.* and .*AGENTS.md:14.*, which still use `--prio`, or", text
    )
    assert "Fix what broke these scenarios" not in text
    assert "\nIntentional? A maintainer can accept this" in text
    other = result.rows[-1].model_copy(update={"state": "regressed", "scenario": "unexplained"})
    assert "Fix what broke these scenarios" in comment_body(result.model_copy(update={"rows": (*result.rows, other)}))


def test_blank_lines_in_evidence_do_not_end_the_fence(stories: Stories) -> None:
    result = stories["one_regression"]()
    row = result.rows[-1]
    assert row.evidence
    spaced = row.evidence.model_copy(update={"message": "one\n\n\n\n# two"})
    text = comment_body(result.model_copy(update={"rows": (row.model_copy(update={"evidence": spaced}),)}))
    assert "```\none\n\n# two\n```" in text
