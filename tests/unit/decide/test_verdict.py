"""The verdict: its precedence, exit codes and wording, and what can turn it red.

A word is a row: its state, with `capability:` before it, `/agent` after it, and `=word` for why it was not measured.
"""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tidegate.decide.verdict import decide, nothing_to_do
from tidegate.model.comparison import (
    BaseCounts,
    Comparison,
    DefinitionChange,
    HeadCounts,
    MetricChange,
    Overuse,
    Row,
    SuiteEffect,
)
from tidegate.model.result import Verdict
from tidegate.model.suite import Policy, RowState
from tidegate.model.surface import Interface, InterfaceChange

STATES: tuple[RowState, ...] = get_args(RowState)
LOOSENED = DefinitionChange(scenario="s1", effect="less", detail="out.json")
ADDED = DefinitionChange(scenario="s1", effect="more", detail="new scenario")


def comparison(words: str, **more: Any) -> Comparison:
    return Comparison(rows=tuple(row(f"s{n}", word) for n, word in enumerate(words.split(), start=1)), **more)


def row(scenario: str, word: str) -> Row:
    purpose, _, rest = word.rpartition(":")
    rest, _, why = rest.partition("=")
    rest, _, agent = rest.partition("/")
    kind = "setup" if rest == "setup" else "outcome"
    state = "regressed" if rest == "setup" else rest
    fields: dict[str, Any] = {"state": state, "kind": kind, "purpose": purpose or "regression"}
    fields["not_measured"] = why or None
    return make.row(scenario=scenario, agent=(agent or "docs").replace("@", ":"), reason="the numbers", **fields)


def verdict(words: str, policy: dict[str, Any] | None = None, **more: Any) -> Verdict:
    return make.verdict(comparison(words, **more), Policy(**policy or {}))


@pytest.mark.parametrize(
    ("words", "state", "reason", "exit_code", "summary"),
    [
        ("ok ok ok ok", "passed", "no_regression", 0, "nothing regressed in 4 scenarios"),
        ("ok improved", "passed", "no_regression", 0, "nothing regressed in 2 scenarios; 1 improved"),
        ("ok added removed", "passed", "no_regression", 0, "nothing regressed in 1 scenario; 1 new; 1 removed"),
        ("added added", "inconclusive", "nothing_compared", 0, "nothing to compare with; 2 new"),
        ("regressed ok regressed ok", "failed", "regression", 1, "2 of 4 scenarios regressed (s1, s3)"),
        ("regressed setup", "failed", "regression", 1, "2 of 2 scenarios regressed (s1, s2)"),
        ("setup ok", "failed", "setup_regression", 1, "1 of 2 scenarios regressed (s1)"),
        (
            "regressed unconfirmed not_measured=outage improved ok",
            "failed",
            "regression",
            1,
            "1 of 5 scenarios regressed (s1); 1 could not be measured; 1 may have regressed; 1 improved",
        ),
        (
            "not_measured=outage ok ok ok",
            "inconclusive",
            "infrastructure",
            0,
            "1 of 4 scenarios could not be measured; nothing regressed in the others",
        ),
        (
            "unconfirmed ok",
            "inconclusive",
            "unconfirmed",
            0,
            "1 of 2 scenarios may have regressed; nothing regressed in the others",
        ),
        ("not_measured=budget ok", "inconclusive", "budget", 0, None),
        ("not_measured=secret ok", "inconclusive", "fork_without_key", 0, None),
        ("not_measured=secret not_measured=outage ok", "inconclusive", "infrastructure", 0, None),
        ("not_measured=cancelled not_measured=budget ok", "inconclusive", "cancelled", 0, None),
        ("not_measured=outage unconfirmed", "inconclusive", "infrastructure", 0, None),
        (
            "not_measured=outage not_measured=setup",
            "not_run",
            "infrastructure",
            4,
            "none of 2 scenarios could be measured",
        ),
        ("not_measured=missing_agent not_measured=missing_agent", "not_run", "unusable_agent", 4, None),
        ("not_measured=missing_agent not_measured=outage", "not_run", "infrastructure", 4, None),
        ("not_measured=budget not_measured=outage", "not_run", "budget", 4, None),
        ("not_measured=cancelled removed", "not_run", "cancelled", 4, None),
        ("", "not_run", "no_scenarios", 3, "there is no scenario to run"),
        ("removed", "not_run", "no_scenarios", 3, "there is no scenario to run"),
    ],
)
def test_rows_make_a_verdict(words: str, state: str, reason: str, exit_code: int, summary: str | None) -> None:
    made = verdict(words)
    assert (made.state, made.reason, made.exit_code) == (state, reason, exit_code)
    assert summary in (None, made.summary)
    assert made.would_block == (exit_code != 0)


