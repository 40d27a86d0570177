"""A suite's own comment template: what it may do, and that it cannot suppress the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tidegate.model.result import Result
from tidegate.reports.comment import MAX_BYTES, comment_body, without_blocks

Stories = Mapping[str, Callable[[], Result]]
EXTENDS = '{% extends "comment.md.j2" %}'


def rendered(result: Result, template: str) -> str:
    return comment_body(result.model_copy(update={"comment_template": template}))


def test_it_replaces_blocks_and_keeps_the_others(stories: Stories) -> None:
    result = stories["one_regression"]()
    text = rendered(result, EXTENDS + "{% block footer %}Ask {{ view.sides.head.ref | code }}'s author.{% endblock %}")
    assert text.endswith("Ask `rename-prio-flag`'s author.\n")
    assert text.startswith(comment_body(result).partition("<sub>")[0])


def test_it_can_add_to_a_block(stories: Stories) -> None:
    text = rendered(stories["all_fine"](), EXTENDS + "{% block heading %}{{ super() }}\nHello.{% endblock %}")
    assert "## ✅ Tidegate: passed" in text
    assert "\nHello." in text


def test_sections_that_a_suite_hides_are_left_out_and_all_else_stays(stories: Stories) -> None:
    result = stories["one_regression"]()
    whole, short = comment_body(result), rendered(result, without_blocks(["cost", "table"]))
    assert "**trials**" in whole
    assert "**trials**" not in short
    assert "All results" not in short
    assert short.startswith(whole.partition("<details>")[0])


def test_it_can_replace_everything(stories: Stories) -> None:
    assert rendered(stories["all_fine"](), "nothing") == "nothing\n"


@pytest.mark.parametrize(
    "template",
    [
        "{% block",
        "{{ nothing_of_this_name }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ view.rows.append }}",
        "{% for n in range(10**9) %}x{% endfor %}",
        "{{ 1 / 0 }}",
        "{% include 'etc/passwd' %}",
        f"{{{{ 'x' * {MAX_BYTES} }}}}",
    ],
)
def test_one_that_is_wrong_is_not_used_and_the_comment_says_so(stories: Stories, template: str) -> None:
    text = rendered(stories["one_regression"](), template)
    assert "## ❌ Tidegate: failed" in text
    assert "report.comment" in text
    assert "was not used" in text
    assert len(text.encode()) <= MAX_BYTES
