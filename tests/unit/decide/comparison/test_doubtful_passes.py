"""Rows whose passes on head show nothing: changed checks, no use of the tool, trials that were cut short."""

from __future__ import annotations

import pytest

from tests import make
from tidegate.decide.comparison.compare import compare, doubting_passes
from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.verdict import is_unproven
from tidegate.model.comparison import Row
from tidegate.model.measurement import InvocationCounts, Outcome, PastTrial, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.run_row import Reason, RunRow
from tidegate.model.suite import RowState
from tidegate.model.trial import MANY
from tidegate.model.trial_spec import Side
from tidegate.reports.verdict_text import reason_text


def doubted(trials: RowTrials, state: RowState = "ok", *, deterministic: bool = True) -> Conclusion:
    """A row with these trials, which was found to be in that state."""
    key = RowKey(scenario="s", agent="a")
    found = Conclusion(key=key, state=state, why=Reason(code="repeats"), deterministic=deterministic)
    return doubting_passes(found, trials)


# --- files that were changed


def changing(side: Side, *files: str, outcome: Outcome = "pass") -> list[TrialResult]:
    """Trials that have changed these files, each of one letter."""
    return [
        make.trial_result(side=side, index=number, outcome=outcome, rewritten=tuple(names))
        for number, names in enumerate(files, 1)
    ]


def row(base: list[TrialResult], head: list[TrialResult], *replaced: str) -> Row:
    rows = (RunRow(scenario=base[0].scenario, agent=base[0].agent, deterministic=True),)
    return compare(make.run(*base, side="base", rows=rows), make.run(*head, rows=rows, replaced=replaced)).rows[0]


def lost(index: int) -> TrialResult:
    return make.trial_result(index=index, outcome=None, decides=None, not_measured="supervisor_lost")


@pytest.mark.parametrize("lost_one", [1, 2, 3])
def test_a_deterministic_row_of_which_head_alone_loses_a_trial_is_unproven(lost_one: int) -> None:
    """Its other trials pass, so that no repeat confirms it as a failure."""
    head = [lost(index) if index == lost_one else make.trial_result(index=index) for index in (1, 2, 3)]
    found = row(changing("base", "", ""), head)
    assert (found.state, found.kind, is_unproven(found)) == ("unconfirmed", "unmeasurable", True)
    assert not is_unproven(row(changing("base", "", "", outcome="fail"), head)), "head is no worse than that"
    both = [*changing("base", ""), lost(2).model_copy(update={"side": "base"})]
    assert row(both, head).state == "ok"


@pytest.mark.parametrize("files", [["f"], ["f", "g", "f"], ["fg"]])
def test_a_pass_that_changes_a_file_that_base_leaves_alone_has_no_outcome(files: list[str]) -> None:
    found = row(changing("base", "", "g"), changing("head", *files))

    counted = sum(names == "g" for names in files)
    assert (found.head.passes, found.head.trials, found.head.not_measured) == (counted, counted, len(files) - counted)
    assert (found.state, found.kind, found.not_measured) == ("unconfirmed", "rewritten", None)
    assert is_unproven(found)
    said = reason_text(found.state, make.sure(found.why))
    assert "it changes files that no passing trial of base changes: f" in said


@pytest.mark.parametrize(("base", "head"), [(["f"], ["f"]), (["", "f"], ["f", "f"]), ([""], [""])])
def test_a_file_that_passes_of_base_change_is_a_product(base: list[str], head: list[str]) -> None:
    found = row(changing("base", *base), changing("head", *head))

    assert (found.state, found.head.passes) == ("ok", len(head))


def made_and_changed(base: tuple[str, ...], head: tuple[str, ...], by_base: str = "", by_head: str = "") -> Row:
    """A row in which each side's setup makes these, and its trial changes one file."""

    def trial(side: Side, made: tuple[str, ...], changed: str) -> list[TrialResult]:
        rewritten = tuple(filter(None, [changed]))
        return [one.model_copy(update={"made": made, "rewritten": rewritten}) for one in changing(side, "")]

    return row(trial("base", base, by_base), trial("head", head, by_head))


