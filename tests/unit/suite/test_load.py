"""What valid files mean."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from tidegate.agents.command import CommandAgent
from tidegate.agents.doc_follower import DocFollower
from tidegate.agents.scripted import Scripted
from tidegate.checks.gates.json_path import CommandJsonPath
from tidegate.checks.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.errors import ConfigurationError
from tidegate.model.agent import ScriptedStep
from tidegate.model.prices import Price
from tidegate.model.suite import (
    Budget,
    Composite,
    Diagnosis,
    EvaluatorScript,
    Limits,
    Policy,
    Scenario,
    Script,
    Suite,
    ToolMatrixEntry,
    TrialCounts,
)
from tidegate.model.target import Target
from tidegate.suite.load import load_suite, try_load_suite

Load = Callable[..., Suite]

EVERY_SUITE_KEY = """\
version: 1
scenarios: [scenarios/*.yaml, "more/**/*.yaml"]
watch: [src/**]
guidance: [AGENTS.md]
build: [make]
path: [bin]
target: {binary: taskmgr, command_pattern: 'taskmgr\\s+(\\S+)', health_check: taskmgr --version, env: {A: shared, B: x},
  ok_statuses: [0, 1]}
agents:
  docs: {type: doc-follower}
  fake: {type: scripted, seed: 7, steps: {first: [taskmgr add a, {run: taskmgr list, probability: 0.9}]}}
  mine:
    type: command
    command: my-agent {prompt_file}
    output: events
    stdin: prompt
    models: [large, small]
    env: {KEY: value}
    timeout_secs: 60
    max_turns: 9
    deterministic: true
    weight: 2
trials: {min: 2, max: 12, jobs: 4}
judge: null
budget: {usd: null, tokens: null, minutes: 10, trials: 100}
policy:
  preset: quick
  alpha: 0.05
  mode: advisory
  fail_fast: false
  block: [regressed, unconfirmed, not_measured, inconclusive]
  agents: [docs, mine, "mine:small", "docs:m"]
  suite: "off"
  block_metrics: {}
  judge_blocks: false
  rules: block
model_proxy: true
network: {setup: true, gates: true, agent: true}
pass_env: [TOKEN]
limits: {output_mb: 1, memory_mb: 2, processes: 3, files: 4}
prices: {large: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}}
store: {type: directory, path: .tidegate/store, max_trials: 40, max_days: 14}
diagnosis: {error_rate: 0.1, help: 1, retry_rate: 0.2, commands_ratio: 2}
report: {comment_template: null, hide: [cost, judge]}
"""
EVERY_SCENARIO_KEY = """\
name: task_manager_organize
description: Organize tasks.
template_folder: fixtures/tasks
target:
  binary: taskmgr2
  health_check: taskmgr2 --version
  env: {A: "own-${TOKEN}", C: $HOME}
task: {prompt: Tidy up., max_turns: 30, steps: [taskmgr list, {call: add, input: {title: a}}]}
setup: {commands: [taskmgr init]}
scripts:
  post: [{command: taskmgr export, timeout_secs: 31}, {command: date}]
  evaluators: [{command: ./quality.sh, name: quality}]
evaluation:
  gates:
    - {type: command_json_path, command: taskmgr export, path: $.tasks, assertion: len == 2, description: d}
    - type: no_transcript_errors
  judge: {enabled: false, rubric: rubrics/x.yaml, pass_threshold: 0.70}
  evaluators: []
  composite: {gate_weight: 0.50, judge_weight: 0.30, interaction_weight: 0.20}
tool_matrix: [{tool: docs, models: [m]}, {tool: mine}]
run: {timeout_secs: 300, max_turns: 20}
trials: {min: 3, max: 10}
minimum_steps: 3
serial: true
purpose: capability
source: incident 2026-04-12
deterministic: false
tags: [smoke, "on"]
tier: 2
cost: {max_usd: null, cache: false}
"""


def test_every_key_of_both_files_arrives(load: Load) -> None:
    suite = load(
        {
            "tidegate.yaml": EVERY_SUITE_KEY,
            "more/deep/organize.yaml": EVERY_SCENARIO_KEY,
            "fixtures/tasks/": None,
        },
        environ={"TOKEN": "t0k"},
    )

    mine = {"type": "command", "command": "my-agent {prompt_file}", "output": "events", "stdin": "prompt"}
    common = {"env": {"KEY": "value"}, "timeout_secs": 60, "max_turns": 9, "deterministic": True, "weight": 2}
    assert suite.agents == {
        "docs": DocFollower(type="doc-follower"),
        "fake": Scripted.model_validate(
            {
                "type": "scripted",
                "seed": 7,
                "steps": {"first": ["taskmgr add a", {"run": "taskmgr list", "probability": 0.9}]},
            }
        ),
        "mine:large": CommandAgent.model_validate({**mine, **common, "model": "large"}),
        "mine:small": CommandAgent.model_validate({**mine, **common, "model": "small"}),
    }
    assert suite.scenarios[1] == Scenario(
        name="task_manager_organize",
        description="Organize tasks.",
        file="more/deep/organize.yaml",
        template="fixtures/tasks",
        target=Target(
            binary="taskmgr2",
            command_pattern=r"taskmgr\s+(\S+)",
            health_check="taskmgr2 --version",
            env={"A": "own-${TOKEN}", "B": "x", "C": "$HOME"},
            ok_statuses=(0, 1),
        ),
        prompt="Tidy up.",
        steps=("taskmgr list", ScriptedStep(call="add", input={"title": "a"})),
        max_turns=30,
        timeout_secs=300,
        setup=("taskmgr init",),
        post=(Script(command="taskmgr export", timeout_secs=31), Script(command="date", timeout_secs=30)),
        evaluator_scripts=(EvaluatorScript(command="./quality.sh", name="quality", timeout_secs=60),),
        gates=(
            CommandJsonPath(
                type="command_json_path",
                command="taskmgr export",
                path="$.tasks",
                assertion="len == 2",
                description="d",
            ),
            NoTranscriptErrors(type="no_transcript_errors"),
        ),
        composite=Composite(gate_weight=0.5, judge_weight=0.3, interaction_weight=0.2),
        tool_matrix=(ToolMatrixEntry(tool="docs", models=("m",)), ToolMatrixEntry(tool="mine")),
        trials=TrialCounts(min=3, max=10),
        minimum_steps=3,
        serial=True,
        purpose="capability",
        source="incident 2026-04-12",
        deterministic=False,
        tags=("smoke", "on"),
        tier=2,
        cache=False,
    )
    assert suite.model_copy(update={"agents": {}, "scenarios": ()}) == Suite(
        file="tidegate.yaml",
        watch=("src/**",),
        guidance=("AGENTS.md",),
        build=("make",),
        path=("bin",),
        agents={},
        scenarios=(),
        trials=TrialCounts(min=2, max=12),
        jobs=4,
        budget=Budget(minutes=10, trials=100),
        policy=Policy(
            preset="quick",
            alpha=0.05,
            mode="advisory",
            fail_fast=False,
            block=("regressed", "unconfirmed", "not_measured", "inconclusive"),
            agents=("docs", "mine", "mine:small", "docs:m"),
            suite="off",
            rules="block",
        ),
        limits=Limits(output_mb=1, memory_mb=2, processes=3, files=4),
        pass_env=("TOKEN",),
        prices={"large": Price(input=3, output=15, cache_read=0.3, cache_write=3.75)},
        diagnosis=Diagnosis(error_rate=0.1, help=1, retry_rate=0.2, commands_ratio=2),
        report_hide=("cost", "judge"),
    )


def test_the_least_files_give_the_defaults_of_the_model(load: Load) -> None:
    suite = load({})

    scenario = Scenario(
        name="first",
        description="The first.",
        file="scenarios/first.yaml",
        target=Target(binary="taskmgr"),
        prompt="List the tasks.",
    )
    assert suite == Suite(agents={"docs": DocFollower(type="doc-follower")}, scenarios=(scenario,))


def test_what_was_loaded_survives_json(load: Load) -> None:
    """Gates and agents keep their own fields when the suite is written down, since hashes are made of that."""
    dumped = load(
        {"tidegate.yaml": EVERY_SUITE_KEY, "more/x.yaml": EVERY_SCENARIO_KEY, "fixtures/tasks/": None},
        environ={"TOKEN": "t"},
    ).model_dump(mode="json")

    assert dumped["scenarios"][1]["gates"][0]["assertion"] == "len == 2"
    assert dumped["agents"]["mine:small"]["command"] == "my-agent {prompt_file}"


def test_target_from_config_and_no_target_at_all_are_the_suites(load: Load) -> None:
    suite_file = "version: 1\nscenarios: [scenarios/*.yaml]\ntarget: {binary: shared, env: {A: x}}\n"
    body = "description: d\ntask: t\n"

    suite = load(
        {
            "tidegate.yaml": suite_file,
            "scenarios/first.yaml": f"name: a\n{body}target: from_config\n",
            "scenarios/second.yaml": f"name: b\n{body}",
            "scenarios/third.yaml": f"name: c\n{body}target: {{health_check: h}}\n",
        }
    )

    shared = Target(binary="shared", env={"A": "x"})
    assert [scenario.target for scenario in suite.scenarios] == [
        shared,
        shared,
        shared.model_copy(update={"health_check": "h"}),
    ]


def test_the_nearest_max_turns_wins(load: Load) -> None:
    body = "description: d\ntarget: {binary: t}\nrun: {max_turns: 5}\n"
    suite = load(
        {
            "scenarios/first.yaml": f"name: a\n{body}task: {{prompt: p, max_turns: 3}}\n",
            "scenarios/second.yaml": f"name: b\n{body}task: p\n",
        }
    )

    assert [scenario.max_turns for scenario in suite.scenarios] == [3, 5]


def test_scenarios_keep_the_order_of_the_globs_and_count_once(load: Load) -> None:
    body = "description: d\ntarget: {binary: t}\ntask: p\n"
    suite = load(
        {
            "tidegate.yaml": "version: 1\nscenarios: [scenarios/z.yaml, '*.yaml', 'scenarios/*.yaml']\n",
            "scenarios/z.yaml": f"name: z\n{body}",
            "top.yaml": f"name: top\n{body}",
            "scenarios/b.yaml": f"name: b\n{body}",
            ".tidegate/runs/scenarios/old.yaml": "not: read\n",
        }
    )

    assert [scenario.name for scenario in suite.scenarios] == ["z", "top", "b", "first"]


@pytest.mark.parametrize(
    ("folders", "named", "found"),
    [
        ((), False, None),
        (("scenarios/first/",), False, "scenarios/first"),
        (("scenarios/t/", "fixtures/t/", "t/"), True, "scenarios/t"),
        (("llm-test-fixtures/templates/t/", "fixtures/t/", "t/"), True, "llm-test-fixtures/templates/t"),
        (("fixtures/t/", "t/"), True, "fixtures/t"),
        (("t/",), True, "t"),
    ],
)
def test_the_order_in_which_a_template_is_looked_up(
    load: Load, folders: tuple[str, ...], named: bool, found: str | None
) -> None:
    scenario = "name: first\ndescription: d\ntarget: {binary: t}\ntask: p\n" + "template_folder: t\n" * named

    suite = load({"scenarios/first.yaml": scenario, **dict.fromkeys(folders)})

    assert suite.scenarios[0].template == found


def test_a_template_beside_the_scenarios_folder(load: Load) -> None:
    scenario = "name: first\ndescription: d\ntarget: {binary: t}\ntask: p\ntemplate_folder: ../shared/t\n"

    assert load({"scenarios/first.yaml": scenario, "shared/t/": None}).scenarios[0].template == "shared/t"


def test_anchors_and_merge_keys_save_repetition(load: Load) -> None:
    scenario = (
        "name: first\ndescription: d\ntarget: {binary: t}\ntask: p\ngates:\n"
        "  - &list {type: command_output_contains, command: t list, substring: a}\n"
        "  - {<<: *list, substring: b}\n  - *list\n"
    )

    gates = load({"scenarios/first.yaml": scenario}).scenarios[0].gates

    assert [gate.model_dump()["substring"] for gate in gates] == ["a", "b", "a"]


def test_a_suite_is_the_same_from_any_folder(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = load({"scenarios/first/": None})
    monkeypatch.chdir(tmp_path)

    assert load_suite(Path(), environ={}) == suite
    tmp_path.rename(tmp_path.with_name("moved"))
    assert load_suite(tmp_path.with_name("moved"), environ={}) == suite


def test_base_may_have_no_suite_or_a_broken_one(load: Load, tmp_path: Path) -> None:
    assert try_load_suite(tmp_path, environ={}) == (None, ("base has no tidegate.yaml: head's is used",))

    suite = load({})
    assert try_load_suite(tmp_path, environ={}) == (suite, ())

    (tmp_path / "tidegate.yaml").write_text("version: 1\nscenarios: x\n")
    nothing, (warning,) = try_load_suite(tmp_path, environ={})
    assert nothing is None
    assert "tidegate.yaml:2:12: scenarios: must be a list" in warning


def test_a_name_that_two_files_have_is_said_once(load: Load) -> None:
    body = "name: a\ndescription: d\ntarget: {binary: t}\ntask: p\n"
    with pytest.raises(ConfigurationError) as caught:
        load({"tidegate.yaml": "version: 1\nscenarios: [s/*.yaml]\n", "s/a.yaml": body, "s/b.yaml": body})

    assert caught.value.message.splitlines() == ["s/b.yaml:1:7: name: `a` is already the name of s/a.yaml:1"]


def test_a_file_is_not_held_once_its_scenario_is_assembled(tmp_path: Path) -> None:
    """As YAML with positions, a file takes ten times the memory of its scenario."""
    count = 200
    gates = "".join(f"    - {{type: file_contains, path: a{n}.txt, substring: text {n}}}\n" for n in range(10))
    (tmp_path / "tidegate.yaml").write_text("version: 1\nscenarios: [s*.yaml]\n")
    for number in range(count):
        head = f"name: s{number}\ndescription: d\ntarget: {{binary: tool}}\ntask: Work.\n"
        (tmp_path / f"s{number}.yaml").write_text(f"{head}evaluation:\n  gates:\n{gates}")
    tracemalloc.start()
    try:
        suite = load_suite(tmp_path, environ={})
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(suite.scenarios) == count
    assert most - kept < count * 8_000


def test_a_scenario_may_have_no_target(load: Load) -> None:
    """For agents that use only their own tools, as the cases of eval files; doc-follower has to call one."""
    files = {
        "tidegate.yaml": "version: 1\nscenarios: [scenarios/*.yaml]\nagents: {claude: {type: claude-code}}\n",
        "scenarios/first.yaml": "name: first\ndescription: d\ntask: Write x.\n"
        "evaluation: {gates: [{type: file_exists, path: x}]}\n",
    }
    assert load(files).scenarios[0].target.binary == ""
    with pytest.raises(ConfigurationError, match="target: is required: the agent `docs`"):
        load(files | {"tidegate.yaml": "version: 1\nscenarios: [scenarios/*.yaml]\n"})


def test_a_scenario_with_a_mistake_is_not_missed_by_an_agents_steps(tmp_path: Path) -> None:
    scenario = "name: NAME\ndescription: d\ntarget: {binary: t}\ntask: w\n"
    scenario += "evaluation: {gates: [{type: file_exists, path: x}]}\n"
    agents = "agents: {fake: {type: scripted, steps: {a: [x], b: [y]}}}\n"
    (tmp_path / "tidegate.yaml").write_text(f"version: 1\nscenarios: [a.yaml, b.yaml]\n{agents}")
    (tmp_path / "a.yaml").write_text(scenario.replace("NAME", "a"))
    (tmp_path / "b.yaml").write_text(scenario.replace("NAME", "b") + "gates: [{type: file_exists, path: y}]\n")

    with pytest.raises(ConfigurationError) as error:
        load_suite(tmp_path, environ={})

    assert error.value.message == "b.yaml:6:1: gates: occur twice: `evaluation.gates` has them, too"
