"""What `check` reports for a suite that is valid but could be better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests import make
from tidegate.agents.command import CommandAgent
from tidegate.agents.scripted import Scripted
from tidegate.checks.evaluators import AnyEvaluator
from tidegate.checks.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.checks.judges.scripted import ScriptedJudge
from tidegate.model.evaluator import Evaluator
from tidegate.model.gate import Gate
from tidegate.model.suite import Policy, Scenario, TrialCounts
from tidegate.suite.plan import make_plan
from tidegate.suite.suggestions import advice

GATE = NoTranscriptErrors(type="no_transcript_errors")
EVALUATOR: TypeAdapter[Evaluator] = TypeAdapter(AnyEvaluator)


def scenario(name: str, *gates: Gate, **more: Any) -> Scenario:
    return make.scenario(name, gates=gates, **more)


def said(*scenarios: Scenario, deterministic: bool = True, **fields: Any) -> list[str]:
    agents = {"docs": make.DOCS.model_copy(update={"deterministic": deterministic})}
    enough = [scenario(f"filler{n}", GATE) for n in range(20 - len(scenarios))]
    whole = make.suite(*scenarios, *enough, agents=agents, **fields)
    return list(advice(whole, make_plan(whole)))


def test_a_good_suite_needs_no_advice() -> None:
    assert said(scenario("a", GATE)) == []


def test_a_scenario_that_cannot_fail() -> None:
    optional = NoTranscriptErrors(type="no_transcript_errors", required=False)

    assert said(scenario("a"), scenario("b", optional)) == [
        "a.yaml: no gate, so every trial passes whatever the agent does",
        "b.yaml: no required gate, so every trial passes whatever the agent does",
    ]


def test_what_many_share_is_said_once_with_their_number() -> None:
    assert said(*(scenario(name) for name in "abcd")) == [
        "a.yaml and 3 more scenarios: no gate, so every trial passes whatever the agent does"
    ]


def test_a_scripted_agent_without_steps_does_nothing() -> None:
    script = Scripted.model_validate({"type": "scripted", "steps": {"a": ["tool"]}})
    rows = [scenario("a", GATE), scenario("b", GATE), scenario("c", GATE), scenario("d", GATE, steps=("tool",))]
    suite = make.suite(*rows, agents={"fake": script, "docs": make.DOCS})
    found = [text for text in advice(suite, make_plan(suite)) if "fake" in text]
    assert found == [
        "b.yaml, fake and 1 more row: has no steps here, and does nothing; add `task: {steps: […]}`, or choose other"
        " agents by `tool_matrix`"
    ]


def test_a_folder_of_path_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    suite = make.suite(*(scenario(f"s{n}", GATE) for n in range(20)), path=("bin", "bn"))
    assert advice(suite, make_plan(suite), tmp_path) == (
        "tidegate.yaml: path names bn, which is not a folder of this checkout, and no `build` makes it",
    )
    built = suite.model_copy(update={"build": ("make",)})
    assert advice(built, make_plan(built), tmp_path) == ()


@pytest.mark.parametrize(
    ("tool", "output", "is_said"), [("bash", "text", True), ("bash", "claude-code", False), ("tool:add", "text", False)]
)
def test_an_evaluator_that_needs_calls_which_the_agent_does_not_report(tool: str, output: str, is_said: bool) -> None:
    one = EVALUATOR.validate_python({"type": "tool_f1", "expected": [tool]})
    nested = EVALUATOR.validate_python({"type": "composite", "evaluators": [{"type": "tool_f1", "expected": [tool]}]})
    agent = CommandAgent.model_validate({"type": "command", "command": "true", "output": output})
    for evaluator in (one, nested):
        whole = make.suite(scenario("a", GATE, evaluators=(evaluator,)), agents={"mine": agent})
        found = [line for line in advice(whole, make_plan(whole)) if "names no calls" in line]
        expected = (
            f"a.yaml, mine: the evaluator {evaluator.label} compares calls of bash, and this agent's output names no"
            " calls; the score is not measured. Give the agent another `output`"
        )
        assert found == ([expected] if is_said else [])


def test_a_scenario_that_only_a_judge_looks_at() -> None:
    judged = EVALUATOR.validate_python({"type": "rubrics", "rubrics": ["Be nice"]})
    alone = scenario("a", evaluators=(judged,))
    judge = ScriptedJudge.model_validate({"type": "scripted", "script": [{"answers": [{}]}]})

    assert said(alone, judge=judge) == [
        "a.yaml: only a judge looks at it, and a judge blocks nothing; add a gate or an evaluator of code"
    ]
    assert said(alone, judge=judge, policy=Policy(judge_blocks=True)) == [
        "a.yaml: a judge alone decides, and a judge errs; add a gate or an evaluator of code"
    ]
    assert said(scenario("a", GATE, evaluators=(judged,)), judge=judge) == []


def test_few_regression_cases() -> None:
    assert said(scenario("a", GATE, purpose="capability")) == [
        "only 19 regression cases among 20 scenarios; with fewer than 20, small regressions may be missed"
    ]


def test_trials_max_below_what_a_flip_takes() -> None:
    assert said(scenario("a", GATE, trials=TrialCounts(max=2))) == [
        "a.yaml, docs: with trials.max 2 a regression stays unconfirmed; it takes 3 trials on head"
    ]
    assert said(scenario("a", GATE, trials=TrialCounts(max=3)), trials=TrialCounts(max=1)) == [
        "filler0.yaml, docs and 18 more rows: with trials.max 1 a regression stays unconfirmed; "
        "it takes 3 trials on head"
    ]


def test_too_few_trials_to_tell_a_dead_scenario_from_chance() -> None:
    """Three head trials of screening, and twelve pairs in which all fail on head."""
    chance = scenario("a", GATE, deterministic=False)

    assert said(chance) == []
    assert said(chance, trials=TrialCounts(max=15)) == []
    assert said(chance, trials=TrialCounts(max=9)) == [
        "a.yaml, docs: with trials.max 9 no regression can be confirmed without history; that takes 15 trials on head"
    ]


def test_a_scenario_s_own_limit_counts_for_it() -> None:
    chance = scenario("a", GATE, deterministic=False)

    assert len(said(chance.model_copy(update={"trials": TrialCounts(max=4)}), trials=TrialCounts(max=20))) == 1
    assert said(chance.model_copy(update={"trials": TrialCounts(max=20)}), trials=TrialCounts(max=4)) == []


def test_a_scenario_to_be_judged_where_nobody_judges() -> None:
    judged = EVALUATOR.validate_python({"type": "rubrics", "rubrics": ["It is kept."]})
    judge = ScriptedJudge.model_validate({"type": "scripted", "script": [{"answers": [{}]}]})
    looked_at = scenario("a", GATE, evaluators=(judged,))
    assert said(looked_at) == [
        "a.yaml: a judge is to look at it, and tidegate.yaml has no `judge`: that stays not measured"
    ]
    assert said(looked_at, judge=judge) == []