@pytest.mark.parametrize(
    ("of_base", "of_head", "unmeasured"),
    [
        (("old",), ("old", "f"), 0),
        (("f",), ("f",), 1),
        ((), (), 1),
        ((MANY,), ("f",), 1),
        ((), (MANY,), 1),
        (("f-8123",), ("f-9342", "f"), 0),
    ],
)
def test_a_file_that_only_the_setup_of_head_makes_is_a_product(
    of_base: tuple[str, ...], of_head: tuple[str, ...], unmeasured: int
) -> None:
    assert made_and_changed(of_base, of_head, by_head="f").head.not_measured == unmeasured


def test_without_a_pass_of_base_none_is() -> None:
    base, made = changing("base", "", outcome="fail"), ("f", "l", "l -> f")
    for files, unmeasured in ("f", 1), ("", 0):
        head = [one.model_copy(update={"made": made}) for one in changing("head", files)]
        assert row(base, head).head.not_measured == unmeasured


@pytest.mark.parametrize(
    ("of_base", "of_head"),
    [
        ("got-8123", "got-9342"),
        ("tmp.aXkqqdLq", "tmp.ZzhjkQpw"),
        ("got.aXkqqd/e", "got.ZzhjkQ/e"),
        ("run-aXkqqd", "run-ZzhjkQ"),
        ("run-QWERTY", "run-KLMNOP"),
        ("notes-1.0/e", "notes-1.1.0-beta/e"),
        ("2026-11-28.log", "2026-11-29.log"),
    ],
)
def test_a_name_that_differs_in_each_trial_is_the_same(of_base: str, of_head: str) -> None:
    """Both setups make it: what head's trial changes in it is no product, unless base's changes it, too."""
    for changed, unmeasured in ("", 1), (of_base, 0):
        assert made_and_changed((of_base,), (of_head,), changed, of_head).head.not_measured == unmeasured


@pytest.mark.parametrize("made", [(), ("case1.txt", "want1.txt")], ids=["of the template", "of the setup"])
def test_a_name_that_both_sides_have_is_only_itself(made: tuple[str, ...]) -> None:
    assert made_and_changed(made, made, "case1.txt", "want1.txt").head.not_measured == 1
    assert made_and_changed(made, made, "case1.txt", "case1.txt").head.not_measured == 0


@pytest.mark.parametrize("by_base", ["f (setup 1)", "f", "f (check 2)"])
def test_a_file_may_be_changed_only_at_the_step_at_which_base_changes_it(by_base: str) -> None:
    for by_head in "f (setup 1)", "f (setup 2)", "f", "f (check 2)":
        assert made_and_changed(("f",), ("f",), by_base, by_head).head.not_measured == (by_base != by_head)
    for step, unmeasured in (2, 0), (1, 1):
        found = made_and_changed(("f-1",), ("f-2",), "f-1 (setup 2)", f"f-2 (setup {step})")
        assert found.head.not_measured == unmeasured


@pytest.mark.parametrize(
    ("of_base", "of_head", "doubted"),
    [
        (("e",), ("e", "e -> x"), True),
        (("e-8123",), ("e-9342", "e-9342 -> x"), True),
        (("e", "e -> v1"), ("e", "e -> ../.git/v1"), True),
        ((MANY,), (MANY, "e -> x"), True),
        (("e", "e -> v1"), ("e", "e -> v2"), False),
        ((), ("e", "e -> x"), False),
        ((MANY, "e -> x"), (MANY, "e -> x"), False),
    ],
)
def test_a_link_of_head_s_setup_that_is_none_of_base_s_is_in_doubt_where_base_s_makes_something(
    of_base: tuple[str, ...], of_head: tuple[str, ...], *, doubted: bool
) -> None:
    found = made_and_changed(of_base, of_head)
    assert is_unproven(found) is doubted
    if doubted:
        assert "links where base's makes something else: e" in reason_text(found.state, make.sure(found.why))


def test_what_failing_trials_of_base_change_is_no_product() -> None:
    base = [*changing("base", "f", outcome="fail"), make.trial_result(side="base", index=2)]

    assert row(base, changing("head", "f")).head.not_measured == 1