def test_rows_are_counted_as_rows_where_there_is_more_than_one_agent() -> None:
    made = verdict("regressed/docs ok/claude")
    assert made.summary == "1 of 2 scenario × agent rows regressed (s1 × docs)"
    assert made.reasons == ("s1 × docs: the numbers",)


def test_only_a_few_short_names_stand_in_the_summary() -> None:
    assert verdict("regressed regressed regressed").summary == "3 of 3 scenarios regressed (s1, s2, s3)"
    assert verdict("regressed " * 4).summary == "4 of 4 scenarios regressed"
    long = comparison("regressed").rows[0].model_copy(update={"scenario": "s" * 101})
    assert make.verdict(Comparison(rows=(long,))).summary == "the only scenario regressed"


def test_every_row_that_decided_has_its_sentence() -> None:
    assert verdict("regressed ok regressed").reasons == ("s1: the numbers", "s3: the numbers")
    assert verdict("unconfirmed not_measured=outage ok").reasons == (
        "s2: the numbers",
        "s1: the numbers",
    )
    assert verdict("ok improved").reasons == ()


# --- what may block


def test_capability_scenarios_never_block() -> None:
    made = verdict("capability:regressed ok")
    assert (made.state, made.exit_code) == ("passed", 0)
    assert made.summary == "1 of 2 scenarios regressed (s1); not blocked by the policy"


@pytest.mark.parametrize(
    ("agents", "state"), [(("docs",), "passed"), (("claude",), "failed"), (("claude:x",), "failed")]
)
def test_only_the_agents_that_the_policy_names_block_with_or_without_their_model(
    agents: tuple[str, ...], state: str
) -> None:
    assert verdict("regressed/claude@x ok/docs", {"agents": agents}).state == state


@pytest.mark.parametrize(
    ("words", "block", "state", "reason", "exit_code"),
    [
        ("unconfirmed ok", ("regressed", "unconfirmed"), "failed", "unconfirmed", 1),
        ("not_measured=outage ok", ("not_measured",), "failed", "infrastructure", 1),
        ("not_measured=budget not_measured=budget", ("not_measured",), "failed", "budget", 1),
        ("unconfirmed ok", ("inconclusive",), "inconclusive", "unconfirmed", 5),
        ("not_measured=outage ok", ("inconclusive",), "inconclusive", "infrastructure", 5),
        ("capability:unconfirmed ok", ("inconclusive",), "inconclusive", "unconfirmed", 0),
        ("regressed ok", (), "passed", "no_regression", 0),
    ],
)
def test_the_policy_says_what_fails(
    words: str, block: tuple[str, ...], state: str, reason: str, exit_code: int
) -> None:
    made = verdict(words, {"block": block})
    assert (made.state, made.reason, made.exit_code) == (state, reason, exit_code)


def test_too_many_trials_left_out_are_inconclusive() -> None:
    assert verdict("ok ok", excluded_share=0.2).state == "passed"
    made = verdict("ok ok", {"block": ("regressed", "inconclusive")}, excluded_share=0.25)
    assert (made.state, made.reason, made.exit_code) == ("inconclusive", "infrastructure", 5)
    assert made.summary == "nothing regressed in 2 scenarios; 25% of the trials could not be measured"
    assert made.reasons == ("25% of the trials could not be measured",)


