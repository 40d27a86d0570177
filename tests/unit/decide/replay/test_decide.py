"""Which rows need no agent, by what replayed sessions show."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import trial_result
from tidegate.agents.invocations.shapes import call_shape, shapes_of, unseen_share
from tidegate.decide.procedure.steps import conclude, next_step, start
from tidegate.decide.replay.decide import decided, surface_near
from tidegate.decide.surface.used import SurfaceDiff
from tidegate.model.measurement import Call
from tidegate.model.run_row import DifferingStep, EarlierPushes, ReplayFinding, RunRow, WhyRun
from tidegate.model.suite import Policy, ReplayRules
from tidegate.model.surface import Part
from tidegate.reports.replay_text import why_run_text

SKIP = ReplayRules(use="skip")
KNOWN = [("add", "list")] * 5
ROW = RunRow(scenario="s", agent="a", deterministic=False)


def found(**fields: Any) -> ReplayFinding:
    return ReplayFinding(**{"scenario": "s", "agent": "a", "same": 3, "passed": 3, "steps": 9, **fields})


def test_three_sessions_that_replay_alike_are_enough() -> None:
    assert decided(found(), ROW, KNOWN, SKIP).skipped


@pytest.mark.parametrize(
    ("replay", "row", "rules", "why"),
    [
        ({"same": 2}, {}, SKIP, "2 of 3 sessions"),
        ({"differing": 1, "difference": DifferingStep(step="x", base="", head="")}, {}, SKIP, "differs at `x`"),
        ({"unsteady": True}, {}, SKIP, "chance has a part"),
        ({"passed": 0}, {}, SKIP, "none of the sessions"),
        ({}, {"earlier": EarlierPushes(state="regressed")}, SKIP, "an earlier push"),
        ({}, {"earlier": EarlierPushes(state="unconfirmed")}, SKIP, "an earlier push"),
        ({}, {}, ReplayRules(use="skip", max_unseen=0.05), "something new with a chance of 8%"),
        ({}, {}, ReplayRules(use="off"), "`policy.replay.use` is `off`"),
    ],
)
def test_anything_else_is_run_with_agents(
    replay: dict[str, Any], row: dict[str, Any], rules: ReplayRules, why: str
) -> None:
    said = decided(found(**replay), ROW.model_copy(update=row), KNOWN, rules)
    assert not said.skipped
    assert why in why_run_text(said)


def test_a_row_of_which_agents_have_begun_is_run_with_agents() -> None:
    assert not decided(found(), ROW, KNOWN, SKIP, despite=WhyRun(code="agents_began")).skipped


def test_no_trial_is_requested_of_a_skipped_row() -> None:
    row = ROW.model_copy(update={"replay": decided(found(), ROW, KNOWN, SKIP)})
    state = start([row], Policy())
    assert not next_step(state)
    assert [said.state for said in conclude(state)] == ["unchanged"]


def test_a_call_has_the_shape_of_its_subcommand_and_options() -> None:
    assert call_shape(("add", "Tag it", "--priority=high", "-v", "--", "-5")) == "add --priority -v"
    assert call_shape(("add_task", '{"title": "x", "due": null}')) == "add_task due title"
    assert call_shape(("--help",)) == " --help"
    deep = '{"a":' * 100_000
    assert call_shape(("add_task", deep)) == f"add_task {deep}"


def test_a_trial_has_each_shape_once() -> None:
    calls = tuple(Call(command=text, status="ok") for text in ("t list", "t add 'a b'", "t add c", "t list --all"))
    assert shapes_of(trial_result(calls=calls)) == ("add", "list", "list --all")


@pytest.mark.parametrize(
    ("sessions", "share"),
    [
        ([], 0.5),
        ([("a",)] * 5, 0.5 / 6),
        ([("a",), ("a",), ("a", "b"), ("c",), ("a",)], 2.5 / 6),
        ([("a",), ("b",), ("c",)], 3.5 / 4),
    ],
)
def test_sessions_with_a_shape_of_their_own_make_new_ones_likely(sessions: list[Any], share: float) -> None:
    assert unseen_share(sessions) == pytest.approx(share)


@pytest.mark.parametrize(
    ("part", "near"),
    [
        (Part(kind="option", name="--due", command="add"), True),
        (Part(kind="option", name="--due", command="export"), False),
        (Part(kind="option", name="--quiet"), True),
        (Part(kind="argument", name="TEXT", command="list all"), True),
        (Part(kind="subcommand", name="export"), False),
        (Part(kind="subcommand", name="list open"), True),
    ],
)
def test_what_changes_in_the_help_of_called_subcommands_is_near(part: Part, *, near: bool) -> None:
    changes = SurfaceDiff((part,), (), ()), SurfaceDiff((), (part,), ()), SurfaceDiff((), (), ((part, part),))
    assert {bool(surface_near(change, KNOWN)) for change in changes} == {near}


def test_a_change_near_the_calls_of_a_row_counts_as_another_session_of_its_own() -> None:
    near = found(surface=("`--due` of `add`",))
    assert decided(near, ROW, KNOWN * 2, SKIP).unseen == pytest.approx(1.5 / 11)
    few = decided(near, ROW, KNOWN, SKIP)
    assert not few.skipped
    assert few.unseen == pytest.approx(1.5 / 6)
    assert "changes `--due` of `add`, which no session shows" in why_run_text(few)
