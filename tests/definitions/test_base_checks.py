"""Base's checks that head removed or changed still apply."""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tidegate.definitions.base_checks import with_checks_of_base
from tidegate.evaluators.code_judge import CodeJudge
from tidegate.evaluators.llm_judge import LlmJudge
from tidegate.evaluators.rubric_judge import RubricJudge
from tidegate.evaluators.tool_f1 import ToolF1
from tidegate.gates.file_exists import FileExists
from tidegate.measure.measure_trial import measure_trial
from tidegate.model.case import Case
from tidegate.model.command import CommandResult
from tidegate.model.edited import Edited
from tidegate.model.evaluator import Evaluator
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.probe import CommandAnswer, FileAnswer
from tidegate.model.suite import Scenario
from tidegate.model.target import Target
from tidegate.rubrics.samples import Criterion

F1 = ToolF1(expected=("notes:add",))
LINES = CodeJudge(name="lines", script="python3 judge.py", cwd="evals")
ASKED = LlmJudge(name="asked")
RUBRIC = RubricJudge(criteria=(Criterion(id="good", description="It is good.", weight=1),))


def scenario(*evaluators: Evaluator, **more: Any) -> Scenario:
    return make.scenario(**{"target": Target(binary="notes"), "evaluators": evaluators, **more})


def plan(one: Scenario, **more: Any) -> Plan:
    key = RowKey(scenario=one.name, agent="a")
    return Plan(rows=(PlanRow(key=key, scenario=one, agent=make.DOCS, deterministic=True, **more),))


def base_checks(before: Scenario, after: Scenario, **more: Any) -> Scenario | None:
    (row,) = with_checks_of_base(plan(after), plan(before), **more).rows
    return row.base_checks


@pytest.mark.parametrize(
    "after",
    [
        scenario(F1.model_copy(update={"expected": ("x",)}), LINES),
        scenario(F1),
        scenario(F1, LINES.model_copy(update={"weight": 0})),
        scenario(F1, LINES, CodeJudge(name="mild", script="true")),
        scenario(F1, LINES, case=Case(reference_answer="easier")),
        scenario(F1, LINES, target=Target(binary="other")),
    ],
)
def test_all_evaluators_of_base_go_on_deciding_where_anything_could_move_their_score(after: Scenario) -> None:
    before = scenario(F1, LINES, ASKED, F1.model_copy(update={"name": "shown", "weight": 0}))
    found = base_checks(before, after)
    assert found is not None
    assert found.evaluators == (F1, LINES)
    assert (found.case, found.target.binary) == (Case(), "notes")


@pytest.mark.parametrize(
    "after",
    [
        scenario(LINES, F1),
        scenario(F1, LINES, prompt="another", description="d"),
        scenario(F1, LINES, ASKED),
        scenario(F1, LINES, ToolF1(name="shown", expected=("y",), weight=0)),
    ],
)
def test_what_could_not_move_the_score_asks_nothing_twice(after: Scenario) -> None:
    assert base_checks(scenario(F1, LINES), after) is None


def test_an_edited_script_is_asked_as_it_was() -> None:
    edited = Edited(scripts={"s": ("evals/judge.py",)})
    found = base_checks(scenario(F1, LINES), scenario(F1, LINES), edited=edited)
    assert found is not None
    assert found.evaluators == (F1, LINES)
    assert base_checks(scenario(F1), scenario(F1), edited=edited) is None
    assert base_checks(scenario(LINES), scenario(LINES), edited=Edited(scripts={"other": ("x",)})) is None


def test_a_file_beside_a_script_counts_as_the_script_does() -> None:
    edited = Edited(beside=frozenset({"s"}))
    assert base_checks(scenario(LINES), scenario(LINES), edited=edited) is not None
    assert base_checks(scenario(F1), scenario(F1), edited=edited) is None
    assert base_checks(scenario(LINES), scenario(LINES), edited=Edited(beside=frozenset({"other"}))) is None


def test_where_a_judge_counts_nothing_is_decided_twice() -> None:
    before, after = scenario(F1, ASKED), scenario(ASKED)
    assert base_checks(before, after, judged=True) is None
    assert base_checks(before, after, judged=False) is not None
    assert base_checks(scenario(F1), after, judged=True) is not None


def test_lost_gates_and_head_s_prompt() -> None:
    gate = FileExists(path="x")
    found = base_checks(scenario(gates=(gate,)), scenario(prompt="now"))
    assert found is not None
    assert (found.gates, found.evaluators, found.prompt) == ((gate,), (), "now")


def test_of_two_equal_gates_one_that_head_removed_goes_on_deciding() -> None:
    gate, other = FileExists(path="x"), FileExists(path="y")
    found = base_checks(scenario(gates=(gate, gate)), scenario(gates=(gate, other)))
    assert found is not None
    assert found.gates == (gate,)