def test_advisory_says_the_same_and_exits_0() -> None:
    blocking, advisory = verdict("regressed ok"), verdict("regressed ok", {"mode": "advisory"})
    assert (advisory.exit_code, advisory.mode, advisory.would_block) == (0, "advisory", True)
    assert (advisory.state, advisory.reason, advisory.summary) == (blocking.state, blocking.reason, blocking.summary)


def test_nothing_to_do_is_a_pass_that_says_so() -> None:
    made = nothing_to_do(Policy(mode="advisory"))
    assert (made.state, made.reason, made.exit_code) == ("passed", "nothing_to_do", 0)
    assert (made.mode, made.would_block) == ("advisory", False)


# --- definitions


def test_what_is_checked_less_or_otherwise_fails_until_it_is_accepted_if_the_rules_say_so() -> None:
    other = LOOSENED.model_copy(update={"effect": "other"})
    assert verdict("ok", {"rules": "block"}, definitions=(other, ADDED)).reason == "checks_less"
    made = verdict("ok", {"rules": "block"}, definitions=(LOOSENED, ADDED))
    assert (made.state, made.reason, made.exit_code) == ("failed", "checks_less", 1)
    assert made.summary == "1 change to what is checked; nothing regressed in 1 scenario"
    assert made.reasons == ("s1: out.json",)


def test_a_regression_comes_before_less_to_check_and_both_are_listed() -> None:
    made = verdict("regressed", {"rules": "block"}, definitions=(LOOSENED,))
    assert made.reason == "regression"
    assert made.reasons == ("s1: the numbers", "s1: out.json")


@pytest.mark.parametrize(("policy", "definitions"), [({}, (LOOSENED,)), ({"rules": "block"}, (ADDED,)), ({}, ())])
def test_other_changes_of_definitions_decide_nothing(
    policy: dict[str, Any], definitions: tuple[DefinitionChange, ...]
) -> None:
    made = verdict("ok", policy, definitions=definitions)
    assert (made.state, made.summary) == ("passed", "nothing regressed in 1 scenario")


# --- the interface

GONE = InterfaceChange(impact="breaking", part="`add`", detail="gone")
NEW = GONE.model_copy(update={"impact": "additive", "detail": "new"})
BLOCK, LIMITS = {"interface": "block"}, {"context_tokens": {"max": 100, "max_increase": 20}}


@pytest.mark.parametrize(
    ("policy", "found", "decided"),
    [
        ({}, {"changes": (GONE,)}, ("passed", "no_regression", 0)),
        (BLOCK, {"changes": (GONE, NEW)}, ("failed", "interface", 1)),
        (BLOCK, {"changes": (NEW,)}, ("passed", "no_regression", 0)),
        (BLOCK, {"why": "head: it hung", "by_head": True}, ("inconclusive", "unproven", 5)),
        (BLOCK | {"block": ()}, {"why": "head: it hung", "by_head": True}, ("inconclusive", "unproven", 0)),
        (LIMITS, {"why": "head: it hung", "by_head": True}, ("inconclusive", "unproven", 5)),
        ({}, {"why": "head: it hung", "by_head": True}, ("passed", "no_regression", 0)),
        (BLOCK, {"why": "base: it hung"}, ("passed", "no_regression", 0)),
        (LIMITS, {"tokens": {"add": (80, 100)}}, ("passed", "no_regression", 0)),
        (LIMITS, {"tokens": {"add": (90, 101)}}, ("failed", "interface", 1)),
        (LIMITS, {"tokens": {"add": (50, 71)}}, ("failed", "interface", 1)),
        (LIMITS, {"tokens": {"add": (500, 500)}}, ("passed", "no_regression", 0)),
    ],
)
def test_what_of_an_interface_blocks(
    policy: dict[str, Any], found: dict[str, Any], decided: tuple[str, str, int]
) -> None:
    made = verdict("ok", policy, interfaces=(Interface.model_validate({"tool": "shelf", **found}),))
    assert (made.state, made.reason, made.exit_code) == decided
    assert any("`shelf`" in reason for reason in made.reasons) is (made.state != "passed")