def test_a_build_that_replaces_files_of_the_commit_is_not_what_is_merged() -> None:
    found = row(changing("base", ""), changing("head", ""), "bin/notes")

    assert (found.state, found.kind) == ("unconfirmed", "rewritten")
    said = reason_text(found.state, make.sure(found.why))
    assert said.endswith("which are then not what is tested: bin/notes")
    assert is_unproven(found)


# --- a tool that was not used


def using(side: Side, *uses: int, outcome: Outcome = "pass") -> list[TrialResult]:
    """Trials that have used the tool so many times."""
    return [
        make.trial_result(side=side, index=number, outcome=outcome, invocations=InvocationCounts(uses=count))
        for number, count in enumerate(uses, 1)
    ]


def past(count: int) -> list[PastTrial]:
    return [PastTrial(scenario="s", agent="a", decides="pass", at=0, sha="", uses=1)] * count


def test_a_pass_without_a_use_is_unproven_where_base_uses_the_tool() -> None:
    found = doubted(RowTrials((), using("base", 2), using("head", 0)))

    assert (found.state, found.kind) == ("unconfirmed", "unused")
    said = reason_text(found.state, found.why)
    assert said == "no trial on head uses the tool under test, but all 1 passing trials on base do"
    assert is_unproven(make.row(found.state, (1, 1), (1, 1), kind=found.kind))


@pytest.mark.parametrize(
    ("base", "head", "state"),
    [
        (using("base", 2), using("head", 0, 1), "ok"),  # a use in one trial of head
        (using("base", 2, 0), using("head", 0), "ok"),  # none in one of base
        (using("base", 0), using("head", 0), "ok"),
        (using("base", 2), using("head", 0, outcome="fail"), "ok"),  # a head that fails may have given up before
        # a base that fails without the tool still needs it to pass
        ([*using("base", 0, outcome="fail"), *using("base", 3)], using("head", 0), "unconfirmed"),
    ],
)
def test_one_trial_of_a_side_shows_that_the_tool_is_not_needed(
    base: list[TrialResult], head: list[TrialResult], state: RowState
) -> None:
    assert doubted(RowTrials((), base, head)).state == state


@pytest.mark.parametrize(
    ("trials", "state"),
    [
        (RowTrials((), using("base", 1, 1), using("head", 0)), "ok"),
        (RowTrials((), using("base", 1, 1), using("head", 0, 0)), "unconfirmed"),
        (RowTrials(past(5), (), using("head", 0)), "unconfirmed"),
        # an agent that gives up in half of its trials does so in all of a few now and then
        (RowTrials(past(20), (), using("head", 0, 0, 0, outcome="fail")), "ok"),
    ],
)
def test_agents_that_use_the_tool_now_and_then_need_enough_trials_that_pass(trials: RowTrials, state: RowState) -> None:
    assert doubted(trials, deterministic=False).state == state


def test_a_regression_stays_one() -> None:
    assert doubted(RowTrials((), using("base", 1), using("head", 0)), "regressed").state == "regressed"


# --- a budget that ended

DONE = make.trial_result(side="head")
CUT = make.trial_result(side="head", index=2, outcome=None, not_measured="budget")


@pytest.mark.parametrize("state", ["ok", "flaky", "improved", "unconfirmed"])
def test_a_row_that_was_cut_short_is_unconfirmed(state: RowState) -> None:
    assert doubted(RowTrials((), (), (DONE,)), state).state == state
    found = doubted(RowTrials((), (), (DONE, CUT)), state)
    assert (found.state, found.kind) == ("unconfirmed", "cut_short")


@pytest.mark.parametrize(("passes", "by_head", "unproven"), [(2, True, True), (2, False, False), (0, False, True)])
def test_it_is_unproven_if_head_can_be_why_or_failed_every_trial(passes: int, *, by_head: bool, unproven: bool) -> None:
    row = make.row("unconfirmed", (3, 3), (passes, 3), kind="cut_short")
    assert is_unproven(row, {"budget"} if by_head else ()) is unproven
