"""The rows of a suite, their selection, and what their hashes depend on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tests.make import DOCS, scenario
from tidegate.agents.claude_code import ClaudeCodeAgent
from tidegate.agents.scripted import Scripted
from tidegate.checks.gates.text_gates import FileExists
from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.model.plan import Plan
from tidegate.model.suite import Policy, Scenario, Suite, ToolMatrixEntry, TrialCounts
from tidegate.model.target import McpServer, Target
from tidegate.suite.plan import (
    Selection,
    base_name,
    definition_hash,
    did_you_mean,
    make_plan,
    pull_request_plan,
    run_rows,
    suite_hash,
    watched_files,
    without_agents,
)

FAKE = Scripted.model_validate({"type": "scripted", "steps": {"a": [{"run": "x", "probability": 0.5}]}})


AGENTS = {"docs": DOCS, "fake:x": FAKE.model_copy(update={"model": "x"}), "fake:y": FAKE}


def suite(*scenarios: Scenario, **fields: Any) -> Suite:
    return make.suite(*scenarios, **{"agents": AGENTS, **fields})


def ids(plan: Plan) -> list[str]:
    return [f"{row.key.scenario} {row.key.agent}" for row in plan.rows]


def test_rows_are_scenarios_times_agents_in_the_suites_order() -> None:
    plan = make_plan(suite(scenario("b"), scenario("a")))

    assert ids(plan) == ["b docs", "b fake:x", "b fake:y", "a docs", "a fake:x", "a fake:y"]
    assert plan.rows[1].agent.model == "x"


def test_the_scripted_agent_does_the_steps_of_a_scenarios_file_unless_it_has_some_of_its_own() -> None:
    """Only what is in `tidegate.yaml` counts as a change of the agent."""
    own = suite(scenario("a", steps=("t list",)), scenario("b", steps=("t list",)))

    _, of_a, _, _, of_b, _ = (row.agent for row in make_plan(own).rows)

    assert isinstance(of_a, Scripted)
    assert isinstance(of_b, Scripted)
    assert of_a.steps == FAKE.steps
    assert set(of_b.steps) == {"a", "b"}
    assert (of_b.steps["b"], of_b.model) == (("t list",), "x")
    assert own.agents["fake:x"] == AGENTS["fake:x"]


def test_a_tool_matrix_limits_the_agents_and_names_their_models() -> None:
    matrix = (ToolMatrixEntry(tool="docs", models=("m", "n")), ToolMatrixEntry(tool="fake"))

    plan = make_plan(suite(scenario("a", tool_matrix=matrix), scenario("b", tool_matrix=matrix[:1])))

    assert ids(plan) == ["a docs:m", "a docs:n", "a fake:x", "a fake:y", "b docs:m", "b docs:n"]
    assert [row.agent.model for row in plan.rows[:2]] == ["m", "n"]
    assert make_plan(suite(scenario("a", tool_matrix=(ToolMatrixEntry(tool="fake:y"),)))).rows[0].key.agent == "fake:y"


def test_models_of_the_matrix_take_the_place_of_those_of_the_agent() -> None:
    plan = make_plan(suite(scenario("a", tool_matrix=(ToolMatrixEntry(tool="fake", models=("z",)),))))

    assert ids(plan) == ["a fake:z"]
    assert plan.rows[0].agent == FAKE.model_copy(update={"model": "z"})


def test_a_scenario_says_whether_it_is_deterministic_or_else_its_agent() -> None:
    plan = make_plan(suite(scenario("a"), scenario("b", deterministic=True), scenario("c", deterministic=False)))
    by_id = dict(zip(ids(plan), (row.deterministic for row in plan.rows), strict=True))

    assert [by_id["a docs"], by_id["a fake:x"]] == [True, False]
    assert [by_id["b docs"], by_id["b fake:x"]] == [True, True]
    assert [by_id["c docs"], by_id["c fake:x"]] == [False, False]


SELECTABLE = suite(scenario("a", tags=("smoke", "slow"), tier=1), scenario("b", tags=("slow",)), scenario("c", tier=2))


@pytest.mark.parametrize(
    ("selection", "selected"),
    [
        (Selection(scenarios=("c", "a"), agents=("docs",)), ["a docs", "c docs"]),
        (Selection(agents=("fake",), scenarios=("a",)), ["a fake:x", "a fake:y"]),
        (Selection(agents=("fake:y",), scenarios=("a",)), ["a fake:y"]),
        (Selection(tags=("slow",), agents=("docs",)), ["a docs", "b docs"]),
        (Selection(tags=("smoke", "slow"), agents=("docs",)), ["a docs", "b docs"]),
        (Selection(tier=1, agents=("docs",)), ["a docs", "b docs"]),
        (Selection(tier=0, agents=("docs",)), ["b docs"]),
        (Selection(scenarios=("[bc]",), agents=("fake:*",)), ["b fake:x", "b fake:y", "c fake:x", "c fake:y"]),
    ],
)
def test_a_selection_is_a_part_of_the_plan(selection: Selection, selected: list[str]) -> None:
    assert ids(make_plan(SELECTABLE, selection)) == selected


def test_names_that_the_suite_does_not_have_are_said_all_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        make_plan(SELECTABLE, Selection(scenarios=("a", "d"), agents=("dosc",), tags=("smok",)))

    assert caught.value.message.splitlines() == [
        "the suite has no scenario `d`",
        "the suite has no agent `dosc` (did you mean `docs`?)",
        "the suite has no tag `smok` (did you mean `smoke`?)",
    ]


@pytest.mark.parametrize(
    ("whole", "selection"),
    [
        (suite(), Selection()),
        (SELECTABLE, Selection(scenarios=("c",), tags=("slow",))),
        (SELECTABLE, Selection(tier=-1)),
    ],
)
def test_a_plan_without_rows_is_nothing_to_run(whole: Suite, selection: Selection) -> None:
    with pytest.raises(NothingToRunError):
        make_plan(whole, selection)


def test_a_run_knows_of_its_rows_what_a_comparison_needs() -> None:
    one = scenario("a", purpose="capability", trials=TrialCounts(max=4))
    plan = make_plan(suite(one), Selection(agents=("docs",)))

    (row,) = run_rows(plan, suite(one))

    assert (row.scenario, row.agent, row.deterministic, row.purpose) == ("a", "docs", True, "capability")
    assert (row.presence, row.trials, row.definition) == ("both", TrialCounts(max=4), definition_hash(one))


def test_a_row_can_fail_only_by_a_check_that_is_required() -> None:
    def can_fail(**fields: Any) -> bool:
        (row, *_) = run_rows(make_plan(suite(scenario("a", **fields))), suite(scenario("a")))
        return row.can_fail

    assert not can_fail()
    assert not can_fail(gates=(FileExists(path="x", required=False),))
    assert can_fail(gates=(FileExists(path="x"),))


def planned(base: Suite, head: Suite, *changed: str, product: Suite | None = None) -> Plan:
    """The plan of a pull request that changes files of these scenarios."""
    return pull_request_plan(make_plan(base), make_plan(product or base), make_plan(head), set(changed))


def rows_of(plan: Plan) -> set[tuple[str, str]]:
    return {(row.key.scenario, row.presence) for row in plan.rows if row.key.agent == "docs"}


def test_base_s_rows_are_run_whatever_head_removes_and_head_s_new_ones_besides() -> None:
    plan = planned(suite(scenario("old"), scenario("a")), suite(scenario("a"), scenario("new")))

    assert rows_of(plan) == {("old", "both"), ("a", "both"), ("new", "added")}
    assert [row.presence for row in plan.rows] == sorted((row.presence for row in plan.rows), reverse=True)


@pytest.mark.parametrize(
    ("more", "changed", "added"),
    [
        ({}, (), False),
        ({}, ("a",), True),
        ({"file": "elsewhere", "description": "x", "tags": ("x",)}, (), False),
        ({"gates": (FileExists(path="x"),)}, (), True),
        ({"prompt": "Do it."}, (), True),
        ({"target": Target(binary="other", env={"A": "b"})}, (), True),
    ],
)
def test_a_changed_definition_is_a_row_beside_base_s(
    more: dict[str, Any], changed: tuple[str, ...], added: bool
) -> None:
    base = suite(scenario("a"))
    plan = planned(base, suite(scenario("a", **more)), *changed)

    assert rows_of(plan) == {("a", "both"), *([("a (as changed)", "added")] if added else [])}
    assert all(row.scenario == base.scenarios[0] for row in plan.rows if row.presence == "both")


def test_a_changed_definition_does_not_take_the_name_of_another_row() -> None:
    base = suite(scenario("a"), scenario("a (as changed)"))
    changed = FileExists(path="x")
    plan = planned(base, suite(scenario("a", gates=(changed,)), scenario("a (as changed)", gates=(changed,))))

    assert [row.presence for row in plan.rows].count("added") == len(plan.rows) / 2
    assert len({row.key for row in plan.rows}) == len(plan.rows)


def test_another_agent_of_the_same_name_is_a_row_of_its_own() -> None:
    base = suite(scenario("a"), agents={"docs": DOCS})
    plan = planned(base, suite(scenario("a"), agents={"docs": DOCS.model_copy(update={"timeout_secs": 9})}))

    assert rows_of(plan) == {("a", "both"), ("a (as changed)", "added")}
    assert plan.rows[0].agent == DOCS


def test_how_the_tool_is_started_is_head_s_and_its_name_is_base_s() -> None:
    server = McpServer(command="old", name="base")
    rules = {"command_pattern": "x", "health_check": "y", "ok_statuses": (0, 2)}
    before = Target(binary="base", mcp=server, env={"A": "1", "B": "1"}, **rules)
    own = {"env": {"A": "1", "B": "2", "C": "3"}, "ok_statuses": (0, 1)}
    after = Target(binary="head", mcp=McpServer(command="new", name="head"), **own)
    row = planned(suite(scenario("a", target=before)), suite(scenario("a", target=after))).rows[0]

    assert (row.on("base").env_of_base, row.on("head").env_of_base) == (None, before.env)
    assert row.on("base").scenario.target == before
    assert row.on("head").scenario.target == before.model_copy(
        update={"mcp": McpServer(command="new", name="base"), "env": after.env}
    )


@pytest.mark.parametrize(
    ("base", "head", "started"),
    [
        ({}, {"MODE": "new", "KEY": "${FOO}"}, {"MODE": "new"}),
        ({"MODE": "old"}, {"KEY": "${FOO}"}, {}),
        ({"KEY": "test"}, {"KEY": "${FOO}", "MODE": "new"}, {"KEY": "test", "MODE": "new"}),
    ],
)
def test_only_what_asks_for_a_new_secret_that_the_job_lacks_is_base_s(
    base: dict[str, str], head: dict[str, str], started: dict[str, str]
) -> None:
    before = Target(binary="t", env=base)
    after = Target(binary="t", env=head, secrets=("FOO",))
    row = planned(suite(scenario("a", target=before)), suite(scenario("a", target=after))).rows[0]
    assert (row.on("head").scenario.target.env, row.on("head").scenario.target.secrets) == (started, ())


@pytest.mark.parametrize(
    ("head", "env"),
    [
        ({"renamed": "2"}, "2"),
        ({"dummy": "1", "renamed": "2"}, "2"),  # an unchanged way hides no other
        ({"b": "2", "renamed": "1"}, "2"),  # as in `b`, which base starts in the same way
        ({"special": "3"}, "1"),
    ],
)
def test_a_renamed_scenario_is_started_as_head_s_others_are(head: dict[str, str], env: str) -> None:
    def started(**ways: str) -> Suite:
        return suite(*(scenario(name, target=Target(binary="t", env={"A": way})) for name, way in ways.items()))

    base = started(a="1", b="1", **({"special": "3"} if "special" in head else {}))
    row = planned(base, started(**head)).rows[0]
    assert row.on("head").scenario.target.env == {"A": env}


def test_a_scenario_that_is_renamed_is_started_as_head_starts_it_not_as_another_that_base_starts_alike() -> None:
    def started(prompts: dict[str, str], **ways: str) -> Suite:
        own = {name: Target(binary="t", env={"A": way}) for name, way in ways.items()}
        return suite(*(scenario(name, target=one, prompt=prompts.get(name, name)) for name, one in own.items()))

    base, head = started({"a": "Keep two."}, a="1", b="1"), started({"renamed": "Keep two."}, b="1", renamed="2")
    assert planned(base, head).rows[0].on("head").scenario.target.env == {"A": "2"}


def test_a_row_that_is_not_selected_tells_how_head_starts_the_tool() -> None:
    base, head = (
        make_plan(suite(scenario("a", tags=tags, target=Target(binary="t", env={"A": way}))))
        for tags, way in (((), "1"), (("slow",), "2"))
    )
    plan = pull_request_plan(base, base, head, {"a"}, Selection(tags=("fast",)))
    assert {(row.presence, row.on("head").scenario.target.env["A"]) for row in plan.rows} == {("both", "2")}


def test_the_files_that_a_prompt_contains_are_each_side_s() -> None:
    base = suite(scenario("a", prompt="old text"))
    row = planned(base, base, product=suite(scenario("a", prompt="new text"))).rows[0]

    assert [row.on(side).scenario.prompt for side in ("base", "head")] == ["old text", "new text"]


def test_all_that_can_change_an_outcome_is_watched() -> None:
    tool = {"template": "t[1]/x", "target": Target(binary="notes")}
    one = suite(scenario("a", **tool), watch=("src/**",), guidance=("AGENTS.md",), path=("./bin", "."))
    other = suite(watch=("lib/**", "src/**"), guidance=())

    assert watched_files(one, other) == (
        "**/.gitattributes",
        ".gitmodules",
        "src/**",
        "AGENTS.md",
        "bin",
        "bin/**",
        "*",
        "tidegate.yaml",
        "a.yaml",
        "t[[]1]/x/**",
        "lib/**",
    )


CHANGES: dict[str, Any] = {
    "prompt": "q",
    "gates": (FileExists(type="file_exists", path="other"),),
    "target": Target(binary="u"),
    "template": "t",
    "tier": 1,
}


@pytest.mark.parametrize(("key", "value"), CHANGES.items())
def test_every_change_of_a_definition_changes_both_hashes(key: str, value: object) -> None:
    before = scenario("a", gates=(FileExists(path="x"),))
    after = before.model_copy(update={key: value})

    assert definition_hash(after) != definition_hash(before)
    assert suite_hash(suite(after)) != suite_hash(suite(before))


def test_a_moved_file_is_the_same_definition() -> None:
    before, after = scenario("a"), scenario("a", file="elsewhere/b.yaml")

    assert definition_hash(after) == definition_hash(before)
    assert suite_hash(suite(after, file="x.yaml")) == suite_hash(suite(before))


def test_the_hash_of_a_suite_sees_agents_and_policy() -> None:
    hashes = {
        suite_hash(suite(scenario("a"))),
        suite_hash(suite(scenario("a"), policy=Policy(mode="advisory"))),
        suite_hash(suite(scenario("a"), agents={"fake": FAKE})),
        suite_hash(suite(scenario("a"), agents={"fake": FAKE.model_copy(update={"seed": 1})})),
    }
    assert len(hashes) == 4


@given(st.text(min_size=4, max_size=20))
def test_a_word_is_its_own_nearest(word: str) -> None:
    assert did_you_mean(word, ["zzzzzzzz", word]) == f" (did you mean `{word}`?)"
    assert did_you_mean(word, []) == ""


@pytest.mark.parametrize(("row_id", "name"), [("docs", "docs"), ("a:m", "a"), ("a:vendor:m", "a")])
def test_an_agents_name_ends_where_its_model_begins(row_id: str, name: str) -> None:
    assert base_name(row_id) == name


@pytest.mark.parametrize(
    ("environ", "left_out"),
    [
        ({}, ("claude",)),
        ({"ANTHROPIC_API_KEY": ""}, ("claude",)),
        ({"ANTHROPIC_BASE_URL": "https://models.example"}, ("claude",)),  # an address alone opens nothing
        ({"ANTHROPIC_API_KEY": "k"}, ()),
    ],
)
def test_an_agent_is_left_out_for_want_of_its_key(environ: dict[str, str], left_out: tuple[str, ...]) -> None:
    agents = {"docs": DOCS, "claude": ClaudeCodeAgent(type="claude-code")}

    plan = without_agents(make_plan(suite(scenario("a"), agents=agents)), environ)

    assert tuple(row.key.agent for row in plan.rows if row.no_agent == "secret") == left_out
    assert "docs" in {row.key.agent for row in plan.rows}