# --- laws


def test_what_would_block_without_a_regression_is_named_beside_it() -> None:
    """A label for the regression must not hide it."""
    more: dict[str, Any] = {"definitions": (LOOSENED,), "interfaces": (Interface(tool="shelf", changes=(GONE,)),)}
    made = verdict("regressed not_measured=build ok unconfirmed", {"rules": "block", **BLOCK}, **more)
    assert set(made.red) == {
        "s1 × docs regressed",
        "s2 × docs",
        "s1 × , less checked: out.json",
        "shelf: `add`: gone",
    }


NAMES = re.compile(r" \(s\d[^)]*\)")
WORDS = st.lists(
    st.sampled_from([*(state for state in STATES if state != "not_measured"), "setup", "capability:regressed"])
    | st.sampled_from(["not_measured=outage", "not_measured=budget", "not_measured=cancelled"]),
    max_size=6,
)


BLOCKS = st.sets(st.sampled_from(["regressed", "unproven", "unconfirmed", "not_measured", "inconclusive"]))


@given(words=WORDS, block=BLOCKS, share=st.sampled_from([0.0, 0.5]))
def test_all_that_blocks_has_a_name_and_nothing_else(words: list[str], block: set[str], share: float) -> None:
    made = verdict(" ".join(words), {"block": tuple(sorted(block))}, excluded_share=share)
    assert bool(made.red) is made.would_block


@given(WORDS)
def test_only_a_regressed_row_turns_it_red(words: list[str]) -> None:
    red = any(word in ("regressed", "setup") for word in words)
    assert (verdict(" ".join(words)).state == "failed") == red


@given(WORDS, st.data())
def test_what_was_not_measured_never_turns_red_into_green(words: list[str], data: st.DataObject) -> None:
    """Losing a row leaves the verdict failed for others' sake, or makes it inconclusive or not run: never passed."""
    if not words:
        return
    place = data.draw(st.integers(0, len(words) - 1))
    after = verdict(" ".join([*words[:place], "not_measured=outage", *words[place + 1 :]]))
    assert after.state != "passed"
    if verdict(" ".join(words)).state != "failed":
        assert after.state != "failed"