def test_base_s_judge_is_not_asked_about_head() -> None:
    before = scenario(gates=(FileExists(path="x"),), judge=RUBRIC)
    found = base_checks(before, scenario())
    assert found is not None
    assert found.judge is None


def test_rows_of_one_side_have_no_other_definition() -> None:
    (row,) = with_checks_of_base(plan(scenario(), presence="added"), plan(scenario(F1))).rows
    assert row.base_checks is None


# --- measured


def measured(stdout: str, exit_code: int = 0) -> Any:
    result = CommandResult(command="python3 judge.py", end="exited", exit_code=exit_code, stdout=stdout, duration_s=0)
    trial = make.trial(
        agent_started_at=1,
        evaluator_answers=((),),
        base_evaluator_answers=((CommandAnswer(result=result),),),
    )
    return measure_trial(trial, scenario(ToolF1(expected=("x",), weight=0)), None, scenario(LINES))


def test_a_trial_passes_only_by_both() -> None:
    assert (measured('{"score": 1}').decides, measured('{"score": 1}').only_by_change) == ("pass", False)
    low = measured('{"score": 0.5, "reasoning": "one line"}')
    assert (low.outcome, low.decides, low.only_by_change) == ("pass", "fail", True)
    assert low.reason == (
        "passes only because the scenario was changed; before, evaluators: "
        "case score 0.50 is below 0.8; lowest: lines, fail with 0.50: one line"
    )


def test_what_base_s_evaluators_cannot_measure_is_no_pass() -> None:
    lost = measured("no json", 1)
    assert (lost.outcome, lost.decides, lost.not_measured) == (None, None, "evaluator")
    assert lost.reason.startswith("before the scenario was changed, evaluator lines: ")


def test_what_fails_by_both_fails_for_what_it_is_asked_now() -> None:
    now = scenario(gates=(FileExists(path="x"),))
    result = CommandResult(command="python3 judge.py", end="exited", exit_code=1, stdout="", duration_s=0)
    trial = make.trial(
        answers=(FileAnswer(state="missing", path="x"),),
        base_evaluator_answers=((CommandAnswer(result=result),),),
    )
    found = measure_trial(trial, now, None, scenario(LINES))
    assert (found.outcome, found.decides, found.only_by_change) == ("fail", "fail", False)
    assert found.reason.startswith("file_exists: x")


@pytest.mark.parametrize("required", [True, False])
def test_only_a_required_gate_that_head_removed_goes_on_deciding(required: bool) -> None:
    gate = FileExists(path="notes.txt", required=required)
    found = base_checks(scenario(gates=(gate,)), scenario())
    assert (found.gates if found else ()) == ((gate,) if required else ())


def test_checks_of_base_come_first_in_base_s_order() -> None:
    one, two, three = (FileExists(path=name) for name in ("one", "two", "three"))
    laxer, write = one.model_copy(update={"path": "any"}), FileExists(path="new", required=False)
    before = scenario(shown := LINES.model_copy(update={"weight": 0}), F1, gates=(one, two, three))
    after = scenario(CodeJudge(name="new", script="true", weight=0), F1, shown, gates=(write, three, two, laxer))

    def first(after: Scenario, edited: Edited) -> tuple[tuple[int, ...], tuple[int, ...]]:
        (row,) = with_checks_of_base(plan(after), plan(before), edited).rows
        assert row.changed
        assert row.first_checks
        return row.first_checks.gates, row.first_checks.evaluators

    assert first(after, Edited()) == ((4, 2, 1), (2, 1))  # 4: base's `one`, after the four gates of head
    assert first(after, Edited(scripts={before.name: ("evals/judge.py",)})) == ((4, 2, 1), (1,))


def test_an_equal_row_is_not_changed() -> None:
    (row,) = with_checks_of_base(plan(scenario(F1)), plan(scenario(F1)), Edited(templates={"s": ()})).rows
    assert not row.changed


@pytest.mark.parametrize(
    ("state", "scores", "by_change"),
    [("present", (0, 1), True), ("present", (0, 0), False), ("present", (1, 1), False), ("missing", (0, 1), False)],
)
def test_what_fails_by_head_s_evaluators_alone_fails_by_the_change(
    state: Any, scores: tuple[int, int], by_change: bool
) -> None:
    now, base = (
        CommandAnswer(
            result=CommandResult(command="x", end="exited", exit_code=0, stdout=f'{{"score": {score}}}', duration_s=0)
        )
        for score in scores
    )
    trial = make.trial(
        agent_started_at=1,
        answers=(FileAnswer(state=state, path="x"),),
        evaluator_answers=((now,),),
        base_evaluator_answers=((base,),),
    )
    found = measure_trial(trial, scenario(LINES, gates=(FileExists(path="x"),)), None, scenario(LINES))
    assert found.fails_by_change is by_change
