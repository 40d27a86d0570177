"""Every mistake is one line that says where it is, which key, what is wrong, and what may have been meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tidegate.agents import AGENTS
from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.model.suite import Suite

SUITE = "version: 1\nscenarios: [scenarios/*.yaml]\n"
SCENARIO = "name: first\ndescription: The first.\ntarget: {binary: taskmgr}\ntask: List the tasks.\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 10)}]\n" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)

# What is appended to the valid suite file (two lines) → the one line that is said.
TYPES = [*AGENTS.members]
IN_THE_SUITE = {
    "scenarois: [x]": "3:1: scenarois: unknown key (did you mean `scenarios`?)",
    "build: make": "3:8: build: must be a list",
    "trials: {min: '3'}": "3:15: trials.min: must be a whole number",
    "trials: {min: 0}": "3:15: trials.min: must be at least 1",
    "trials: {min: 5, max: 3}": "3:15: trials.min: `min` (5) is larger than `max` (3)",
    "limits:": "3:8: limits: must be a mapping",
    "policy: {preset: standart}": "3:18: policy.preset: must be one of quick, standard, thorough "
    "(did you mean `standard`?)",
    "policy: {agents: [dosc]}": "3:19: policy.agents[0]: the suite has no agent `dosc` (did you mean `docs`?)",
    "agents: {}": "3:9: agents: must not be empty",
    "agents: {a: 5}": "3:13: agents.a: must be a mapping",
    "agents: {a: {}}": "3:10: agents.a.type: is required",
    "agents: {a: {type: dok-follower}}": "3:20: agents.a.type: unknown type `dok-follower` "
    "(did you mean `doc-follower`?)",
    "agents: {a: {type: zzz}}": "3:20: agents.a.type: unknown type `zzz` (one of " + ", ".join(TYPES) + ")",
    "agents: {a: {type: scripted, steps: {first: [5]}}}": "3:46: agents.a.steps.first[0]: must be text or a mapping",
    "agents: {a: {type: scripted, steps: {first: [{run: x, probability: 2}]}}}": "3:68: "
    "agents.a.steps.first[0].probability: must be at most 1",
    "agents: {a: {type: doc-follower, models: x}}": "3:34: agents.a.models: must be a list of different model names, "
    "without `model` beside it",
    "agents: {a: {type: doc-follower, models: [m, n], timeout_secs: 0}}": "3:64: agents.a.timeout_secs: "
    "must be greater than 0",
    "agents: {'a:b': {type: doc-follower}}": "3:10: agents.a:b: a name must not contain a colon",
    "pass_env: [GITHUB_TOKEN]": "3:12: pass_env[0]: never reaches a trial, since it steers the workflow",
    "pass_env: [GIT_CONFIG_COUNT]": "3:12: pass_env[0]: changes how programs are run; `target.env` can set it for the "
    "tool",
    "path: [../bin]": "3:8: path[0]: must stay in the repository: a relative path without `..`",
    "target: {command_pattern: '('}": "3:27: target.command_pattern: is not a regular expression: "
    "missing ), unterminated subpattern at position 0",
    "version: 1": "3:1: the key `version` occurs twice (first in line 1)",
    "on: x": '3:1: YAML reads the key `on` as true; quote it: "on"',
    "1: x": '3:1: a key must be text; quote it: "1"',
    "? [a]\n: x": "3:3: a key must be text, not a list or a mapping",
    "judge: !!python/name:os.system x": "3:8: the tag !!python/name:os.system is not allowed here",
    "trials: {min: 0b_}": "3:15: is not a number; quote it if it is text",
    "trials: {min: .inf}": "3:15: is a number too large, or not finite; quote it if it is text",
    "x: *nowhere": "3:4: is not YAML: found undefined alias",
    "x: &x [*x]": "3:4: is nested more than 50 levels deep",
    f"x: {'[' * 60}{']' * 60}": "3:53: is nested more than 50 levels deep",
    BOMB: "3:11: holds too many values (aliases count as what they stand for)",
    "---\nversion: 1": "3:1: is not YAML: expected a single document in the stream; but found another document",
}

NOT_YET = {
    "judge: {type: oracle, model: m}": (
        "3:15: judge.type: unknown type `oracle` (one of anthropic, command, google, openai, scripted)"
    ),
    "judge: {type: command, command: x, modle: m}": "3:36: judge.modle: unknown key (did you mean `model`?)",
    "store: {type: branch, name: a..b}": "3:29: store.name: is not a branch name",
    "report: {comment: always}": "3:10: report.comment: unknown key (did you mean `comment_template`?)",
    "report: {comment_template: a.j2, hide: [cost]}": "3:40: report.hide: goes without `comment_template`: write empty "
    "blocks into the template",
    "policy: {suite: off}": "3:17: policy.suite: must be one of off, warn, block; "
    'YAML reads off as false, so quote it: "off"',
    "agents: {a: {type: anthropic, model: m, max_usd: 1}}": "3:50: agents.a.max_usd: needs `prices` for m, "
    "to compute its cost",
}

WHOLE_SUITES: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", ":1:1: is empty"),
    "nothing but a comment": ("# only\n", ":1:1: is empty"),
    "a list": ("- a\n", ":1:1: must be a mapping (`key: value` lines)"),
    "no list of scenarios": ("version: 1\n", ":1:1: scenarios: is required"),
    "a later version": ("version: 2\nscenarios: []\n", ":1:10: version: must be 1"),
    "a version that is true": ("version: yes\nscenarios: []\n", ":1:10: version: must be a whole number"),
    "scenarios that are text": ("version: 1\nscenarios: x\n", ":2:12: scenarios: must be a list"),
    "a glob without match": ("version: 1\nscenarios: [no/*.yml]\n", ":2:13: scenarios[0]: `no/*.yml` matches no file"),
    "a glob that leaves": (
        "version: 1\nscenarios: [../x]\n",
        ":2:13: scenarios[0]: `../x` must stay in the repository: a relative glob without `..`",
    ),
    "an empty glob": ("version: 1\nscenarios: ['']\n", ":2:13: scenarios[0]: must not be empty"),
    "bytes that are no text": (b"version: \xff\n", ": is not UTF-8 text (byte 0xff at 9)"),
    "a control character": (
        "version: 1\x01\n",
        ": is not YAML: unacceptable character #x0001: control characters are not allowed",
    ),
    "a huge file": ("a: " + "x" * 1_000_000, ": is larger than 1,000,000 bytes"),
}

# What is appended to the valid scenario file (four lines) → the one line that is said.
TARGETS = {
    "{binary: x, mcp: {command: y}}": "3:21: target.mcp: cannot be combined with `binary`: a target is one of them",
    "{mcp: {name: y}}": "3:15: target.mcp: needs `command`, or the `url` of a server that already runs",
    "{mcp: {command: y, url: 'http://a.org/mcp'}}": "3:15: target.mcp: with `command`, `url` must be "
    "`http://127.0.0.1:{port}/…`: each trial has a port of its own",
    "{mcp: {url: 'a.org/mcp'}}": "3:21: target.mcp.url: must be a URL: `https://HOST/PATH`",
    "{mcp: {command: y, headers: {A: b}}}": "3:15: target.mcp: `headers` and `oauth` need a `url`",
    "{mcp: {url: 'https://a.org', headers: {A: '${NONE}'}}}": "3:1: target: is an MCP server, and the agent `docs` "
    "(doc-follower) can call none; choose agents by `tool_matrix`\nscenarios/first.yaml:3:9: target: `mcp` refers to "
    "${NONE}, which is not set in the environment",
    "{mcp: {url: 'https://a.org', headers: {A: '${GITHUB_TOKEN}'}}}": "3:51: target.mcp.headers.A: never reaches a "
    "trial, since it steers the workflow",
    "{mcp: {command: y, name: a_b}}": "3:34: target.mcp.name: must be letters, digits and dashes, 32 at most: "
    "agents make it a part of the tools' names",
    "{mcp: {command: y}}": "3:1: target: is an MCP server, and the agent `docs` (doc-follower) can call none; "
    "choose agents by `tool_matrix`",
}

IN_A_SCENARIO = {
    "tsak: x": "5:1: tsak: unknown key (did you mean `task`?)",
    "gates: [{type: command_sucseeds}]": "5:16: gates[0].type: unknown type `command_sucseeds` "
    "(did you mean `command_succeeds`?)",
    "gates: [{}]": "5:9: gates[0].type: is required",
    "gates: [{type: command_succeeds, command: x, path: y}]": "5:46: gates[0].path: unknown key",
    "evaluation: {gates: [{type: script, command: ' ', description: d}]}": "5:46: evaluation.gates[0].command: "
    "must not be empty",
    "gates: [{type: file_exists, path: ../x}]": "5:35: gates[0].path: leaves the workspace: '../x'",
    "gates: [{type: file_matches, path: x, pattern: '('}]": "5:48: gates[0].pattern: is not a regular expression: "
    "missing ), unterminated subpattern at position 0",
    "gates: [{type: command_json_path, command: x, path: '$[', assertion: exists}]": "5:53: gates[0].path: "
    "is not a JSONPath: Parse error near the end of string!",
    "gates: [{type: command_exits, command: x, status: 256}]": "5:51: gates[0].status: must be at most 255 or a list",
    "gates: []\nevaluation: {gates: []}": "5:1: gates: occur twice: `evaluation.gates` has them, too",
    "template_folder: nope": "5:18: template_folder: no such folder in the repository "
    "(looked for scenarios/nope, llm-test-fixtures/templates/nope, fixtures/nope, nope)",
    "template_folder: ..": "5:18: template_folder: must be a folder in the repository, not the repository itself",
    "template_folder: ../../../etc": "5:18: template_folder: no such folder in the repository "
    "(looked for ../../../etc)",
    "tags: [1]": "5:8: tags[0]: must be text; put it in quotes",
    "tags: [null]": "5:8: tags[0]: must be text, but nothing is here",
    "tool_matrix: [{tool: dosc}]": "5:22: tool_matrix[0].tool: the suite has no agent `dosc` (did you mean `docs`?)",
    "evaluation: {judge: {enabled: true}}": "5:21: evaluation.judge: needs a `rubric`: a file next to the scenario, "
    "or builtin:guidance",
    "evaluation: {judge: {rubric: gone.yaml}}": "5:30: evaluation.judge.rubric: no such file in the repository "
    "(looked for scenarios/gone.yaml, gone.yaml)",
    "evaluation: {judge: {rubric: builtin:guide}}": "5:30: evaluation.judge.rubric: there is no `builtin:guide`; "
    "there is builtin:guidance",
    "evaluation: {composite: {}}": "5:25: evaluation.composite: needs a weight above 0",
    "trials: {min: 5, max: 2}": "5:15: trials.min: `min` (5) is larger than `max` (2)",
}

# The same for evaluators: what stands in the list → the beginning of what is said.
EVALUATORS = {
    "{type: rubrics}": ".rubrics: is required",
    "{type: rubrics, rubrics: []}": ".rubrics: must not be empty",
    "{type: rubrics, rubrics: [{id: a, description: x}, {id: a, description: y}]}": ": two of its rubrics have",
    "{type: llm_judge, prompt: gone.md}": ".prompt: no such file in the repository",
    "{type: tool_trajektory}": ".type: unknown type `tool_trajektory` (did you mean",
    "{type: tool_f1, expected: []}": ".expected: must not be empty",
    "{type: tool_f1, expectd: [a]}": ".expectd: unknown key (did you mean `expected`?)",
    "{type: tool_f1, expected: [a], weihgt: 1}": ".weihgt: unknown key (did you mean `weight`?)",
    "{type: tool_f1, expected: [a], weight: -1}": ".weight: must be at least 0",
    "{type: tool_trajectory, mode: sorted}": ".mode: must be one of any_order, in_order, exact",
    "{type: tool_trajectory, mode: exact}": ": mode exact needs `expected`: an empty expectation",
    "{type: composite, evaluators: [{type: tool_f1, expected: [a], x: 1}]}": ".evaluators[0].x: unknown",
    "{type: code_judge, script: x, cwd: nowhere}": ".cwd: no such folder in the repository (looked for",
    "{type: parameters, schemas: {a: nope.json}}": ".schemas.a: no such file in the repository (looked",
    "{type: plan, from: nowhere, expected: [a]}": ".from: must be one of first_message, file, field",
}

# What a part of the valid scenario file is replaced with → the one line that is said.
REPLACED = {
    ("name: first", "name: yes"): '1:7: name: must be text; YAML reads yes as true, so quote it: "yes"',
    ("name: first", "name: 12"): "1:7: name: must be text; put it in quotes",
    ("name: first", 'name: "a\\nb"'): "1:7: name: must be one line without spaces around it",
    ("name: first", "name: " + "x" * 201): "1:7: name: is too long for the name of a folder",
    ("name: first\n", ""): "1:1: name: is required",
    (
        "target: {binary: taskmgr}\n",
        "",
    ): "1:1: target: is required: the agent `docs` (doc-follower) runs the instructions that call a tool",
    ("{binary: taskmgr}", "5"): "3:9: target: must be text or a mapping",
    ("{binary: taskmgr}", "from_config"): "3:9: target: `from_config`, but tidegate.yaml has no `target`",
    ("{binary: taskmgr}", "form_config"): "3:9: target: must be from_config (did you mean `from_config`?)",
    ("{binary: taskmgr}", "{}"): "3:1: target.binary: is required (here, or in tidegate.yaml's `target`)",
    ("{binary: taskmgr}", "{binary: t, env: {A: '${HOME}'}}"): "3:30: target.env.A: ${HOME} is not in "
    "tidegate.yaml's `pass_env`",
    ("{binary: taskmgr}", "{binary: t, env: {A: 5}}"): "3:30: target.env.A: must be text; put it in quotes",
    ("{binary: taskmgr}", "{binary: t, env: {A-B: x}}"): "3:27: target.env.A-B: must be the name of a variable: "
    "letters, digits and underscores",
    ("List the tasks.", "[]"): "4:7: task: must be text or a mapping",
    ("List the tasks.", "''"): "4:7: task: must not be empty",
    ("List the tasks.", "{max_turns: 3}"): "4:1: task.prompt: is required",
    ("List the tasks.", '"a\\0b"'): "4:7: must not hold a NUL character",
}

Load = Callable[..., Suite]


def said(load: Load, files: dict[str, str | bytes | None], environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(files, environ)
    return caught.value.message


@pytest.mark.parametrize(("text", "line"), (IN_THE_SUITE | NOT_YET).items())
def test_a_mistake_in_the_suite_file(load: Load, text: str, line: str) -> None:
    assert said(load, {"tidegate.yaml": f"{SUITE}{text}\n"}) == f"tidegate.yaml:{line}"


@pytest.mark.parametrize(("content", "line"), WHOLE_SUITES.values(), ids=WHOLE_SUITES)
def test_a_suite_file_that_is_no_suite(load: Load, content: str | bytes, line: str) -> None:
    assert said(load, {"tidegate.yaml": content}) == f"tidegate.yaml{line}"


@pytest.mark.parametrize(("text", "line"), IN_A_SCENARIO.items())
def test_a_mistake_in_a_scenario_file(load: Load, text: str, line: str) -> None:
    assert said(load, {"scenarios/first.yaml": f"{SCENARIO}{text}\n"}) == f"scenarios/first.yaml:{line}"


def test_a_model_that_its_agent_cannot_run_is_located(load: Load) -> None:
    """A model in `tool_matrix` is checked like `model` in the suite file."""
    suite = SUITE + "agents: {code: {type: opencode, model: openai/gpt-5}}"
    matrix = "tool_matrix: [{tool: code, models: [openai/gpt-5, gpt-5]}, {tool: code, models: [zai/glm-5]}]"
    why = "must be PROVIDER/MODEL, with one of anthropic, openai, google, amazon-bedrock"
    assert said(load, {"tidegate.yaml": suite, "scenarios/first.yaml": f"{SCENARIO}{matrix}\n"}).splitlines() == [
        f"scenarios/first.yaml:5:51: tool_matrix[0].models[1]: does not fit the agent `code`: {why}",
        f"scenarios/first.yaml:5:82: tool_matrix[1].models[0]: does not fit the agent `code`: {why}",
    ]


def test_two_evaluators_of_one_name_are_an_error(load: Load) -> None:
    """Reports tell evaluators apart by name; unnamed ones are named like their type."""
    written = "evaluation: {evaluators: [{type: tool_f1, expected: [a]}, {type: tool_f1, expected: [b]}, "
    written += "{type: plan, name: tool_f1, from: first_message, expected: [a]}]}"
    what = "two evaluators are named `tool_f1`; give each a different `name`"
    assert said(load, {"scenarios/first.yaml": f"{SCENARIO}{written}\n"}).splitlines() == [
        f"scenarios/first.yaml:5:59: evaluation.evaluators[1]: {what}",
        f"scenarios/first.yaml:5:110: evaluation.evaluators[2].name: {what}",
    ]


@pytest.mark.parametrize(("text", "line"), TARGETS.items())
def test_a_mistake_in_a_target(load: Load, text: str, line: str) -> None:
    written = f"name: first\ndescription: d\ntarget: {text}\ntask: t\n"
    assert said(load, {"scenarios/first.yaml": written}) == f"scenarios/first.yaml:{line}"


@pytest.mark.parametrize(("text", "line"), EVALUATORS.items())
def test_a_mistake_in_an_evaluator(load: Load, text: str, line: str) -> None:
    written = f"{SCENARIO}evaluation: {{evaluators: [{text}]}}\n"
    lines = said(load, {"scenarios/first.yaml": written}).splitlines()
    place = r"scenarios/first\.yaml:5:\d+: evaluation\.evaluators\[0\]"
    assert any(re.match(place + re.escape(line), found) for found in lines), lines


@pytest.mark.parametrize(("change", "line"), REPLACED.items())
def test_a_wrong_part_of_a_scenario_file(load: Load, change: tuple[str, str], line: str) -> None:
    assert change[0] in SCENARIO
    assert said(load, {"scenarios/first.yaml": SCENARIO.replace(*change)}) == f"scenarios/first.yaml:{line}"


def test_an_empty_list_of_scenarios_is_nothing_to_run(load: Load) -> None:
    with pytest.raises(NothingToRunError):
        load({"tidegate.yaml": "version: 1\nscenarios: []\n"})


def test_a_missing_suite_file_and_a_folder_in_its_place(load: Load) -> None:
    assert said(load, {"tidegate.yaml": None}) == "tidegate.yaml: no such file"
    assert said(load, {"tidegate.yaml": None, "tidegate.yaml/": None}) == "tidegate.yaml: is not a regular file"


def test_every_mistake_of_every_file_is_said_at_once_and_in_order(load: Load) -> None:
    files: dict[str, str | bytes | None] = {
        "tidegate.yaml": SUITE + "x: 1\nbuild: make\npass_env: [TOKEN]\n",
        "scenarios/first.yaml": SCENARIO + "tier: one\nname: again\n",
        "scenarios/a.yaml": "name: [\n",
        "scenarios/b.yaml": SCENARIO + "template_folder: nope\n",
    }

    assert said(load, files).splitlines() == [
        "tidegate.yaml:3:1: x: unknown key",
        "tidegate.yaml:4:8: build: must be a list",
        "scenarios/a.yaml:2:1: is not YAML: while parsing a flow node; did not find expected node content",
        "scenarios/first.yaml:1:7: name: `first` is already the name of scenarios/b.yaml:1",
        "scenarios/first.yaml:5:7: tier: must be a whole number",
        "scenarios/first.yaml:6:1: the key `name` occurs twice (first in line 1)",
    ]


@pytest.mark.parametrize("text", ["- a\n", "a\n", "", "name: [\n", "name: 5\n'': 1\na.b: 2\n"])
def test_of_a_file_that_is_no_scenario_at_all_nothing_else_is_said(load: Load, text: str) -> None:
    lines = said(load, {"scenarios/first.yaml": text}).splitlines()
    assert all(line.startswith("scenarios/first.yaml") for line in lines)


def test_references_are_checked_across_files(load: Load) -> None:
    """With a valid suite file, what scenarios need of it is checked, also beside broken scenarios."""
    env = SCENARIO.replace("first", "env").replace("taskmgr", "t, env: {A: '${TOKEN}', B: '${TOKNE}'}")
    files: dict[str, str | bytes | None] = {
        "tidegate.yaml": SUITE + "pass_env: [TOKEN]\npolicy: {agents: [docs, mine]}\n",
        "scenarios/env.yaml": env,
        "scenarios/first.yaml": "name: first\n",
    }

    assert said(load, files).splitlines() == [
        "tidegate.yaml:4:25: policy.agents[1]: the suite has no agent `mine`",
        "scenarios/env.yaml:3:30: target.env.A: ${TOKEN} is not set in the environment",
        "scenarios/env.yaml:3:45: target.env.B: ${TOKNE} is not in tidegate.yaml's `pass_env` (did you mean `TOKEN`?)",
        "scenarios/first.yaml:1:1: description: is required",
        "scenarios/first.yaml:1:1: task: is required",
    ]


def test_what_is_wrong_in_the_suites_target_is_said_once_for_all_scenarios(load: Load) -> None:
    files: dict[str, str | bytes | None] = {
        "tidegate.yaml": SUITE + "target: {binary: t, env: {A: '${HOME}'}}\n",
        "scenarios/second.yaml": SCENARIO.replace("first", "second"),
    }

    assert said(load, files) == "tidegate.yaml:3:30: target.env.A: ${HOME} is not in tidegate.yaml's `pass_env`"


def test_a_scenarios_counts_of_trials_have_to_fit_the_suites(load: Load) -> None:
    files: dict[str, str | bytes | None] = {
        "tidegate.yaml": SUITE + "trials: {min: 2, max: 4}\n",
        "scenarios/first.yaml": SCENARIO + "trials: {min: 5}\n",
        "scenarios/second.yaml": SCENARIO.replace("first", "second") + "trials: {max: 1}\n",
    }

    assert said(load, files).splitlines() == [
        "scenarios/first.yaml:5:15: trials.min: `min` (5) is larger than `max` (4)",
        "scenarios/second.yaml:5:15: trials.max: `min` (2) is larger than `max` (1)",
    ]


def test_a_secret_is_never_repeated(load: Load) -> None:
    """Values of the environment, and values of the wrong type, stay out of the message."""
    scenario = SCENARIO.replace("taskmgr", "t, env: {A: '${TOKEN}', B: 424242, C: [hush]}") + "tier: hush\n"
    suite = SUITE + "pass_env: [TOKEN]\nagents: {a: {type: command, command: x, env: {KEY: 424242}}}\n"

    message = said(load, {"tidegate.yaml": suite, "scenarios/first.yaml": scenario}, {"TOKEN": "hush"})

    assert len(message.splitlines()) == 4
    assert "hush" not in message
    assert "424242" not in message


def test_a_link_that_leaves_the_repository_is_refused(load: Load, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "x.yaml").write_text(SCENARIO)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "linked").symlink_to(outside)
    (tmp_path / "scenarios" / "linked.yaml").symlink_to(outside / "x.yaml")

    assert said(load, {}) == (
        "tidegate.yaml:2:13: scenarios[0]: `scenarios/*.yaml` matches scenarios/linked.yaml, "
        "a link that leaves the repository"
    )
    (tmp_path / "scenarios" / "linked.yaml").unlink()
    assert "5:18: template_folder: no such folder in the repository" in said(
        load, {"scenarios/first.yaml": SCENARIO + "template_folder: linked\n"}
    )
    (tmp_path / "scenarios" / "first").mkdir()
    (tmp_path / "scenarios" / "first" / "initial-state").symlink_to(outside)
    assert said(load, {"scenarios/first.yaml": SCENARIO}) == (
        "scenarios/first.yaml:1:1: template_folder: scenarios/first/initial-state is a link that leaves the repository"
    )


@pytest.mark.parametrize("file", ["tidegate.yaml", "evals/targets.yaml"])
def test_no_file_that_is_read_is_a_link_out_of_the_repository(load: Load, tmp_path: Path, file: str) -> None:
    """What is wrong with it would be told, in a log that everybody can read."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.write_text("token: secret\n")
    (tmp_path / "evals").mkdir()
    (tmp_path / file).symlink_to(outside)
    suite = None if file == "tidegate.yaml" else "version: 1\nscenarios: [evals/a.yaml]\n"
    case = "evalcases: [{id: one, input_messages: [{role: user, content: hi}], target: x}]\n"

    assert f"{file}: leads out of the repository" in said(load, {"tidegate.yaml": suite, "evals/a.yaml": case})
    (tmp_path / file).unlink()
    (tmp_path / file).symlink_to(tmp_path / file)
    assert said(load, {"tidegate.yaml": suite, "evals/a.yaml": case})  # a link without an end


def test_a_flood_of_mistakes_is_cut_off(load: Load) -> None:
    lines = said(load, {"tidegate.yaml": SUITE + "".join(f"key{n}: 1\n" for n in range(20_000))}).splitlines()

    assert lines[0] == "tidegate.yaml: has 20000 problems; these are the first"
    assert len(lines) == 51