@given(WORDS, st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(words: list[str], order: list[int]) -> None:
    shuffled = [words[place] for place in order if place < len(words)]
    one, other = verdict(" ".join(words)), verdict(" ".join(shuffled))
    assert (one.state, one.reason, one.exit_code) == (other.state, other.reason, other.exit_code)
    assert NAMES.sub("", one.summary) == NAMES.sub("", other.summary)


@given(WORDS, st.sampled_from([(), ("regressed",), ("regressed", "unconfirmed"), ("not_measured", "inconclusive")]))
def test_exit_code_and_state_never_disagree(words: list[str], block: tuple[str, ...]) -> None:
    made = verdict(" ".join(words), {"block": block})
    allowed = {"passed": {0}, "failed": {1}, "inconclusive": {0, 5}, "not_run": {3, 4}}
    assert made.exit_code in allowed[made.state]
    assert made.would_block == (made.exit_code != 0)


# --- the suite as a whole, and metrics

ERRORS = MetricChange(base=0.05, head=0.2, effect=0.15, interval=(0.1, 0.2), q=0.001, warns=True)


def test_a_suite_that_regressed_as_a_whole_fails_and_a_suspicion_is_only_said() -> None:
    regressed = verdict("ok ok", suite=SuiteEffect(state="regressed", p=0.0001, level=0.001))
    assert (regressed.state, regressed.reason, regressed.exit_code) == ("failed", "regression", 1)
    assert regressed.summary == "the suite as a whole regressed; no single row regressed in 2 scenarios"
    assert verdict("ok ok", {"block": ()}, suite=SuiteEffect(state="regressed")).state == "passed"
    unconfirmed = verdict("ok ok", suite=SuiteEffect(state="unconfirmed", p=0.08))
    assert (unconfirmed.state, unconfirmed.exit_code) == ("passed", 0)
    assert unconfirmed.summary.startswith("the suite as a whole looks a little worse, not confirmed")


def test_a_metric_blocks_only_where_the_policy_names_it_and_by_more_than_it_allows() -> None:
    suite = SuiteEffect(metrics={"error_rate": ERRORS})
    assert verdict("ok", suite=suite).state == "passed"
    failed = verdict("ok", {"block_metrics": {"error_rate": 0.10}}, suite=suite)
    assert (failed.state, failed.reason, failed.exit_code) == ("failed", "metric", 1)
    assert failed.reasons == ("error_rate: 0.05 on base, 0.2 on head (q = 0.001)",)
    assert verdict("ok", {"block_metrics": {"error_rate": 0.20}}, suite=suite).state == "passed"
    assert verdict("ok", {"block_metrics": {"retry_rate": 0.10}}, suite=suite).state == "passed"


@pytest.mark.parametrize(
    ("worst", "state", "code"), [(None, "inconclusive", 5), (-0.3, "inconclusive", 5), (-0.05, "passed", 0)]
)
def test_a_metric_that_head_lacks_in_so_many_trials_that_it_may_be_worse_is_unproven(
    worst: float | None, state: str, code: int
) -> None:
    suite = SuiteEffect(metrics={"judge_score": MetricChange(base=None, head=None, missing=3, worst=worst)})
    found = verdict("ok", {"block_metrics": {"judge_score": 0.10}}, suite=suite)
    assert (found.state, found.exit_code) == (state, code)
    assert found.reasons == (("judge_score: no value in 3 trials of head; base's have one",) if code else ())
    assert verdict("ok", suite=suite).state == "passed"


def test_a_metric_that_may_be_chance_does_not_block() -> None:
    suite = SuiteEffect(metrics={"error_rate": ERRORS.model_copy(update={"q": 0.06})})
    assert verdict("ok", {"block_metrics": {"error_rate": 0.10}}, suite=suite).state == "passed"


def test_where_nothing_passes_on_either_side_nothing_is_passed() -> None:
    def dead(scenario: str) -> Row:
        return row(scenario, "ok").model_copy(update={"base": BaseCounts(trials=3), "head": HeadCounts(trials=3)})

    found = decide(Comparison(rows=(dead("a"), dead("b"))), Policy(block=("regressed", "inconclusive")))
    assert (found.state, found.reason, found.exit_code) == ("inconclusive", "nothing_passes", 5)
    assert decide(Comparison(rows=(dead("a"),)), Policy(block=("regressed",))).exit_code == 0
    assert decide(Comparison(rows=(dead("a"), row("b", "ok"))), Policy()).state == "passed"
    two_thirds = make.verdict(Comparison(rows=(dead("a"), dead("b"), row("c", "ok"))))
    assert (two_thirds.state, two_thirds.reason, two_thirds.exit_code) == ("inconclusive", "nothing_passes", 5)
    assert two_thirds.summary == ("2 of 3 scenarios pass on neither side, so these cannot show a regression")


# --- what head can have caused proves nothing


PASSES = BaseCounts(passes=2, trials=2)


def counted(word: str, passes: int, trials: int, lost: int = 0, **more: Any) -> Row:
    head = HeadCounts(passes=passes, trials=trials, not_measured=lost)
    return row(word.partition("=")[0], word).model_copy(update={"head": head, **more})


@pytest.mark.parametrize(
    "unproven",
    [
        counted("not_measured=record_lost", 0, 0),
        counted("not_measured=setup", 0, 0),
        counted("not_measured=unfinished", 0, 0),
        counted("not_measured=budget", 0, 1),  # base was never measured, head failed
        counted("unconfirmed", 0, 2),
        counted("unconfirmed", 0, 0, lost=2, kind="unmeasurable"),
        counted("unconfirmed", 1, 1, lost=2, kind="setup"),
        counted("unconfirmed", 2, 2, lost=1, kind="unmeasurable", deterministic=True, base=PASSES),
        counted("not_comparable", 0, 1),
        counted("not_comparable", 2, 3),
    ],
    ids=lambda row: f"{row.state} {row.not_measured} {row.head.passes}/{row.head.trials}",
)
def test_a_row_that_head_can_have_kept_from_being_compared_exits_with_5(unproven: Row) -> None:
    rows = (row("fine", "ok"), unproven)
    made = make.verdict(Comparison(rows=rows))
    assert (made.state, made.reason, made.exit_code) == ("inconclusive", "unproven", 5)
    assert made.reasons == (f"{unproven.scenario}: the numbers",)
    assert decide(Comparison(rows=rows), Policy(mode="advisory")).exit_code == 0
    assert decide(Comparison(rows=rows), Policy(block=("regressed",))).exit_code == 0
    capability = unproven.model_copy(update={"purpose": "capability"})
    assert decide(Comparison(rows=(row("fine", "ok"), capability)), Policy()).exit_code == 0


def test_a_budget_that_a_slower_head_has_used_up_exits_with_5() -> None:
    rows = (row("fine", "ok"), counted("not_measured=budget", 0, 0))
    made = make.verdict(Comparison(rows=rows, used_by_head=(Overuse(what="s", base=40, limit=60),)))
    assert (made.exit_code, made.reason, made.reasons[0]) == (
        5,
        "unproven",
        "at base's rate, as far as it is known, all trials take 40 of the budget's 60 s",
    )
    assert made.own_reasons == made.reasons[:1]
    assert decide(Comparison(rows=rows), Policy()).exit_code == 0


@pytest.mark.parametrize(
    "harmless",
    [
        counted("not_measured=outage", 0, 0),
        counted("not_measured=outage", 0, 1),
        counted("not_measured=budget", 0, 0),
        counted("not_measured=secret", 0, 0),
        counted("unconfirmed", 1, 3),
        counted("unconfirmed", 2, 2, lost=1, kind="setup"),
        counted("unconfirmed", 1, 1, lost=1, kind="setup"),
        counted("unconfirmed", 2, 2, lost=1, kind="unmeasurable", base=PASSES),  # its pairs found no drop
        counted("unconfirmed", 2, 2, lost=1, kind="unmeasurable", deterministic=True),  # base never passes
        counted("unconfirmed", 0, 3, one_shot=True),
        counted("not_comparable", 1, 1),
    ],
    ids=lambda row: f"{row.state} {row.not_measured} {row.head.passes}/{row.head.trials}",
)
def test_a_row_that_something_else_kept_from_being_compared_does_not_block(harmless: Row) -> None:
    assert decide(Comparison(rows=(row("fine", "ok"), harmless)), Policy()).exit_code == 0


def test_a_pull_request_that_repairs_base_does_no_harm_and_is_no_pass_where_nothing_was_compared() -> None:
    repaired = counted("not_comparable", 1, 1)
    made = decide(Comparison(rows=(repaired, row("fine", "ok"))), Policy())
    assert (made.state, made.exit_code) == ("passed", 0)
    alone = decide(Comparison(rows=(repaired, row("new", "added"))), Policy())
    assert (alone.state, alone.reason, alone.exit_code) == ("inconclusive", "nothing_compared", 0)


def test_a_cause_that_blocks_is_not_hidden_by_one_that_does_not() -> None:
    blind = row("a", "ok").model_copy(update={"base": BaseCounts(trials=1), "head": HeadCounts(trials=1)})
    rows = (*(blind.model_copy(update={"scenario": name}) for name in "abcd"), row("e", "not_measured=outage"))
    made = decide(Comparison(rows=rows), Policy())
    assert (made.reason, made.exit_code) == ("nothing_passes", 5)


def test_checks_that_cannot_fail_are_in_the_summary() -> None:
    vacuous = row("b", "ok").model_copy(update={"can_fail": False})
    some = make.verdict(Comparison(rows=(row("a", "ok"), vacuous)))
    assert some.summary == "nothing regressed in 2 scenarios; 1 of 2 scenarios has no required check and cannot fail"
    assert "no scenario has a required check" in make.verdict(Comparison(rows=(vacuous,))).summary
