"""Every verdict but "passed" comes with next steps, in every report."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import get_args

import pytest
from rich.console import Console

from tests.make import row
from tidegate.model.result import Result, VerdictReason, VerdictState
from tidegate.model.run_row import Reason
from tidegate.model.trial_spec import NotMeasured
from tidegate.reports.comment import comment_body
from tidegate.reports.html import page_view
from tidegate.reports.next_steps import (
    OF_UNMEASURED,
    OF_VERDICT,
    advice,
    render_could_not_run,
)
from tidegate.reports.terminal import print_summary

Stories = Mapping[str, Callable[[], Result]]
CALM = {"nothing_compared", "no_regression", "nothing_to_do", "accepted"}
BY_ROWS = {"infrastructure", "budget", "unusable_agent"}


def ended(result: Result, state: VerdictState, reason: VerdictReason, *kinds: NotMeasured) -> Result:
    """That result, ended otherwise: with rows that were not measured for those reasons."""
    verdict = result.verdict.model_copy(update={"state": state, "reason": reason})
    rows = tuple(
        row("not_measured", scenario=kind, agent="docs", reason=f"because of {kind}", not_measured=kind)
        for kind in kinds
    )
    return result.model_copy(update={"verdict": verdict, "rows": (*rows, *result.rows)})


def test_every_reason_has_its_advice() -> None:
    assert set(get_args(VerdictReason)) == CALM | BY_ROWS | set(OF_VERDICT)
    assert set(get_args(NotMeasured)) == set(OF_UNMEASURED)
    for text in (*OF_VERDICT.values(), *OF_UNMEASURED.values()):
        assert text[0].isupper()
        assert text.endswith(".")


@pytest.mark.parametrize("kind", get_args(NotMeasured))
@pytest.mark.parametrize("state", ["inconclusive", "not_run", "failed"])
def test_each_way_not_to_be_measured_says_what_happened_and_what_to_do(
    stories: Stories, state: VerdictState, kind: NotMeasured
) -> None:
    result = ended(stories["all_fine"](), state, "infrastructure", kind)
    comment = comment_body(result)
    assert f"`{kind}` × `docs`: because of {kind}" in comment.replace("\\_", "_")
    assert comment.count(OF_UNMEASURED[kind]) == 1
    assert page_view(result, {}).advice == (OF_UNMEASURED[kind],)
    last = Console(file=io.StringIO(), force_terminal=True, width=1000, color_system=None)
    print_summary(result, last)
    assert isinstance(last.file, io.StringIO)
    assert last.file.getvalue().rstrip().endswith(f"What to do: {OF_UNMEASURED[kind]}")


@pytest.mark.parametrize("reason", sorted(OF_VERDICT))
def test_each_reason_of_a_verdict_says_what_to_do(stories: Stories, reason: VerdictReason) -> None:
    result = ended(stories["one_regression"](), "failed", reason).model_copy(update={"causes": ()})
    assert f"**What to do:** {OF_VERDICT[reason]}" in comment_body(result)
    assert page_view(result, {}).advice[0].startswith(OF_VERDICT[reason])


def test_passes_that_prove_nothing_say_what_to_do(stories: Stories) -> None:
    result = ended(stories["all_fine"](), "inconclusive", "unproven")
    lost = row("unconfirmed", kind="rewritten", why=Reason(code="some_lost", cause="rewritten"))
    assert advice(result.model_copy(update={"rows": (lost,)}))[0] == OF_UNMEASURED["rewritten"]


@pytest.mark.parametrize("reason", ["unproven", "unconfirmed"])
def test_trials_that_head_alone_has_lost_say_what_to_do(stories: Stories, reason: VerdictReason) -> None:
    """More trials, which `trials.max` allows, would be lost as well."""
    result = ended(stories["all_fine"](), "inconclusive", reason)
    lost = row("unconfirmed", kind="unmeasurable", why=Reason(code="some_lost", cause="record_lost"))
    assert advice(result.model_copy(update={"rows": (lost,)}))[0] == OF_UNMEASURED["record_lost"]


def test_where_every_row_has_an_outcome_the_lost_trials_say_what_to_do(stories: Stories) -> None:
    assert advice(stories["infrastructure"]()) == (OF_UNMEASURED["infrastructure"],)


def test_no_error_makes_markup() -> None:
    """Its text may quote a file of the pull request."""
    text = render_could_not_run("```\n<img src=x>", "look at <b>@octocat</b> ![x](y)")
    assert "````\n```\n<img src=x>\n````" in text
    assert "look at &lt;b>@&#8203;octocat&lt;/b> !\\[x\\](y)" in text
