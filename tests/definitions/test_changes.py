"""Changed definitions, weakened checks, and which side each key is read from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tests.make import DOCS
from tidegate.definitions.changes import changes, in_force
from tidegate.evaluators.code_judge import CodeJudge
from tidegate.evaluators.llm_judge import LlmJudge
from tidegate.evaluators.rubric_judge import RubricJudge
from tidegate.evaluators.tool_f1 import ToolF1
from tidegate.gates.command_succeeds import CommandSucceeds
from tidegate.gates.file_contains import FileContains
from tidegate.gates.file_exists import FileExists
from tidegate.model.agent import Agent
from tidegate.model.case import Case
from tidegate.model.edited import Edited
from tidegate.model.gate import Gate
from tidegate.model.suite import Budget, Limits, Policy, Scenario, Script, Suite, ToolMatrixEntry, TrialCounts
from tidegate.model.target import Target
from tidegate.plan import Selection
from tidegate.rubrics.samples import Criterion

EXISTS = FileExists(path="out.json")
CONTAINS = FileContains(path="out.json", substring="high")
SUCCEEDS = CommandSucceeds(command="taskmgr list")


def scenario(name: str = "docs", **more: Any) -> Scenario:
    return make.scenario(name, **{"gates": (EXISTS, CONTAINS), **more})


def suite(*scenarios: Scenario, **more: Any) -> Suite:
    return make.suite(*(scenarios or (scenario(),)), **more)


def changed(base: Suite, head: Suite) -> list[tuple[str | None, str, str, bool]]:
    return [(c.scenario, c.kind, c.detail, c.weakened) for c in changes(base, head)]


def of_scenario(**more: Any) -> list[tuple[str, str, bool]]:
    return [found[1:] for found in changed(suite(scenario()), suite(scenario(**more)))]


def test_nothing_changed() -> None:
    assert changed(suite(), suite()) == []
    assert of_scenario(file="elsewhere.yaml") == []


def test_without_a_base_there_is_nothing_to_change() -> None:
    assert changes(None, suite()) == ()


# --- scenarios and gates


def test_a_removed_scenario_weakens_and_a_new_one_does_not() -> None:
    base, head = suite(scenario("a"), scenario("b")), suite(scenario("b"), scenario("c"))
    assert changed(base, head) == [
        ("a", "scenario_removed", "scenario removed", True),
        ("c", "added", "new scenario", False),
    ]


def test_a_removed_gate_weakens_and_a_new_one_does_not() -> None:
    assert of_scenario(gates=(EXISTS,)) == [("gate_removed", CONTAINS.label, True)]
    assert of_scenario(gates=(EXISTS, CONTAINS, SUCCEEDS)) == [("added", f"gate {SUCCEEDS.label}", False)]


def test_the_order_of_the_gates_says_nothing() -> None:
    assert of_scenario(gates=(CONTAINS, EXISTS)) == []


def test_one_of_two_equal_gates_can_be_removed() -> None:
    twice = suite(scenario(gates=(EXISTS, EXISTS)))
    assert [found[1] for found in changed(twice, suite(scenario(gates=(EXISTS,))))] == ["gate_removed"]


@pytest.mark.parametrize(
    ("change", "weakened"),
    [
        ({"substring": ""}, True),
        ({"required": False}, True),
        ({"description": "the list is there"}, False),
        ({"timeout_secs": 5.0}, True),
        ({"timeout_secs": 50.0}, False),
    ],
)
def test_a_changed_gate_may_be_looser_unless_only_words_changed_or_it_has_more_time(
    change: dict[str, Any], weakened: bool
) -> None:
    (key,) = change
    after = CONTAINS.model_copy(update=change)
    assert of_scenario(gates=(EXISTS, after)) == [("gate_changed", f"{CONTAINS.label}: {key}", weakened)]


def test_a_gate_that_decided_nothing_can_go() -> None:
    hint = CONTAINS.model_copy(update={"required": False})
    base = suite(scenario(gates=(EXISTS, hint)))
    assert changed(base, suite(scenario(gates=(EXISTS,)))) == [("docs", "gate_removed", hint.label, False)]
    assert changed(base, suite())[0][1:] == ("gate_changed", f"{hint.label}: required", False)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"prompt": "do it well", "template": "t"}, ("changed", "prompt", False)),  # a template counts by its files
        (
            {"description": "e", "source": "s", "tags": ("x",), "tier": 1},
            ("changed", "description, source, tags, tier", False),
        ),
        ({"timeout_secs": 9.0}, ("changed", "timeout_secs", True)),
        ({"max_turns": 3}, ("changed", "max_turns", True)),
        ({"max_usd": 3}, ("changed", "max_usd", True)),
        ({"minimum_steps": 3}, ("changed", "minimum_steps", True)),
        ({"cache": False}, ("changed", "cache", True)),
        ({"purpose": "capability"}, ("changed", "purpose regression → capability", True)),
        ({"deterministic": False}, ("changed", "deterministic", True)),
        ({"deterministic": True}, ("changed", "deterministic", True)),
        ({"trials": TrialCounts(min=5)}, ("changed", "trials", False)),
        ({"trials": TrialCounts(min=1)}, ("threshold_lowered", "trials", True)),
        ({"trials": TrialCounts(max=2)}, ("threshold_lowered", "trials", True)),
    ],
)
def test_other_changes_of_a_scenario(change: dict[str, Any], found: tuple[str, str, bool]) -> None:
    assert of_scenario(**change) == [found]


F1 = ToolF1(expected=("add",))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({}, {"post": (Script(command="touch out.json"),)}, ("changed", "post", True)),
        (
            {"post": (Script(command="x"),)},
            {"post": (Script(command="x", timeout_secs=5),)},
            ("changed", "post", True),
        ),
        (
            {"post": (Script(command="x"),)},
            {"post": (Script(command="x", timeout_secs=50),)},
            ("changed", "post", False),
        ),
        ({}, {"target": Target(binary="other")}, ("changed", "target", True)),
        ({}, {"setup": ("taskmgr init",)}, ("changed", "setup", True)),
        ({}, {"setup": ("echo high > out.json",)}, ("changed", "setup", True)),
        ({"setup": ("echo high > out.json",)}, {}, ("changed", "setup", True)),
        ({"timeout_secs": 5.0}, {"timeout_secs": 6.0}, ("changed", "timeout_secs", False)),
        ({"max_turns": 5}, {}, ("changed", "max_turns", False)),
        ({"purpose": "capability"}, {}, ("changed", "purpose capability → regression", False)),
        ({}, {"evaluators": (F1,)}, ("added", f"evaluator {F1.label}", False)),
        ({}, {"case": Case(reference_answer="x")}, ("changed", "case", True)),
        ({}, {"case": Case(input_messages=({"role": "user"},))}, ("changed", "case", False)),
        (
            {"evaluators": (F1,)},
            {"evaluators": (F1,), "case": Case(reference_answer="x")},
            ("changed", "case", True),
        ),
    ],
)
def test_what_checks_hang_on_weakens(
    before: dict[str, Any], after: dict[str, Any], found: tuple[str, str, bool]
) -> None:
    ((_, *change),) = changed(suite(scenario(**before)), suite(scenario(**after)))
    assert tuple(change) == found


def test_edited_files_are_named_and_weaken() -> None:
    script = CodeJudge(script="python3 judge.py", cwd="scenarios")
    one = suite(scenario(evaluators=(script,), gates=(EXISTS, CommandSucceeds(command="sh check.sh"))))
    edited = Edited(scripts={"docs": ("scenarios/judge.py", "b", "c")}, templates={"docs": ("t/a.txt", "t/b.txt")})
    assert [(c.kind, c.detail, c.weakened) for c in changes(one, one, edited)] == [
        ("gate_changed", "files of its evaluators: scenarios/judge.py and 2 more", True),
        ("gate_changed", "files of its template: t/a.txt, t/b.txt", True),
    ]
    shown = suite(scenario(evaluators=(script.model_copy(update={"weight": 0}),)))
    assert not changes(shown, shown, Edited(scripts={"docs": ("x",)}))[0].weakened


@pytest.mark.parametrize(
    ("path", "gate", "weakens"),
    [
        ("AGENTS.md", EXISTS, False),
        ("AGENTS.md", SUCCEEDS, False),
        ("docs/out.json", EXISTS, True),
        ("docs/my-out.json", EXISTS, False),
        ("AGENTS.md", CommandSucceeds(command="grep -q x AGENTS.md"), True),
        ("AGENTS.md", CommandSucceeds(command="taskmgr list", description="as AGENTS.md says"), False),
        ("Makefile", SUCCEEDS, True),
        ("Makefile", EXISTS, False),
        (".claude/skills/x/run.py", SUCCEEDS, False),
        ("docs/picture.png", SUCCEEDS, False),
        ("llms.txt", SUCCEEDS, False),
    ],
)
def test_edited_guidance_weakens_where_a_check_may_read_it(path: str, gate: Gate, weakens: bool) -> None:
    one = suite(scenario(gates=(gate,)))
    found = changes(one, one, Edited(guidance={"docs": (path,)}))
    assert [(c.detail, c.weakened) for c in found] == (
        [(f"guidance files that its checks may read: {path}", True)] if weakens else []
    )


def test_an_agent_s_edited_program_is_listed() -> None:
    (found,) = changes(suite(), suite(), Edited(programs={"docs": ("bin/agent",)}))
    assert (found.kind, found.agent, found.detail, found.weakened) == (
        ("agent_changed", "docs", "agent docs: its program bin/agent", False)
    )


def test_a_scenario_that_the_selection_loses_is_removed() -> None:
    base, head = suite(scenario(tags=("a",))), suite(scenario(tags=("b",)))
    assert [c.kind for c in changes(base, head)] == ["changed"]
    found = changes(base, head, selection=Selection(tags=("a",)))
    assert [(c.kind, c.weakened) for c in found] == [("scenario_removed", True), ("changed", False)]
    assert len(changes(base, head, selection=Selection(tags=("b",)))) == 1
    assert len(changes(base, head, selection=Selection(tags=("c",)))) == 1


@pytest.mark.parametrize("judged", [True, False])
def test_where_a_judge_counts_its_scenario_is_not_decided_twice_and_that_is_said(judged: bool) -> None:
    policy = Policy(judge_blocks=judged)
    base = suite(scenario(evaluators=(F1, LlmJudge())), policy=policy)
    found = changes(base, suite(scenario(evaluators=(LlmJudge(),)), policy=policy))
    assert [(c.weakened, "not decided by base's definition" in c.detail) for c in found] == [(True, judged)]


def test_guidance_globs_wait_for_the_merge() -> None:
    found = changed(suite(guidance=("A.md",)), suite(guidance=("B.md",)))
    assert found == [(None, "policy_changed", "guidance: [A.md] → [B.md] (takes effect after the merge)", False)]
    assert changed(suite(), suite(build=("make",), path=("bin",))) == [(None, "changed", "build, path", False)]


def test_an_agent_of_another_type_is_another_agent() -> None:
    head = suite(agents={"docs": Agent(type="command", deterministic=True)})
    assert [(c.kind, c.agent, c.weakened) for c in changes(suite(), head)] == [("agent_changed", "docs", True)]


def test_details_carry_no_values_that_may_be_secrets() -> None:
    (found,) = of_scenario(target=Target(binary="tool", env={"TOKEN": "s3cret"}))
    assert found == ("changed", "target", True)


# --- the suite


def test_a_removed_agent_weakens_once_and_a_new_one_does_not() -> None:
    base, head = (
        suite(agents={"a": DOCS, "b": DOCS}),
        suite(agents={"b": DOCS, "c": DOCS}),
    )
    assert changed(base, head) == [
        (None, "agent_removed", "agent a", True),
        (None, "added", "agent c", False),
    ]


def test_a_changed_agent_is_named_with_its_models() -> None:
    base = suite(agents={"claude": Agent(type="claude-code", model="one", max_turns=2)})
    head = suite(agents={"claude": Agent(type="claude-code", model="two", max_turns=3)})
    assert changed(base, head) == [(None, "agent_changed", "agent claude: model one → two, max_turns", False)]
    assert changed(head, base) == [(None, "agent_changed", "agent claude: model two → one, max_turns", True)]


@pytest.mark.parametrize("key", ["env", "deterministic"])
def test_what_an_agent_does_is_frozen(key: str) -> None:
    more: dict[str, Any] = {"env": {"A": "1"}, "deterministic": True}
    head = suite(agents={"x": Agent(type="command").model_copy(update={key: more[key]})})
    (found,) = changes(suite(agents={"x": Agent(type="command")}), head)
    assert (found.detail, found.weakened) == (f"agent x: {key}", True)


def test_an_agent_that_is_no_longer_deterministic_proves_less() -> None:
    base = suite(agents={"x": Agent(type="command", deterministic=True)})
    assert changed(base, suite(agents={"x": Agent(type="command")})) == [
        (None, "agent_changed", "agent x: deterministic", True)
    ]


def test_a_scenario_that_leaves_an_agent_out_is_weakened() -> None:
    agents = {"a": DOCS, "b": DOCS}
    head = suite(scenario(tool_matrix=(ToolMatrixEntry(tool="a"),)), agents=agents)
    assert changed(suite(agents=agents), head) == [("docs", "agent_removed", "agent b", True)]


def test_a_model_that_is_left_out_is_an_agent_less() -> None:
    base = suite(scenario(tool_matrix=(ToolMatrixEntry(tool="docs", models=("x", "y")),)))
    head = suite(scenario(tool_matrix=(ToolMatrixEntry(tool="docs", models=("x",)),)))
    assert changed(base, head) == [("docs", "agent_removed", "agent docs:y", True)]


def test_the_policy_s_changes_wait_for_the_merge() -> None:
    head = suite(policy=Policy(alpha=0.05, block=()), budget=Budget(minutes=60), pass_env=("A", "B"))
    assert changed(suite(), head) == [
        (
            None,
            "policy_changed",
            "budget.minutes: 30 → 60; policy.alpha: 0.02 → 0.05; policy.block: [regressed, unproven] → []; "
            "pass_env: [] → [A, B] (takes effect after the merge)",
            False,
        )
    ]


def test_what_is_read_at_head_is_listed() -> None:
    assert changed(suite(), suite(watch=("src/**",))) == [(None, "changed", "watch", False)]


def test_what_weakens_comes_first() -> None:
    base, head = suite(scenario("a"), scenario("b")), suite(scenario("a", prompt="new", gates=(EXISTS,)), scenario("c"))
    weakened = [change.weakened for change in changes(base, head)]
    assert weakened == sorted(weakened, reverse=True)
    assert weakened.count(True) == 2


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_every_scenario_of_one_side_alone_is_named(base: set[str], head: set[str]) -> None:
    found = changes(suite(*map(scenario, sorted(base | {"x"}))), suite(*map(scenario, sorted(head | {"x"}))))
    assert {c.scenario for c in found if c.kind == "scenario_removed"} == base - head
    assert {c.scenario for c in found if c.kind == "added"} == head - base
    assert all(c.weakened == (c.kind == "scenario_removed") for c in found)


# --- the suite in force


def test_scenarios_come_from_head_and_the_rules_from_base() -> None:
    rules: dict[str, Any] = {
        "trials": TrialCounts(min=5),
        "jobs": 2,
        "budget": Budget(minutes=5),
        "policy": Policy(alpha=0.01),
        "limits": Limits(memory_mb=1),
        "pass_env": ("A",),
        "guidance": ("X.md",),
    }
    head = suite(scenario(prompt="new"), build=("make",), guidance=("Y.md",))
    assert in_force(suite(**rules), head) == head.model_copy(update=rules)


def test_without_a_base_head_s_rules_advise() -> None:
    head = suite(policy=Policy(alpha=0.05))
    assert in_force(None, head).policy == Policy(alpha=0.05, mode="advisory")


# --- judges


RUBRIC = RubricJudge(criteria=(Criterion(id="good", description="It is good.", weight=1),))


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize(
    ("after", "kind", "weakens"),
    [
        (None, "gate_removed", True),
        (RUBRIC.model_copy(update={"pass_threshold": 0.5}), "threshold_lowered", True),
        (RUBRIC.model_copy(update={"pass_threshold": 0.9}), "gate_changed", False),
        (RUBRIC.model_copy(update={"criteria": (Criterion(id="x", description="y", weight=1),)}), "gate_changed", True),
    ],
)
def test_a_judge_is_weakened_only_where_it_counts(
    after: RubricJudge | None, kind: str, weakens: bool, counts: bool
) -> None:
    policy = Policy(judge_blocks=counts)
    old = suite(scenario("s").model_copy(update={"judge": RUBRIC})).model_copy(update={"policy": policy})
    new = suite(scenario("s").model_copy(update={"judge": after})).model_copy(update={"policy": policy})
    (change,) = changes(old, new)
    assert (change.kind, change.weakened) == (kind, weakens and counts)
