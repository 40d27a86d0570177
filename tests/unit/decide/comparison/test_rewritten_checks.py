"""Rows that pass on head only where trials have changed files of the template that gates use."""

from __future__ import annotations

import pytest

from tests import make
from tidegate.decide.comparison.doubtful_passes import doubting_passes
from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.verdict.decide import is_unproven
from tidegate.model.measurement import Outcome, PastTrial, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.reason import Reason
from tidegate.model.trial_spec import Side
from tidegate.reports.reason_text import reason_text

KEY = RowKey(scenario="s", agent="a")


def trials(side: Side, *files: str, outcome: Outcome = "pass") -> list[TrialResult]:
    """Trials that have changed these files, each of one letter."""
    return [
        make.trial_result(side=side, index=number, outcome=outcome, rewritten=tuple(names))
        for number, names in enumerate(files, 1)
    ]


def said(trials: RowTrials, *, deterministic: bool = True) -> Conclusion:
    return doubting_passes(
        Conclusion(key=KEY, state="ok", why=Reason(code="repeats"), deterministic=deterministic), trials
    )


def test_a_pass_by_a_file_that_base_leaves_alone_is_unproven() -> None:
    found = said(RowTrials((), trials("base", ""), trials("head", "f")))

    assert (found.state, found.kind) == ("unconfirmed", "rewritten")
    assert (
        reason_text(found.state, found.why)
        == "every passing trial on head has changed files of its template, and none of base's has: f"
    )
    assert is_unproven(make.row(found.state, (1, 1), (1, 1), kind=found.kind))


@pytest.mark.parametrize(
    ("base", "head"),
    [(["f"], ["f"]), (["", "f"], ["f"]), ([""], ["f", ""]), ([""], [""]), ([], ["f"]), ([""], [])],
    ids=["a product", "a product now and then", "not always", "never", "no base", "no head"],
)
def test_it_shows_nothing(base: list[str], head: list[str]) -> None:
    assert said(RowTrials((), trials("base", *base), trials("head", *head))).state == "ok"


def test_failing_trials_do_not_count() -> None:
    base = [*trials("base", "f", outcome="fail"), *trials("base", "")]
    head = [*trials("head", "", outcome="fail"), *trials("head", "f")]
    assert said(RowTrials((), base, head)).state == "unconfirmed"


def test_agents_that_change_it_now_and_then_need_enough_trials() -> None:
    past = [PastTrial(scenario="s", agent="a", decides="pass", at=0, sha="", rewritten=()) for _ in range(20)]
    few = RowTrials((), trials("base", "", ""), trials("head", "f", "f"))
    three = RowTrials((), trials("base", "", "", ""), trials("head", "f", "g", "f"))
    with_history = RowTrials(past, (), trials("head", "f", "f"))

    states = [said(one, deterministic=False).state for one in (few, three, with_history)]
    assert states == ["ok", "unconfirmed", "unconfirmed"]


def test_a_build_that_replaces_files_of_the_commit_is_not_what_was_merged() -> None:
    sides = RowTrials((), trials("base", ""), trials("head", ""))
    found = doubting_passes(
        Conclusion(key=KEY, state="ok", why=Reason(code="repeats"), deterministic=True), sides, ["bin/notes"]
    )

    assert (found.state, found.kind) == ("unconfirmed", "rewritten")
    assert reason_text(found.state, found.why).endswith("which are then not what is tested: bin/notes")
