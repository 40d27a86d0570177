"""What will be checked differently from the merge on, and whether it may be less."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tests.make import DOCS
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.gates.file_contains import FileContains
from tidegate.checks.gates.file_exists import FileExists
from tidegate.model.suite import Budget, Policy, Scenario, Suite, ToolMatrixEntry, TrialCounts
from tidegate.suite.changes import changes, touched_files, with_changed_files

EXISTS = FileExists(path="out.json")
CONTAINS = FileContains(path="out.json", substring="high")
RULES = ("policy", "budget", "trials")


def scenario(name: str = "docs", **more: Any) -> Scenario:
    return make.scenario(name, **{"gates": (EXISTS, CONTAINS), **more})


def suite(*scenarios: Scenario, **more: Any) -> Suite:
    return make.suite(*(scenarios or (scenario(),)), **more)


def changed(base: Suite, head: Suite, *touched: str) -> list[tuple[str | None, str, str]]:
    found = changes(base, head, touched, RULES)
    return [(change.scenario or change.agent, change.effect, change.detail) for change in found]


def of_scenario(before: dict[str, Any] | None = None, **more: Any) -> list[tuple[str, str]]:
    return [found[1:] for found in changed(suite(scenario(**(before or {}))), suite(scenario(**more)))]


def test_nothing_changed() -> None:
    assert changed(suite(), suite()) == []
    assert of_scenario(file="elsewhere.yaml") == []


def test_without_a_base_there_is_nothing_to_change() -> None:
    assert changes(None, suite(), (), RULES) == ()


def test_a_removed_scenario_checks_less_and_a_new_one_more() -> None:
    base, head = suite(scenario("a"), scenario("b")), suite(scenario("b"), scenario("c"))
    assert changed(base, head) == [("a", "less", "scenario removed"), ("c", "more", "new scenario")]


def test_gates_that_go_or_change_may_check_less_and_new_ones_check_more() -> None:
    other = FileContains(path="out.json", substring="h")
    assert of_scenario(gates=(EXISTS,)) == [("less", f"gates: {CONTAINS.label}")]
    assert of_scenario(gates=(CONTAINS, EXISTS)) == [("less", "gates: order")]
    assert of_scenario(gates=(EXISTS, CONTAINS, FileExists(path="b"))) == [
        ("more", f"new gates: {FileExists(path='b').label}")
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


def test_without_a_limit_turns_and_dollars_are_not_limited() -> None:
    assert of_scenario(max_turns=9, max_usd=2) == [("less", "max_turns"), ("less", "max_usd")]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"purpose": "capability"}, ("less", "purpose regression → capability")),
        ({"trials": TrialCounts(max=1)}, ("less", "trials")),
        ({"trials": TrialCounts(min=5)}, ("more", "trials")),
        ({"prompt": "Do it.", "tags": ("a",)}, ("other", "prompt, tags")),
        ({"setup": ("true",)}, ("other", "setup")),
        ({"tool_matrix": (ToolMatrixEntry(tool="docs", models=("m",)),)}, None),
    ],
)
def test_what_else_a_scenario_has(more: dict[str, Any], found: tuple[str, str] | None) -> None:
    assert of_scenario(**more) == ([found] if found else [("less", "agents: docs"), ("more", "agents: docs:m")])


def test_agents_and_rules() -> None:
    base, head = suite(agents={"a": DOCS, "b": DOCS}), suite(agents={"b": DOCS, "c": DOCS})
    assert changed(base, head) == [("a", "less", "agent removed"), ("c", "more", "new agent")]
    strict = suite(policy=Policy(alpha=0.05), budget=Budget(minutes=5), path=("bin",))
    assert changed(suite(), strict) == [
        (None, "other", "policy.alpha: 0.02 → 0.05"),
        (None, "other", "budget.minutes: 30 → 5"),
        (None, "other", "path (used now: each side has its own)"),
    ]


def test_files_of_templates_and_scripts_are_changes_of_the_scenario_and_guidance_is_not() -> None:
    judge = CodeJudge(script="python3 judge.py", cwd="checks")
    one = scenario(template="t", evaluators=(judge,))
    touched = ("t/a", "t/initial-state/CLAUDE.md", "t/CLAUDE.md", "checks/judge.py", "checks/other.py", "tt/a")
    assert touched_files(one, ("CLAUDE.md",), touched) == ["checks/judge.py", "t/a"]
    whole = suite(one, scenario("other"), guidance=("CLAUDE.md",))
    assert changed(whole, whole, *touched) == [("docs", "other", "files: checks/judge.py, t/a")]
    assert with_changed_files(whole, touched) == {"docs"}


@given(st.permutations(["a", "b", "c"]), st.sets(st.sampled_from(["a", "b", "c"])))
def test_what_may_check_less_comes_first(order: list[str], kept: set[str]) -> None:
    base, head = suite(*map(scenario, order)), suite(scenario("d"), *map(scenario, sorted(kept)))
    effects = [effect for _, effect, _ in changed(base, head)]
    assert effects == sorted(effects, key=["less", "more", "other"].index)
    assert effects.count("less") == 3 - len(kept)
