"""The state machine: its requests, its conclusions, and laws that hold for any results.

A line is a row and what its trials will be, in the order in which they are asked for (the last one repeats):
P pass, F fail, S setup fails, H health check fails, X infrastructure, $ budget, M no agent, L record lost,
W rewritten.
`past:38/40` is base's history.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tests.make import sure
from tidegate.decide.procedure.observed import Past, RowSeen
from tidegate.decide.procedure.pairs import Paired, RowTest, look
from tidegate.decide.procedure.row_states import Conclusion, _settled
from tidegate.decide.procedure.rules import Facts
from tidegate.decide.procedure.steps import (
    State,
    conclude,
    next_step,
    observe,
    start,
    stops_early,
)
from tidegate.decide.procedure.suite_gate import suite_gate
from tidegate.decide.statistics.e_process import Pairs, e_of_drop
from tidegate.model.measurement import Outcome, TrialResult
from tidegate.model.run_row import EarlierPushes, RunRow
from tidegate.model.suite import Policy, TrialCounts
from tidegate.model.trial_spec import NotMeasured, Side, TrialSpec
from tidegate.reports.verdict_text import clears_text, reason_text

NOT_MEASURED: dict[str, NotMeasured] = {
    "S": "setup",
    "H": "health_check",
    "X": "infrastructure",
    "$": "budget",
    "M": "missing_agent",
    "L": "record_lost",
    "W": "rewritten",
    "O": "outage",
}
SIDES: tuple[Side, Side] = ("base", "head")
LETTERS = "PF" + "".join(NOT_MEASURED)


def ended(side: Side, end: str, index: int = 1) -> TrialResult:
    return make.trial_result(side=side, index=index, end=end, outcome="pass", decides="pass")


@pytest.mark.parametrize("end", ["crashed", "timeout", "limit:output"])
def test_a_pass_whose_agent_was_cut_off_counts_only_if_one_of_base_s_was_too(end: str) -> None:
    row = RowSeen(row=RunRow(scenario="s", agent="a", deterministic=True)).with_trials([ended("head", end)])
    assert row.tally("head").passes == 1, "nothing is known of base"
    row = row.with_trials([ended("base", "completed")])
    assert (row.tally("head").passes, row.tally("head").lost) == (0, 1)
    row = row.with_trials([ended("base", "killed", 2)])
    assert row.tally("head").lost == 1, "another end is no excuse"
    row = row.with_trials([ended("base", end, 3)])
    assert (row.tally("head").passes, row.tally("base").passes) == (1, 3)


def test_a_cut_off_pass_is_compared_with_base_s_history_too() -> None:
    row = RowSeen(
        row=RunRow(scenario="s", agent="a", deterministic=False), past=Past((True,), ends=frozenset({"completed"}))
    )
    assert row.with_trials([ended("head", "timeout")]).tally("head").passes == 0
    assert row.with_trials([ended("head", "completed")]).tally("head").passes == 1
    alike = row.model_copy(update={"past": Past((True,), ends=frozenset({"completed", "timeout"}))})
    assert alike.with_trials([ended("head", "timeout")]).tally("head").passes == 1


def test_a_pass_with_a_fault_that_no_trial_of_base_has_is_a_failure() -> None:
    def listing(side: Side, index: int = 1, decides: Outcome = "pass", **faults: str) -> TrialResult:
        return make.trial_result(side=side, index=index, outcome=decides, decides=decides, faults=faults)

    head = listing("head", twice="add", dots="a.b")
    row = RowSeen(row=RunRow(scenario="s", agent="a", deterministic=True)).with_trials([head])
    assert row.tally("head").passes == 1, "nothing is known of base"
    row = row.with_trials([listing("base", dots="c.d")])
    (failed,) = row.of("head")
    assert (row.tally("head").passes, failed.decides, failed.not_measured) == (0, "fail", None)
    assert failed.reason == "only on head: twice (add)"
    assert row.with_trials([listing("base", 2, "fail", twice="put")]).tally("head").passes == 1
    known_before = Past((True,), faults=frozenset({"twice", "dots"}))
    assert row.model_copy(update={"past": known_before}).with_trials([]).tally("head").passes == 1


def known(outcomes: list[bool], unsteady: bool = False) -> Past:
    return Past(outcomes, unsteady, (sum(outcomes), len(outcomes)), outcomes[-5:])


class Story:
    """Rows with their future, played through the procedure. `asked`: the specs of every round."""

    def __init__(self, *lines: str, trials: TrialCounts | None = None, unsteady: bool = False, **policy: Any) -> None:
        self.future: dict[tuple[str, str], str] = {}
        self.past: dict[str, list[bool]] = {}
        self.asked: list[tuple[TrialSpec, ...]] = []
        rows = [self._row(line) for line in lines]
        counted = [row.model_copy(update={"trials": row.trials.over(trials or TrialCounts())}) for row in rows]
        past = {row.key: known(self.past[row.scenario], unsteady) for row in counted if row.scenario in self.past}
        self.start = start(counted, Policy(**policy), past)
        self.state = self.played(self.start)
        self.conclusions = conclude(self.state)

    def played(self, state: State) -> State:
        """The state in which no more trial is asked for."""
        while step := next_step(state):
            self.asked.append(step)
            state = observe(state, [self.result(spec) for spec in step])
        return state

    def _row(self, line: str) -> RunRow:
        name, *words = line.split()
        fields: dict[str, Any] = {}
        for word in words:
            key, _, value = word.partition(":")
            if key in ("base", "head"):
                self.future[name, key] = value
            elif key == "past":
                passes, trials = map(int, value.split("/"))
                self.past[name] = [n * passes // trials < (n + 1) * passes // trials for n in range(trials)]
            elif key in ("min", "max"):
                fields["trials"] = fields.get("trials", TrialCounts()).model_copy(update={key: int(value)})
            elif key in ("added", "removed"):
                fields["presence"] = key
            elif key == "capability":
                fields["purpose"] = key
        return RunRow(scenario=name, agent="a", deterministic="det" in words, **fields)

    def result(self, spec: TrialSpec) -> TrialResult:
        letters = self.future[spec.scenario, spec.side]
        return result(spec, letters[min(spec.index, len(letters)) - 1])

    @property
    def specs(self) -> list[TrialSpec]:
        return [spec for specs in self.asked for spec in specs]

    @property
    def rounds(self) -> str:
        """The trials of every round, as `b1 h1 | h2`, for stories of one row."""
        return " | ".join(" ".join(f"{spec.side[0]}{spec.index}" for spec in specs) for specs in self.asked)


def result(spec: TrialSpec, letter: str) -> TrialResult:
    outcomes: dict[str, Outcome] = {"P": "pass", "F": "fail"}
    outcome = outcomes.get(letter)
    return make.trial_result(
        **spec.model_dump(), outcome=outcome, reason="because", not_measured=NOT_MEASURED.get(letter)
    )


def words(conclusion: Conclusion) -> str:
    return reason_text(conclusion.state, conclusion.why)


def clears(conclusion: Conclusion) -> str:
    return clears_text(conclusion.state, conclusion.why)


def only(*lines: str, **options: Any) -> Conclusion:
    (conclusion,) = Story(*lines, **options).conclusions
    return conclusion


# --- deterministic rows


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("s base:P head:F min:1 max:1", "unconfirmed"),
        ("s base:P head:F min:1 max:8", "unconfirmed"),
        ("s past:5/10 base:P head:F min:1 max:1", "unconfirmed"),
        ("s base:F head:F min:1 max:1", "ok"),
        ("s base:P head:P min:1 max:1", "ok"),
    ],
)
def test_a_row_that_never_passed_on_head_is_in_doubt_if_its_trials_may_not_be_enough(line: str, state: str) -> None:
    (row,) = Story(line).conclusions
    assert row.state == state


@pytest.mark.parametrize(
    ("line", "state", "trials"),
    [
        ("docs det base:P head:P", "ok", {"base": 1, "head": 1}),
        ("docs det base:F head:F", "ok", {"base": 1, "head": 1}),
        ("docs det base:P head:F", "regressed", {"base": 2, "head": 3}),
        ("docs det base:F head:P", "improved", {"base": 2, "head": 3}),
        ("docs det added head:P", "added", {"head": 1}),
        ("docs det added head:F", "added", {"head": 1}),
        ("docs det removed", "removed", {}),
    ],
)
def test_a_deterministic_row_takes_as_few_trials_as_can_be(line: str, state: str, trials: dict[str, int]) -> None:
    story = Story(line)
    assert [c.state for c in story.conclusions] == [state]
    assert Counter(spec.side for spec in story.specs) == trials
    assert story.conclusions[0].deterministic
    assert not story.conclusions[0].one_shot


def test_a_flip_is_confirmed_in_one_more_round() -> None:
    story = Story("docs det base:P head:F")
    assert story.rounds == "b1 h1 | b2 h2 h3"
    assert [{spec.phase for spec in specs} for specs in story.asked] == [{"screen"}, {"confirm"}]
    (conclusion,) = story.conclusions
    assert words(conclusion) == "passes 0 of 3 trials on head, 2 of 2 on base"
    assert clears(conclusion) == ""


@pytest.mark.parametrize(
    "line", ["docs det base:PP head:FFP", "docs det base:PF head:FFF", "docs det base:FF head:PFP"]
)
def test_a_row_whose_repeats_disagree_is_compared_by_chance_from_then_on(line: str) -> None:
    story = Story(line)
    (conclusion,) = story.conclusions
    assert not conclusion.deterministic
    assert not conclusion.one_shot
    assert conclusion.demoted
    assert Counter(spec.side for spec in story.specs)["head"] >= 3
    assert len({(spec.side, spec.index) for spec in story.specs}) == len(story.specs), "no trial is run twice"


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("docs det base:PFFF" + "F" * 20 + " head:FFF" + "F" * 20, "unconfirmed"),
        ("docs det base:PFFF" + "F" * 20 + " head:FFFP" + "F" * 20, "ok"),
    ],
)
def test_a_deterministic_row_that_only_base_ever_passes_is_not_ok(line: str, state: str) -> None:
    """What head leaves behind or runs on can make base fail, too."""
    found = only(line)
    assert found.state == state
    assert state == "ok" or "what head does may make base fail" in words(found)


def test_a_row_whose_history_of_one_commit_disagrees_is_compared_by_chance_from_the_start() -> None:
    story = Story("docs det past:20/40 base:P head:F", unsteady=True)
    assert not story.conclusions[0].deterministic
    assert story.rounds.startswith("h1 | h2 | "), "screened against its history"
    steady = Story("docs det past:9/9 base:P head:F")
    assert (steady.conclusions[0].state, steady.rounds[:8]) == ("regressed", "b1 h1 | ")


def test_a_row_that_breaks_wholly_after_it_was_found_out_is_confirmed_on_fresh_trials() -> None:
    conclusion = only("docs det base:P head:FPF" + "F" * 20)
    assert (conclusion.state, conclusion.deterministic) == ("regressed", False)
    assert "verified in a second batch" in words(conclusion)


def test_failing_on_both_sides_is_no_regression_and_says_so() -> None:
    assert words(only("docs det base:F head:F")) == (
        "no regression detected; fails on both sides: passes 0 of 1 trials on head, 0 of 1 on base"
    )


@pytest.mark.parametrize("limit", ["max:2", "max:1"])
def test_too_few_trials_allowed_to_confirm_leave_a_suspicion(limit: str) -> None:
    story = Story(f"docs det {limit} base:P head:F")
    assert (story.rounds, story.conclusions[0].state) == ("b1 h1", "unconfirmed")
    assert f"trials.max allows {limit[-1]} on head" in words(story.conclusions[0])


@pytest.mark.parametrize(("most", "needed"), [(None, 6), (4, 4), (9, 6)])
def test_a_row_that_failed_earlier_is_cleared_by_no_more_passes_than_it_may_have(most: int | None, needed: int) -> None:
    row = RunRow(scenario="s", agent="a", deterministic=True, earlier=EarlierPushes(failed=True))
    assert RowSeen(row=row, most=most).passes_to_clear == needed


def test_a_row_that_was_red_stays_red_where_an_outage_takes_its_trials() -> None:
    row = RunRow(scenario="s", agent="a", deterministic=False)
    assert sure(_settled(RowSeen(row=row))).state == "not_measured"
    carried = sure(_settled(RowSeen(row=row.model_copy(update={"earlier": EarlierPushes(state="regressed")}))))
    assert carried.state == "regressed"
    assert words(carried).endswith("no trial was measured on a side")
    added = row.model_copy(update={"earlier": EarlierPushes(state="regressed"), "presence": "added"})
    assert sure(_settled(RowSeen(row=added))).state == "not_measured"


def test_a_row_that_looked_worse_when_an_outage_took_its_other_trials_is_unconfirmed_not_ok() -> None:
    worse = only("docs past:20/40 base:P head:FOO")
    assert (worse.state, words(worse).rpartition("; ")[2]) == ("unconfirmed", "1 of 3 trials on head were measured")
    assert only("docs past:20/40 base:P head:PPO").state == "flaky"


def test_evidence_that_equals_the_limit_reaches_it() -> None:
    pairs = Pairs(8, 0, 8)
    assert look(pairs, 0, 1 / e_of_drop(pairs)) == "reached"


def test_the_suite_limit_holds_where_the_scenario_has_none() -> None:
    assert only("docs det base:P head:F", trials=TrialCounts(max=2)).state == "unconfirmed"
    assert only("docs det max:3 base:P head:F", trials=TrialCounts(max=2)).state == "regressed"


def test_a_repeat_that_was_not_measured_confirms_nothing() -> None:
    conclusion = only("docs det base:P head:FFX")
    assert conclusion.state == "unconfirmed"
    assert "passes 0 of 2 trials on head" in words(conclusion)
    assert "not confirmed" in words(conclusion)


@pytest.mark.parametrize(
    ("line", "state", "kind"),
    [
        ("docs det past:9/9 max:2 base:P head:F", "unconfirmed", "outcome"),
        ("docs det base:F head:PPX", "ok", "outcome"),  # an improvement that was not confirmed
        # the setup fails now and then, everywhere, or where base is not fine
        ("docs base:P head:S", "regressed", "setup"),
        ("docs det base:P head:SP", "unconfirmed", "setup"),
        ("docs base:P head:SPP", "unconfirmed", "setup"),
        ("docs base:P head:SLP", "unconfirmed", "setup"),
        ("docs base:SPP head:SPP", "ok", "outcome"),
        ("docs det base:S head:H", "not_measured", "outcome"),
        ("docs base:SSP head:S", "not_measured", "outcome"),
        ("docs det base:X head:S", "not_measured", "outcome"),
        # trials are lost: the repeats of a failure, one now and then, those of both sides
        ("docs det base:P head:FLL", "regressed", "outcome"),
        ("docs det base:P head:LFL", "regressed", "outcome"),
        ("docs det base:P head:SFL", "regressed", "outcome"),
        ("docs det base:P head:LP", "unconfirmed", "unmeasurable"),
        ("docs base:P head:LPP", "unconfirmed", "unmeasurable"),
        ("docs past:40/40 base:P head:LP", "unconfirmed", "unmeasurable"),
        ("docs det base:L head:L", "not_measured", "outcome"),
        ("docs base:LLP head:L", "not_measured", "outcome"),
        ("docs det base:S head:L", "not_measured", "outcome"),
        # base has to be known to fail before both sides may fail alike: head can leave behind what makes base fail
        ("docs past:40/40 base:F head:F", "baseline_changed", "base_fails"),
        (f"docs past:40/40 base:{'FFP' * 9} head:F", "baseline_changed", "base_fails"),
        ("docs past:4/4 base:F head:F", "baseline_changed", "base_fails"),
        ("docs past:40/40 base:F head:P", "ok", "outcome"),
        (f"docs past:40/40 base:{'FPP' * 9} head:{'FPP' * 9}", "ok", "outcome"),
        ("docs past:16/40 base:F head:F", "ok", "outcome"),
        ("docs det past:1/1 base:F head:F", "baseline_changed", "base_fails"),
        ("docs past:0/40 base:F head:P", "improved", "outcome"),
    ],
)
def test_how_a_story_ends(line: str, state: str, kind: str) -> None:
    said = only(line)
    assert (said.state, said.kind) == (state, kind), words(said)


@pytest.mark.parametrize(
    ("line", "rounds", "state", "kind"),
    [
        # an excluded trial is not asked for again
        ("docs base:P head:X", "b1 h1 | h2 b2 | b3 h3", "not_measured", "outcome"),
        # a clean row with history costs its screening alone
        ("docs past:40/40 base:P head:P", "h1 | h2 | h3", "ok", "outcome"),
        # what head loses, or does not set up, is compared with fresh trials of base though that has a history
        ("docs past:40/40 base:P head:L", "h1 | h2 | h3 | b1 b2 | b3 h4 b4 h5 b5", "regressed", "unmeasurable"),
        ("docs past:40/40 base:P head:S", "h1 | h2 | h3 | b1 b2", "regressed", "setup"),
        # a base that loses a trial is tried again
        ("docs det base:LP head:P", "b1 h1 | b2 b3", "ok", "outcome"),
        ("docs det base:L head:P", "b1 h1 | b2 b3", "not_comparable", "outcome"),
        # a deterministic row is compared with base as it is now, which is tried again where it fails unlike its history
        ("docs det past:0/40 base:F head:F", "b1 h1", "ok", "outcome"),
        ("docs det past:9/9 base:F head:F", "b1 h1 | b2", "baseline_changed", "base_fails"),
    ],
)
def test_which_trials_a_row_takes(line: str, rounds: str, state: str, kind: str) -> None:
    story = Story(line)
    (said,) = story.conclusions
    assert (story.rounds, said.state, said.kind) == (rounds, state, kind)


# --- setup


@pytest.mark.parametrize("line", ["docs det base:P head:S", "docs det base:F head:H", "docs min:1 base:P head:S"])
def test_a_setup_that_fails_on_head_alone_is_a_regression(line: str) -> None:
    story = Story(line)
    (conclusion,) = story.conclusions
    assert (conclusion.state, conclusion.kind) == ("regressed", "setup")
    assert story.rounds == "b1 h1 | b2 h2 h3"
    assert "fails in 3 of 3 trials on head, in 0 of 2 on base" in words(conclusion)
    assert clears(conclusion).endswith("succeeds on head")


def test_a_setup_that_fails_on_base_alone_can_not_be_compared() -> None:
    conclusion = only("docs det base:S head:P")
    assert conclusion.state == "not_comparable"
    assert words(conclusion).startswith("the setup fails on base alone")


# --- what head may have lost


@pytest.mark.parametrize("line", ["docs det base:P head:L", "docs det base:F head:L"])
def test_a_head_that_loses_every_trial_is_repeated_and_regresses(line: str) -> None:
    story = Story(line)
    (conclusion,) = story.conclusions
    assert (conclusion.state, conclusion.kind) == ("regressed", "unmeasurable")
    assert story.rounds == "b1 h1 | b2 h2 h3"
    assert words(conclusion) == "no outcome (record lost: because) in 3 of 3 trials on head, in 0 of 2 on base"
    assert clears(conclusion) == "its trials have an outcome on head"


@pytest.mark.parametrize(
    ("line", "rounds"),
    [
        ("docs det base:P head:O", "b1 h1 | b2 h2 h3"),
        ("docs min:3 base:P head:O", "b1 h1 | h2 b2 | b3 h3 | b4 h4 b5 h5"),
        ("docs past:40/40 base:P head:O", "h1 | h2 | h3 | b1 b2 | b3 h4 b4 h5 b5"),
        ("docs min:3 base:OP head:O", "b1 h1 | h2 b2 | b3 h3 | b4 h4 b5 h5 b6"),
    ],
)
def test_an_outage_that_only_head_s_trials_meet_leaves_the_row_in_doubt(line: str, rounds: str) -> None:
    """What a tool prints can be what its provider cannot answer."""
    story = Story(line)
    (conclusion,) = story.conclusions
    assert (conclusion.state, conclusion.kind) == ("unconfirmed", "unmeasurable")
    assert story.rounds == rounds
    assert words(conclusion).startswith("no outcome (outage: because) in ")


@pytest.mark.parametrize(
    "line",
    ["docs det base:PO head:O", "docs base:PPO head:O", "docs past:40/40 base:O head:O", "docs min:3 base:LP head:O"],
)
def test_an_outage_beside_which_base_is_not_measured_is_no_doubt(line: str) -> None:
    assert only(line).state == "not_measured"


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("docs min:3 base:PPP head:POO", "unconfirmed"),
        ("docs min:3 base:POP head:POO", "ok"),
        ("docs min:3 base:PPP head:PPO", "ok"),
        ("docs past:40/40 base: head:POO", "unconfirmed"),
    ],
)
def test_outages_that_meet_more_of_head_s_trials_leave_the_row_in_doubt(line: str, state: str) -> None:
    conclusion = only(line)
    assert conclusion.state == state
    if state == "unconfirmed":
        text = "no outcome (outage: because) in 2 of 3 trials on head and less often on base; passes 1 of 1"
        assert words(conclusion).startswith(text)


def test_three_lost_trials_are_no_evidence_where_both_sides_may_lose_them_at_random() -> None:
    """A row that passes every other time, and loses its failures on both sides."""
    assert only("docs past:20/40 base:PPL head:LLLP").state != "regressed"


@pytest.mark.parametrize("line", ["docs det base:P head:W", "docs base:P head:W", "docs past:40/40 base:P head:W"])
def test_passes_that_prove_nothing_are_neither_repeated_nor_failures(line: str) -> None:
    story = Story(line)
    (conclusion,) = story.conclusions
    assert (conclusion.state, conclusion.kind) == ("unconfirmed", "rewritten")
    assert not any(spec.phase != "screen" for specs in story.asked for spec in specs)


@pytest.mark.parametrize(
    "line", ["docs det past:40/40 base:P head:WP", "docs base:P head:PPW", "docs det base:P head:FW"]
)
def test_a_pass_that_proves_nothing_leaves_no_row_green(line: str) -> None:
    conclusion = only(line)
    assert (conclusion.state, conclusion.kind) == ("unconfirmed", "rewritten")
    assert "no outcome (rewritten: because) in" in words(conclusion)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("docs det base:X head:L", "infrastructure"),  # base was kept from outside
        ("docs det base:$ head:L", "record_lost"),  # head can use up the budget
        ("docs base:P head:X$L max:1", "infrastructure"),
        ("docs base:$ head:$$L", "record_lost"),
        ("docs det base:$ head:F", "budget"),
    ],
)
def test_the_cause_of_a_row_is_what_head_may_have_done_unless_base_was_kept_from_outside(line: str, cause: str) -> None:
    conclusion = only(line)
    assert (conclusion.state, conclusion.not_measured) == ("not_measured", cause)


def test_a_head_that_fails_beside_a_base_that_cannot_be_set_up_is_neither_green_nor_red() -> None:
    """Only a history is left to compare with, and it does not say what base does today."""
    assert only("docs past:40/40 base:S head:P").state == "ok"
    story = Story("docs past:40/40 base:S head:F")
    assert story.conclusions[0].state == "unconfirmed"
    assert len([spec for spec in story.specs if spec.side == "base"]) == 5, "no more pairs than that are tried"


# --- the budget is not head's weapon


def test_all_failures_are_confirmed_together_before_anything_else() -> None:
    """So one regression does not hide another from the comment."""
    story = Story(*(f"row{n} det base:P head:F" for n in range(2)), "other base:PPP head:FFF")
    assert {spec.scenario for spec in story.asked[1]} == {"row0", "row1"}
    assert {spec.phase for spec in story.asked[1]} == {"confirm"}


def test_a_batch_is_left_to_confirm_one_of_its_rows_and_then_the_rows_that_were_left_are_tried() -> None:
    lines = [f"row{n} det base:P head:F" for n in range(16)]
    story = Story(*lines)
    running, state, begun = story.asked[0], story.start, 0
    while not stops_early(state, running):
        state = observe(state, [story.result(running[begun])])
        begun += 1
    assert begun == 2
    step = next_step(state)
    for spec in step:
        assert not stops_early(state, step), "the repeats themselves are not left"
        state = observe(state, [story.result(spec)])
    rest = next_step(state)
    assert {(spec.scenario, spec.side) for spec in rest} == {
        (f"row{n}", side) for n in range(1, 16) for side in ("base", "head")
    }
    for spec in rest:
        assert not stops_early(state, rest), "one that hangs keeps no other from being tried"
        state = observe(state, [story.result(spec)])
    assert stops_early(state, running)
    assert not next_step(state)


@pytest.mark.parametrize("options", [{"fail_fast": False}, {"block": ()}, {"agents": ("other",)}])
def test_nothing_is_left_where_a_regression_does_not_end_the_run(options: dict[str, Any]) -> None:
    story = Story(*(f"row{n} det base:P head:F" for n in range(3)), **options)
    seen = observe(story.start, [story.result(spec) for spec in story.asked[0]])
    assert not stops_early(seen, story.asked[0])
    assert {spec.scenario for spec in story.asked[1]} == {"row0", "row1", "row2"}


def test_a_failure_that_is_not_repeated_lets_the_others_go_on() -> None:
    first, second = Story("a det base:P head:FP", "b det base:P head:F").conclusions
    assert first.state != "regressed"
    assert second.state == "regressed"


# --- what was not measured


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("docs det base:P head:X", "no trial was measured on head (infrastructure: because)"),
        ("docs det base:M head:M", "no trial was measured on base or head (missing_agent: because)"),
        ("docs base:P head:$$X", "no trial was measured on head (budget: because)"),
        ("docs det added head:S", "no trial was measured on head (setup: because)"),
    ],
)
def test_a_side_without_a_measured_trial_is_no_outcome(line: str, reason: str) -> None:
    conclusion = only(line)
    assert (conclusion.state, words(conclusion)) == ("not_measured", reason)


# --- stochastic rows


@pytest.mark.parametrize(("preset", "trials"), [("quick", 1), ("standard", 3), ("thorough", 5)])
def test_the_preset_says_how_many_trials_screen_a_row(preset: str, trials: int) -> None:
    story = Story("docs base:P head:P", preset=preset)
    assert Counter(spec.side for spec in story.specs) == {"base": trials, "head": trials}


def test_the_scenario_s_own_count_comes_before_the_suite_s_and_the_preset_s() -> None:
    story = Story("own min:2 base:P head:P", "other base:P head:P", trials=TrialCounts(min=4))
    assert Counter((spec.scenario, spec.side) for spec in story.specs) == {
        ("own", "base"): 2,
        ("own", "head"): 2,
        ("other", "base"): 4,
        ("other", "head"): 4,
    }


def test_sides_alternate_in_rounds_over_all_rows() -> None:
    story = Story("a base:P head:P", "b det base:P head:P", preset="thorough", trials=TrialCounts(min=2))
    asked = [[f"{spec.scenario} {spec.side} {spec.index}" for spec in specs] for specs in story.asked]
    assert asked == [["a base 1", "a head 1", "b base 1", "b head 1"], ["a head 2", "a base 2"]]


@pytest.mark.parametrize(("past", "screened"), [("", 2), ("past:40/40", 1)])
def test_a_dead_row_is_regressed_after_eight_pairs_and_six_after_the_pause(past: str, screened: int) -> None:
    story = Story(f"docs {past} base:P head:F")
    (conclusion,) = story.conclusions
    assert (conclusion.state, conclusion.one_shot, conclusion.why.limit) == ("regressed", False, 0.005)
    assert (conclusion.why.head, conclusion.why.base) == ((0, 14), (14, 14))
    assert words(conclusion).startswith("passes 0 of 14 fresh trials on head, 14 of 14 on base (p = ")
    assert words(conclusion).endswith(", limit 0.005), verified in a second batch")
    assert Counter(spec.side for spec in story.specs) == {
        "base": 14 + (0 if past else screened),
        "head": 14 + screened,
    }


def test_pairs_run_in_batches_in_which_the_sides_take_turns_and_the_verification_is_one_of_its_own() -> None:
    story = Story("docs past:40/40 base:P head:F")
    assert story.rounds.startswith("h1 | h4 b1 b2 h5 h6 b3 b4 h7 h8 b5 | ")
    assert [(specs[0].phase, len(specs)) for specs in story.asked] == [
        ("screen", 1),
        ("confirm", 10),
        ("confirm", 6),
        ("verify", 12),
    ]


def test_a_row_in_doubt_after_its_screening_gets_up_to_as_many_head_trials_again() -> None:
    doubt = Story("docs past:36/40 base:P head:FPPPPP")
    assert [specs[0].phase for specs in doubt.asked] == ["screen"] * 3 + ["confirm"]
    assert {spec.side for spec in doubt.specs} == {"head"}
    assert doubt.conclusions[0].state == "ok"


def test_seven_trials_are_no_history() -> None:
    assert Counter(spec.side for spec in Story("docs past:7/7 base:P head:P").specs) == {"base": 3, "head": 3}


def test_a_drift_that_makes_both_sides_worse_is_no_regression() -> None:
    conclusion = only(f"docs past:40/40 base:{'FPP' * 20} head:{'FPP' * 20}")
    assert (conclusion.state, conclusion.kind) == ("ok", "outcome")
    assert "not on fresh trials" in words(conclusion)


@pytest.mark.parametrize("line", ["docs past:40/40 base:F head:F", "docs det past:9/9 base:F head:F"])
def test_newest_failures_of_base_by_itself_make_it_known_to_fail(line: str) -> None:
    story = Story(line)
    rows = [entry.row for entry in story.start.rows]
    known_to_fail = Past([True] * 35 + [False] * 5, apart=(35, 40), newest=[True, True, False, False, False])
    (conclusion,) = conclude(story.played(start(rows, Policy(), {rows[0].key: known_to_fail})))
    assert conclusion.kind == "outcome"


def test_a_row_that_recovers_is_ok_and_says_what_was_seen() -> None:
    conclusion = only("docs past:40/40 base:P head:FPPP")
    assert conclusion.state == "ok"
    assert "looked worse at first, but not on fresh trials: passes 5 of 5" in words(conclusion)


def test_much_evidence_that_stays_above_the_limit_is_unconfirmed() -> None:
    conclusion = only("docs max:22 past:40/40 base:P head:" + "FP" * 30)
    assert conclusion.state == "unconfirmed"
    assert 0.005 < make.sure(conclusion.why.p) <= 0.02
    assert "set it to at least 15" in clears(conclusion)


def test_too_few_trials_allowed_leave_a_suspicion_without_any_confirmation() -> None:
    story = Story("docs max:5 past:40/40 base:P head:F")
    assert Counter(spec.phase for spec in story.specs) == {"screen": 3}
    assert story.conclusions[0].state == "unconfirmed"


def test_the_first_regression_ends_the_run_unless_fail_fast_is_off() -> None:
    lines = ("a past:40/40 base:P head:F", "b past:40/40 base:P head:F", "c past:40/40 base:P head:P")
    fast, whole = Story(*lines), Story(*lines, fail_fast=False)
    assert [c.state for c in fast.conclusions] == ["regressed", "unconfirmed", "ok"]
    assert "the run ended after 1 of 3 trials" in words(fast.conclusions[2])
    assert [(c.state, c.why.limit) for c in whole.conclusions] == [
        ("regressed", 0.005),
        ("regressed", pytest.approx(0.02 / 6 / 2)),
        ("ok", None),
    ]
    assert len(fast.specs) < len(whole.specs)


def test_a_row_that_the_end_of_the_run_left_out_says_that_it_was_not_tried() -> None:
    story = Story("a det base:P head:F", "new det added head:P")
    assert [c.state for c in story.conclusions] == ["regressed", "not_measured"]
    assert words(story.conclusions[1]) == "not tried: the run ended before"


@pytest.mark.parametrize("policy", [{"agents": ("other",)}, {"block": ("not_measured",)}])
def test_a_regression_that_cannot_block_does_not_end_the_run(policy: dict[str, Any]) -> None:
    story = Story("a past:40/40 base:P head:F", "b past:40/40 base:P head:P", **policy)
    assert [c.state for c in story.conclusions] == ["regressed", "ok"]
    assert [spec.index for spec in story.specs if spec.scenario == "b"] == [1, 2, 3]


@pytest.mark.parametrize("kind", ["det", "past:40/40"])
def test_a_capability_that_is_lost_does_not_end_the_run(kind: str) -> None:
    story = Story(f"new {kind} capability base:P head:F", "docs past:40/40 base:P head:P")
    assert [c.state for c in story.conclusions] == ["regressed", "ok"]
    assert len([spec for spec in story.specs if spec.scenario == "docs"]) == 3


def test_a_row_that_was_getting_worse_when_another_one_ended_the_run_is_unconfirmed_not_ok() -> None:
    story = Story("steady det base:P head:F", "docs base:P head:F", "calm base:P head:P")
    assert [c.state for c in story.conclusions] == ["regressed", "unconfirmed", "ok"]
    assert "the run ended after 1 of 3 trials" in words(story.conclusions[1])


def test_a_budget_that_ended_is_called_budget() -> None:
    worse, fine = Story("docs past:40/40 base:P head:F$", "calm past:40/40 base:P head:PP$").conclusions
    assert (worse.state, fine.state) == ("unconfirmed", "ok")
    assert "the budget ended" in words(worse)
    assert "the budget ended after 2 of 3 trials" in words(fine)


def test_equal_rates_are_ok() -> None:
    assert only("docs base:PFP head:PPF").state == "ok"


def test_a_row_whose_base_fails_often_is_labelled_and_confirmed_all_the_same() -> None:
    assert Story("flaky past:24/40 base:P head:F").conclusions[0].state == "regressed"
    assert Story("flaky past:24/40 base:P head:FP").conclusions[0].state == "flaky"


def test_a_long_history_does_not_switch_a_row_off_for_one_bad_stretch() -> None:
    """31 of 40 passed, though the first ten failed half of the time."""
    past = [False, True] * 5 + [True] * 26 + [False] * 4
    story = Story("docs base:P head:F")
    (row,) = story.start.rows
    (conclusion,) = conclude(story.played(start([row.row], Policy(), {row.row.key: known(past)})))
    assert conclusion.state == "regressed"


def test_losing_the_record_of_its_failures_does_not_help_a_tool() -> None:
    """It passes in a third of its trials, and only those are measured."""
    (row,) = Story("docs past:40/40 base:P head:" + "LPL" * 8).conclusions
    assert (row.state, row.kind) == ("regressed", "unmeasurable")
    assert "which count as failed" in words(row)


# --- the suite as a whole

WORSE = [f"row{n} past:38/40 base:P head:{'PFP' if n < 4 else 'P'}" for n in range(6)]


def test_a_little_worse_everywhere_is_seen_over_the_suite_and_only_said() -> None:
    finding = make.sure(Story(*WORSE).state.played.report.suite)
    assert (finding.p < 0.15, finding.regressed, finding.level) == (True, False, None)
    assert Story(*WORSE, suite="off").state.played.report.suite is None


def test_in_block_mode_a_hit_is_confirmed_on_concurrent_trials_alone() -> None:
    story = Story(*WORSE, suite="block")
    finding = make.sure(story.state.played.report.suite)
    assert (finding.regressed, finding.level) == (False, 0.005)
    assert all(sum((spec.scenario, spec.side) == (f"row{n}", "base") for spec in story.specs) >= 3 for n in range(6))


@pytest.mark.parametrize(("mode", "asks"), [("warn", 0), ("block", 1)])
def test_a_base_that_contradicts_its_history_is_still_tested_on_pairs_in_block_mode(mode: Any, asks: int) -> None:
    worse = RowTest((0, 3), (0, 0), (40, 40), paired=Paired("ok", Pairs(20, 10, 10), 0.005))
    assert len([*itertools.islice(suite_gate([worse], [Facts((40, 40), screening=3)], Policy(suite=mode)), 1)]) == asks


def test_without_history_or_with_one_trial_a_row_there_is_nothing_to_say_of_the_suite() -> None:
    assert Story(*WORSE, preset="quick").state.played.report.suite is None


# --- one shot: stored runs, of which no trial can be asked for any more


def shot(*lines: str, **policy: Any) -> tuple[Conclusion, ...]:
    story = Story(*lines, **policy)
    state = start([entry.row for entry in story.state.rows], Policy(**policy), stored=True)
    counts = {entry.row.scenario: entry.row.trials.min or 3 for entry in state.rows}
    specs = [
        TrialSpec(side=side, scenario=name, agent="a", index=index + 1)
        for name, count in counts.items()
        for side in SIDES
        for index in range(count)
    ]
    state = observe(state, [story.result(spec) for spec in specs])
    assert not next_step(state)
    return conclude(state)


def test_in_one_shot_a_collapse_is_significant_with_five_trials_and_not_with_three() -> None:
    (five,) = shot("docs min:5 base:P head:F")
    assert (five.state, five.one_shot) == ("regressed", True)
    assert words(five) == "passes 0 of 5 trials on head, 5 of 5 on base (p = 0.004, limit 0.02)"
    assert clears(five) == "its trials pass on head about as often as on base"
    (three,) = shot("docs base:P head:F")
    assert three.state == "unconfirmed"
    assert three.why.p == pytest.approx(0.05)
    assert "more trials may settle it" in words(three)


def test_in_one_shot_improvement_is_the_mirror() -> None:
    (conclusion,) = shot("docs min:5 base:F head:P")
    assert (conclusion.state, conclusion.why.limit) == ("improved", 0.05)
    assert conclusion.why.p == pytest.approx(1 / 252)


def test_in_one_shot_a_row_whose_base_fails_often_is_tested_as_all_others_are() -> None:
    flaky, dead = shot("flaky min:10 base:PFPFPFPFPF head:FP", "dead min:10 base:P head:F")
    assert flaky.state == "flaky"
    assert (dead.state, dead.why.limit) == ("regressed", 0.01)


# --- laws

OUTCOMES = st.text(LETTERS, min_size=1, max_size=6)
ROWS = st.builds(
    "{0} base:{1} head:{2}".format,
    st.sampled_from(["det", "min:1", "", "past:19/20", "det max:2", "max:1", "min:5", "added", "det added", "removed"]),
    OUTCOMES,
    OUTCOMES,
)
LINES = st.lists(ROWS, min_size=1, max_size=4).map(lambda rows: [f"row{n} {row}" for n, row in enumerate(rows)])


@given(LINES)
def test_it_ends_and_never_asks_twice(lines: list[str]) -> None:
    story = Story(*lines)
    heads = Counter(spec.scenario for spec in story.specs if spec.side == "head")
    assert all(count <= 2 * 5 + 41 + 6 or count <= 2 * 5 + 101 + 6 for count in heads.values())
    assert len({spec.id for spec in story.specs}) == len(story.specs)
    assert [c.key.scenario for c in story.conclusions] == [line.split()[0] for line in lines]
    whole = Story(*lines, fail_fast=False)
    for side, row in {(spec.side, spec.scenario) for spec in whole.specs}:
        indexes = [spec.index for spec in whole.specs if (spec.side, spec.scenario) == (side, row)]
        assert sorted(indexes) == list(range(1, len(indexes) + 1))


@given(LINES)
def test_added_rows_ask_head_alone_and_removed_ones_nothing(lines: list[str]) -> None:
    story = Story(*lines)
    ended_fast = any(conclusion.state == "regressed" for conclusion in story.conclusions)
    for line, conclusion in zip(lines, story.conclusions, strict=True):
        sides = {spec.side for spec in story.specs if spec.scenario == conclusion.key.scenario}
        if "added" in line:
            assert sides == {"head"} or (ended_fast and not sides)
            assert conclusion.state in ("added", "not_measured")
        if "removed" in line:
            assert (sides, conclusion.state) == (set(), "removed")


def test_added_rows_are_run_once_no_other_row_needs_a_trial() -> None:
    story = Story("new det added head:P", "fails det base:P head:F", "chance min:2 base:P head:P", fail_fast=False)

    first = next(place for place, spec in enumerate(story.specs) if spec.scenario == "new")
    assert {spec.scenario for spec in story.specs[first:]} == {"new"}
    assert first == 2 + 3 + 4


@given(OUTCOMES, st.sampled_from(["det", "min:1", "min:3", "min:6"]))
def test_a_row_that_does_on_head_what_it_does_on_base_never_regresses(outcomes: str, kind: str) -> None:
    assert only(f"row {kind} base:{outcomes} head:{outcomes}").state != "regressed"


@given(st.text("X$", min_size=1, max_size=6), st.text("PFX", min_size=1, max_size=6), st.booleans())
def test_excluded_trials_never_make_a_regression(excluded: str, base: str, deterministic: bool) -> None:
    kind = "det" if deterministic else "min:6"
    assert only(f"row {kind} base:{base} head:{excluded}").state == "not_measured"
    assert only(f"row {kind} base:{excluded} head:{base}").state == "not_measured"


@given(st.integers(0, 6), st.integers(0, 6))
def test_leaving_trials_out_never_turns_a_pass_into_a_regression(measured: int, excluded: int) -> None:
    """Head passes whenever it is measured."""
    outcomes = ("P" * measured + "X" * excluded)[:6] or "X"
    assert only(f"row min:6 base:P head:{outcomes}").state in ("ok", "not_measured")


@given(LINES, st.randoms(use_true_random=False))
def test_the_order_of_results_does_not_matter(lines: list[str], shuffle: random.Random) -> None:
    story = Story(*lines)
    results = [story.result(spec) for spec in story.specs]
    shuffle.shuffle(results)
    assert observe(story.start, results) == story.state


@given(LINES, st.sampled_from(LETTERS))
def test_a_trial_that_is_seen_again_with_whatever_outcome_changes_nothing(lines: list[str], letter: str) -> None:
    story = Story(*lines)
    assert observe(story.state, [result(spec, letter) for spec in story.specs]) == story.state


CHANCE = st.builds(
    "{0} base:{1} head:{2}".format,
    st.sampled_from(["", "min:1", "past:19/20"]),
    st.text("PPFX", min_size=1, max_size=6),
    st.text("PFX", min_size=1, max_size=6),
)


@given(st.lists(CHANCE, min_size=1, max_size=3).map(lambda rows: [f"row{n} {row}" for n, row in enumerate(rows)]))
def test_a_run_that_was_cut_off_asks_for_the_rest_of_its_step_and_goes_on(lines: list[str]) -> None:
    """Wherever it stopped, also in the middle of a confirmation."""
    story = Story(*lines)
    for end, (first, *rest) in enumerate(story.asked):
        done = [spec for specs in story.asked[:end] for spec in specs]
        step = next_step(observe(story.start, [story.result(spec) for spec in (*done, first)]))
        if rest:
            assert step == tuple(rest)
        elif end + 1 < len(story.asked):
            assert step == story.asked[end + 1]


@given(LINES)
def test_what_is_decided_is_what_can_be_concluded(lines: list[str]) -> None:
    """Also after a detour through JSON: the state can be stored and resumed."""
    story = Story(*lines)
    stored = State.model_validate_json(story.state.model_dump_json())
    assert next_step(stored) == ()
    assert conclude(stored) == conclude(story.state) == story.conclusions


def test_trials_of_other_rows_are_left_out() -> None:
    story = Story("docs det base:P head:P")
    stranger = TrialSpec(side="head", scenario="other", agent="a", index=1)
    assert observe(story.state, [result(stranger, "F")]) == story.state


def test_no_more_head_trials_than_allowed_neither_prove_a_regression_nor_keep_a_row_from_recovering() -> None:
    """Twelve: too few for the pairs that a limit takes, and six after the pause."""
    dead = Story("a past:40/40 base:P head:F max:12")
    assert dead.conclusions[0].state == "unconfirmed"
    assert Counter(spec.side for spec in dead.specs)["head"] <= 12
    assert Story("a past:40/40 base:P head:FPPP max:12").conclusions[0].state == "ok"


def test_the_suite_is_not_tested_where_a_row_regressed() -> None:
    """It would say the same again, and cost more trials."""
    rows = ("a past:40/40 base:P head:F", "b past:40/40 base:P head:FP", "c past:40/40 base:P head:FP")
    story = Story(*rows, fail_fast=False, suite="block")
    assert [said.state for said in story.conclusions] == ["regressed", "ok", "ok"]
    assert story.state.played.report.suite is None
    assert Story(*rows[1:], fail_fast=False, suite="block").state.played.report.suite is not None


def test_a_suite_that_looks_worse_than_its_history_and_not_than_base_today_is_given_up() -> None:
    story = Story(*(f"{name} past:36/40 base:FPPPP head:FPPPP" for name in "abcd"), suite="block")
    found = make.sure(story.state.played.report.suite)
    assert (found.regressed, found.level) == (False, 0.005)


def test_a_deterministic_base_that_fails_once_unlike_its_history_makes_chance_a_part_of_the_row() -> None:
    assert only("a det past:9/9 base:FP head:F").state == "regressed", "head is worse than base is"
