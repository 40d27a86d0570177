"""What will be checked differently from the merge on, and whether it may be less."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tests.make import DOCS
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.gates.text_gates import FileContains, FileExists
from tidegate.checks.judges.scripted import ScriptedAnswer, ScriptedJudge
from tidegate.executors.command import CommandExecutor
from tidegate.model.access import FileAccess, NetworkAccess
from tidegate.model.evaluator import Case
from tidegate.model.judge_result import Calibration
from tidegate.model.prices import Price
from tidegate.model.suite import (
    Budget,
    Composite,
    ContextTokens,
    Diagnosis,
    EvaluatorScript,
    Limits,
    Policy,
    ReplayRules,
    Scenario,
    Script,
    Store,
    Suite,
    ToolMatrixEntry,
    TrialCounts,
)
from tidegate.model.target import Target
from tidegate.suite.changes import changes

EXISTS = FileExists(path="out.json")
CONTAINS = FileContains(path="out.json", substring="high")
OTHER_MODEL = (ToolMatrixEntry(tool="docs", models=("m",)),)


def scenario(name: str = "docs", **more: Any) -> Scenario:
    return make.scenario(name, **{"gates": (EXISTS, CONTAINS), **more})


def unlike(name: str) -> Scenario:
    """A scenario that shares nothing with others."""
    return scenario(name, prompt=name, gates=(FileExists(path=name),))


def suite(*scenarios: Scenario, **more: Any) -> Suite:
    return make.suite(*(scenarios or (scenario(),)), **more)


def changed(base: Suite, head: Suite, *touched: str) -> list[tuple[str | None, str, str]]:
    found = changes(base, head, {one.name: touched for one in head.scenarios})
    return [(change.scenario or change.agent, change.effect, change.detail) for change in found]


def of_scenario(before: dict[str, Any] | None = None, **more: Any) -> list[tuple[str, str]]:
    return [found[1:] for found in changed(suite(scenario(**(before or {}))), suite(scenario(**more)))]


def test_nothing_changed() -> None:
    assert changed(suite(), suite()) == []
    assert of_scenario(file="elsewhere.yaml") == []


def test_without_a_base_there_is_nothing_to_change() -> None:
    assert changes(None, suite(), {}) == ()


def test_a_removed_scenario_checks_less_and_a_new_one_more() -> None:
    base, head = suite(unlike("a"), unlike("b")), suite(unlike("b"), unlike("c"))
    assert changed(base, head) == [("a", "less", "scenario removed"), ("c", "more", "new scenario")]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, [("docs", "other", "renamed to week")]),
        (
            {"gates": (EXISTS,)},
            [
                ("docs", "less", 'gates: file_contains: out.json must contain "high"'),
                ("docs", "other", "renamed to week"),
            ],
        ),
        (
            {"prompt": "Other.", "gates": (EXISTS,)},
            [("docs", "less", "scenario removed"), ("week", "more", "new scenario")],
        ),
    ],
)
def test_a_scenario_of_the_same_prompt_or_gates_is_renamed(more: dict[str, Any], found: list[Any]) -> None:
    assert changed(suite(), suite(scenario("week", **more))) == found


def test_a_renamed_scenario_is_that_of_one_only() -> None:
    found = changed(suite(), suite(scenario("week"), scenario("month")))
    assert found == [("month", "more", "new scenario"), ("docs", "other", "renamed to week")]


def test_gates_that_go_or_change_may_check_less_and_new_ones_check_otherwise() -> None:
    other = FileContains(path="out.json", substring="h")
    assert of_scenario(gates=(EXISTS,)) == [("less", f"gates: {CONTAINS.label}")]
    assert of_scenario(gates=(CONTAINS, EXISTS)) == [("less", "gates: order")]
    assert of_scenario(gates=(EXISTS, CONTAINS, FileExists(path="b"))) == [
        ("other", f"new gates: {FileExists(path='b').label}")
    ]
    assert of_scenario(gates=(EXISTS, other)) == [
        ("less", f"gates: {CONTAINS.label}"),
        ("other", f"new gates: {other.label}"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        (None, 600, "more"),
        (None, 300, None),
        (None, 299, "less"),
        (100, 99, "less"),
        (100, 200, "more"),
        (600, None, "less"),
    ],
)
def test_without_a_limit_of_its_own_an_agent_has_300_seconds(
    before: float | None, after: float | None, effect: str | None
) -> None:
    found = of_scenario({"timeout_secs": before}, timeout_secs=after)
    assert found == ([] if effect is None else [(effect, "timeout_secs")])


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"purpose": "capability"}, [("less", "purpose")]),
        ({"trials": TrialCounts(max=1)}, [("less", "trials.max")]),
        ({"trials": TrialCounts(min=5)}, [("more", "trials.min")]),
        ({"prompt": "Do it.", "tags": ("a",)}, [("less", "tags"), ("other", "prompt")]),
        ({"tool_matrix": OTHER_MODEL}, [("less", "tool_matrix")]),
        ({"max_turns": 9, "max_usd": 2}, [("less", "max_turns"), ("less", "max_usd")]),  # without, there is no limit
    ],
)
def test_what_else_a_scenario_has(more: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert of_scenario(**more) == found


def test_more_ok_statuses_may_check_less_and_fewer_check_more() -> None:
    loose, strict, other = (Target(binary="x", ok_statuses=ok) for ok in ((0, 1), (0,), (2,)))
    assert of_scenario({"target": loose}, target=strict) == [("more", "target.ok_statuses")]
    for before, after in ((strict, loose), (strict, other)):
        assert of_scenario({"target": before}, target=after) == [("less", "target.ok_statuses")]


def test_another_health_check_or_pattern_of_calls_may_check_less() -> None:
    before = Target(binary="x", health_check="x --version", command_pattern="x (\\w+)")
    found = of_scenario({"target": before}, target=Target(binary="x"))
    assert found == [("less", "target.command_pattern"), ("less", "target.health_check")]


def test_agents_and_rules() -> None:
    base, head = suite(agents={"a": DOCS, "b": DOCS}), suite(agents={"b": DOCS, "c": DOCS})
    assert changed(base, head) == [("a", "less", "agent removed"), ("c", "more", "new agent")]
    skipping = suite(agents={"a": DOCS.model_copy(update={"skip": ("x",)})})
    assert changed(suite(agents={"a": DOCS}), skipping) == [("a", "less", "skip")]
    strict = suite(policy=Policy(alpha=0.05), budget=Budget(minutes=5), path=("bin",))
    assert changed(suite(), strict) == [
        (None, "less", "budget.minutes: 30 → 5"),
        (None, "more", "policy.alpha: 0.02 → 0.05"),
    ]


# Of each key of the policy, two values: the second one checks more.
STRICTER: dict[str, tuple[Any, Any]] = {
    "preset": ("quick", "standard"),
    "alpha": (0.01, 0.05),
    "mode": ("advisory", "blocking"),
    "fail_fast": (True, False),
    "block": (("regressed",), ("unproven", "regressed")),
    "agents": (("a",), None),
    "suite": ("warn", "block"),
    "block_metrics": ({"time": 0.2}, {"time": 0.1, "tokens": 1}),
    "judge_blocks": (False, True),
    "rules": ("warn", "block"),
    "interface": ("off", "warn"),
    "context_tokens": (ContextTokens(max_increase=1), ContextTokens(max_increase=0)),
    "replay": (ReplayRules(max_unseen=1), ReplayRules(max_unseen=0)),
}


def test_every_key_of_the_policy_has_values_that_check_more() -> None:
    assert set(STRICTER) == set(Policy.model_fields)


@pytest.mark.parametrize("key", STRICTER)
def test_a_changed_key_of_the_policy_checks_more_or_less(key: str) -> None:
    loose, strict = (suite(policy=Policy(**{key: value})) for value in STRICTER[key])
    assert {"more"} == {effect for name, effect, _ in changed(loose, strict) if name is None}
    assert {"less"} == {effect for name, effect, _ in changed(strict, loose) if name is None}


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ({"budget": Budget(usd=5)}, {"budget": Budget()}, "more"),
        (
            {"policy": Policy(replay=ReplayRules(use="order"))},
            {"policy": Policy(replay=ReplayRules(use="skip"))},
            "less",
        ),
        ({"policy": Policy(agents=None)}, {"policy": Policy(agents=("docs",))}, "less"),
        ({"policy": Policy(context_tokens=ContextTokens(max=9))}, {}, "less"),
        ({"judge": ScriptedJudge(type="scripted", script=(ScriptedAnswer(answers=("a",)),))}, {}, "less"),
    ],
)
def test_other_rules_check_more_or_less(before: dict[str, Any], after: dict[str, Any], effect: str) -> None:
    assert [found for _, found, _ in changed(suite(**before), suite(**after))] == [effect]


# For each field of a scenario, another value, and what such a change is.
OF_SCENARIO: dict[str, tuple[Any, list[str]]] = {
    "name": ("other", ["other"]),
    "file": ("elsewhere.yaml", []),
    "description": ("other", ["other"]),
    "template": ("t", ["other"]),
    "target": (Target(binary="other"), ["other"]),
    "prompt": ("other", ["other"]),
    "steps": (("tool",), ["other"]),
    "max_turns": (3, ["less"]),
    "timeout_secs": (3.0, ["less"]),
    "setup": (("true",), ["less"]),
    "post": ((Script(command="true"),), ["other"]),
    "evaluator_scripts": ((EvaluatorScript(command="true", name="n"),), ["other"]),
    "gates": ((EXISTS,), ["less"]),
    "evaluators": ((CodeJudge(script="true"),), ["other"]),
    "judge": (CodeJudge(script="true"), ["other"]),
    "case": (Case(expected_outcome="o"), ["less"]),
    "composite": (Composite(gate_weight=1), ["other"]),
    "tool_matrix": (OTHER_MODEL, ["less"]),
    "trials": (TrialCounts(min=4, max=4), ["less", "more"]),
    "minimum_steps": (3, ["other"]),
    "serial": (True, ["other"]),
    "purpose": ("capability", ["less"]),
    "source": ("s", ["other"]),
    "deterministic": (True, ["other"]),
    "tags": (("t",), ["less"]),
    "tier": (1, ["less"]),
    "max_usd": (1.0, ["less"]),
    "cache": (False, ["other"]),
    "guidance": (("A.md",), ["other"]),
}
# For each field of a suite, another value, and how its change begins; None: it changes nothing that is run.
OF_SUITE: dict[str, tuple[Any, str | None]] = {
    "file": ("other.yaml", None),
    "unread": (("one key",), None),
    "watch": (("a",), "watch"),
    "build": (("make",), None),
    "path": (("bin",), None),
    "agents": ({"other": DOCS}, "agent removed"),
    "scenarios": ((), "scenario removed"),
    "trials": (TrialCounts(min=4, max=4), "trials"),
    "judge": (
        ScriptedJudge(type="scripted", script=(ScriptedAnswer(answers=("a",)),)),
        "judge: none → scripted (scripted)",
    ),
    "calibration": (
        Calibration(model="m", labels=9, agreement=1, agreement_interval=(0, 1), table={}),
        "calibration: none → 9 labels",
    ),
    "jobs": (3, "jobs: none → 3"),
    "budget": (Budget(minutes=5), "budget.minutes: 30 → 5"),
    "policy": (Policy(alpha=0.05), "policy.alpha: "),
    "limits": (Limits(files=9), "limits.files: 1024 → 9"),
    "network": (NetworkAccess(agent=False), "network.agent: True → False"),
    "files": (FileAccess(read=("/x",)), "files.read: "),
    "pass_env": (("A",), "pass_env: [] → [A]"),
    "store": (Store(max_trials=9), "store.max_trials: 40 → 9"),
    "executor": (CommandExecutor(type="command", run="cp {bundle} {out}"), "executor"),
    "prices": ({"m": Price(input=1, output=1)}, "prices: "),
    "model_proxy": (False, "model_proxy: True → False"),
    "diagnosis": (Diagnosis(help=9), "diagnosis.help: 2 → 9"),
    "comment_template": ("t.j2", "comment_template: none → t.j2"),
    "report_hide": (("cost",), "report_hide: [] → [cost]"),
    "guidance": (("A.md",), "guidance: "),
}


def test_every_field_has_a_class() -> None:
    assert (set(OF_SCENARIO), set(OF_SUITE)) == (set(Scenario.model_fields), set(Suite.model_fields))


@pytest.mark.parametrize("field", OF_SCENARIO)
def test_a_changed_field_of_a_scenario_is_seen(field: str) -> None:
    value, effects = OF_SCENARIO[field]
    assert getattr(scenario(), field) != value
    assert [effect for effect, _ in of_scenario(**{field: value})] == effects


@pytest.mark.parametrize("field", OF_SUITE)
def test_a_changed_field_of_a_suite_is_seen(field: str) -> None:
    value, begins = OF_SUITE[field]
    assert getattr(suite(), field) != value
    details = [detail for _, _, detail in changed(suite(), suite().model_copy(update={field: value}))]
    assert not details if begins is None else any(detail.startswith(begins) for detail in details), details


def test_files_of_templates_and_scripts_are_changes_of_the_scenario() -> None:
    assert changed(suite(), suite(), "checks/judge.py", "t/a") == [("docs", "less", "files: checks/judge.py, t/a")]


def test_a_shorter_watch_checks_less_and_a_longer_one_is_used_at_once() -> None:
    assert changed(suite(watch=("a", "b")), suite(watch=("a", "c"))) == [(None, "less", "watch")]
    assert changed(suite(watch=("a",)), suite(watch=("a", "b"))) == []


@given(st.permutations(["a", "b", "c"]), st.sets(st.sampled_from(["a", "b", "c"])))
def test_what_may_check_less_comes_first(order: list[str], kept: set[str]) -> None:
    base, head = suite(*map(unlike, order)), suite(unlike("d"), *map(unlike, sorted(kept)))
    effects = [effect for _, effect, _ in changed(base, head)]
    assert effects == sorted(effects, key=["less", "more", "other"].index)
    assert effects.count("less") == 3 - len(kept)
