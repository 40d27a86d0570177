"""Eval files of AgentV 1.5: the scenarios they become, and the errors for invalid ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.make import typed
from tidegate.agents.agentv_cli import AgentVBatch, AgentVCli, CommandCheck
from tidegate.agents.anthropic import AnthropicAgent
from tidegate.agents.codex import CodexAgent
from tidegate.agents.command import CommandAgent
from tidegate.agents.gemini import GeminiAgent
from tidegate.agents.providers.keyed import CompatibleProvider
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.checks.evaluators.rubrics import Rubrics
from tidegate.checks.judges.provider import AnthropicJudge, GoogleJudge, OpenAIJudge
from tidegate.errors import ConfigurationError
from tidegate.model.suite import Suite
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan

Load = Callable[..., Suite]
SUITE = "version: 1\nscenarios: [evals/*.yaml]\npass_env: [WORD]\n"
TARGETS = """\
targets:
  - {name: default, provider: cli, command_template: 'agent {PROMPT} > {OUTPUT_FILE}', timeout_seconds: 20}
  - {name: quick, provider: mock, response: "hi ${{ WORD }}"}
  - {name: cloud, provider: azure, endpoint: "${{ NOWHERE }}", judge_target: cloud}
"""
EVALS = """\
$schema: agentv-eval-v2
description: Research.
dataset: research
execution:
  evaluators: [{name: f1, type: tool_f1, expected: [search]}]
evalcases:
  - id: tides
    expected_outcome: Names the moon.
    input_messages:
      - role: system
        content: Be short.
      - role: user
        content:
          - {type: text, value: What makes tides?}
          - {type: file, value: notes.md}
          - {type: file, value: style.instructions.md}
    expected_messages: [{role: assistant, content: {answer: moon}}]
  - id: storms
    outcome: Names the wind.
    execution: {target: quick}
    input_messages: [{role: user, content: {topic: storms}}]
    evaluators: [{name: own, type: code_judge, script: ./judge.py}]
"""
FILES = {
    "tidegate.yaml": SUITE,
    "scenarios/first.yaml": None,
    "evals/research.yaml": EVALS,
    "evals/notes.md": "the notes",
    "style.instructions.md": "the style",
    ".agentv/targets.yaml": TARGETS,
    ".agentv/config.yaml": "$schema: agentv-config-v2\nguideline_patterns: ['*.instructions.md']\n",
}
ENVIRON = {"WORD": "there"}


def test_cases_become_scenarios_with_their_own_agents(load: Load) -> None:
    suite = load(FILES, ENVIRON)
    rows = [(row.key.scenario, row.key.agent) for row in make_plan(suite).rows]
    assert rows == [("research/tides", "default"), ("research/storms", "quick")]
    tides, storms = suite.scenarios
    assert tides.template is None
    assert tides.description == "Names the moon."
    assert tides.case.reference_answer == '{\n  "answer": "moon"\n}'
    assert storms.prompt == '{\n  "topic": "storms"\n}'
    assert storms.case.expected_outcome == "Names the wind."


def test_files_are_guidelines_or_part_of_the_question(load: Load) -> None:
    tides = load(FILES, ENVIRON).scenarios[0]
    assert tides.case.guideline_files == ("style.instructions.md",)
    assert tides.case.input_files == ("evals/notes.md",)
    assert tides.prompt == (
        '<file path="style.instructions.md">\nthe style\n</file>\n\n'
        "@[System]:\nBe short.\n\n"
        '@[User]:\nWhat makes tides?\n<file path="notes.md">\nthe notes\n</file>\n<Attached: style.instructions.md>'
    )


def test_files_of_another_checkout_are_read_if_it_has_them_and_must_be_readable(load: Load, tmp_path: Path) -> None:
    load(FILES, ENVIRON)
    (tmp_path / "other/evals").mkdir(parents=True)
    (tmp_path / "other/evals/notes.md").write_text("other notes")
    tides = load_suite(tmp_path, environ=ENVIRON, texts=tmp_path / "other").scenarios[0]
    assert ("other notes" in tides.prompt, "the style" in tides.prompt) == (True, True)

    (tmp_path / "other/style.instructions.md").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="cannot be read as text"):
        load_suite(tmp_path, environ=ENVIRON, texts=tmp_path / "other")


# The roles and texts of a case's messages → the question, as AgentV 1.5 asks it.
CONVERSATIONS = [
    ([("user", "Debug this.")], "Debug this."),
    ([("user", ["Review", "this."])], "Review\n\nthis."),
    ([("system", "You review code."), ("user", "Look.")], "@[System]:\nYou review code.\n\n@[User]:\nLook."),
    (
        [("user", "Debug."), ("assistant", "Which file?"), ("user", "The last.")],
        "@[User]:\nDebug.\n\n@[Assistant]:\nWhich file?\n\n@[User]:\nThe last.",
    ),
    ([("user", "Go on."), ("assistant", "")], "@[User]:\nGo on."),
]


@pytest.mark.parametrize(("messages", "question"), CONVERSATIONS)
def test_the_roles_of_several_messages_are_told(load: Load, messages: list[Any], question: str) -> None:
    told = [
        {"role": role, "content": said if isinstance(said, str) else [{"type": "text", "value": part} for part in said]}
        for role, said in messages
    ]
    text = "evalcases:\n  - {id: talk, target: default, input_messages: " + json.dumps(told) + "}\n"
    suite = load(FILES | {"evals/research.yaml": text}, ENVIRON)
    assert suite.scenarios[0].prompt == question
    cli = typed(AgentVCli, suite.agents["default"])
    assert cli.cases["evals/research/talk"].question == question


def test_a_command_is_told_the_names_of_files(load: Load) -> None:
    """It gets their paths by {FILES}, and the guidelines by {GUIDELINES}."""
    cli = typed(AgentVCli, load(FILES, ENVIRON).agents["default"])
    assert cli.cases["research/tides"].question == (
        "@[System]:\nBe short.\n\n"
        '@[User]:\nWhat makes tides?\n<file: path="notes.md">\n<Attached: style.instructions.md>'
    )


def test_targets_become_agents(load: Load) -> None:
    agents = load(FILES, ENVIRON).agents
    cli, mock = typed(AgentVCli, agents["default"]), typed(CommandAgent, agents["quick"])
    assert (cli.folder, cli.timeout_secs) == ("evals", 20)
    assert cli.cases["research/tides"].guidelines == '<file path="style.instructions.md">\nthe style\n</file>'
    assert cli.cases["research/tides"].files == ("style.instructions.md", "evals/notes.md")  # guidelines first
    assert mock.command == "printf %s 'hi there'"
    assert "cloud" not in agents  # nobody asks for it, so what is wrong with it is no problem


def test_providers_become_the_agents_of_the_same_name(load: Load) -> None:
    targets = """\
targets:
  - {name: default, provider: codex-cli, model: m, args: [--full-auto], timeout_seconds: 9, log_dir: logs}
  - name: quick
    provider: anthropic
    api_key: ${{ ANTHROPIC_API_KEY }}
    model: ${{ WORD }}
    max_output_tokens: 4000
    thinking_budget: 2000
    max_retries: 3
    retry_status_codes: [500, 429]
"""
    agents = load(FILES | {".agentv/targets.yaml": targets}, ENVIRON).agents
    codex, model = typed(CodexAgent, agents["default"]), typed(AnthropicAgent, agents["quick"])
    assert (codex.model, codex.args, codex.timeout_secs) == ("m", ("--full-auto",), 9)
    assert (model.model, model.max_tokens, model.thinking_budget) == ("there", 4000, 2000)


def test_the_tool_of_tidegate_yaml_is_that_of_all_cases_with_its_environment(load: Load) -> None:
    tool = "target: {binary: notes, health_check: notes --version, env: {MODE: 'a ${WORD}'}}\n"
    for scenario in load(FILES | {"tidegate.yaml": SUITE + tool}, ENVIRON).scenarios:
        assert (scenario.target.binary, scenario.target.env) == ("notes", {"MODE": "a ${WORD}"})
        assert scenario.target.environment(ENVIRON) == {"MODE": "a there"}
    with pytest.raises(ConfigurationError, match=r"tidegate\.yaml:4:\d+: target\.env\.MODE: \$\{WORDS\} is not in"):
        load(FILES | {"tidegate.yaml": SUITE + tool.replace("WORD", "WORDS")}, ENVIRON)


def test_files_of_one_name_are_told_apart_by_their_folders(load: Load) -> None:
    case = "evalcases:\n  - {id: a, target: quick, input_messages: [{role: user, content: x}]}\n"
    files = FILES | {"evals/research.yaml": case, "evals/sea/v1.2.yaml": case, "evals/moon/v1.2.yaml": case}
    suite = load(files | {"tidegate.yaml": SUITE.replace("evals/*.yaml", "evals/**/*.yaml")}, ENVIRON)
    assert {one.name for one in suite.scenarios} == {"evals/research/a", "evals/sea/v1.2/a", "evals/moon/v1.2/a"}


def test_a_target_with_one_worker_runs_alone(load: Load) -> None:
    targets = TARGETS.replace("timeout_seconds: 20", "workers: 1")
    assert load(FILES | {".agentv/targets.yaml": targets}, ENVIRON).agents["default"].weight > 100


def test_a_target_may_run_at_the_root(load: Load) -> None:
    targets = TARGETS.replace("timeout_seconds: 20", "cwd: ..")
    cli = typed(AgentVCli, load(FILES | {".agentv/targets.yaml": targets}, ENVIRON).agents["default"])
    assert cli.folder == "."


def test_batches_and_healthchecks_are_part_of_the_agent(load: Load) -> None:
    targets = TARGETS.replace(
        "timeout_seconds: 20",
        "provider_batching: true, healthcheck: {type: command, command_template: 'up ${{ WORD }}', cwd: evals}",
    )
    agent = typed(AgentVBatch, load(FILES | {".agentv/targets.yaml": targets}, ENVIRON).agents["default"])
    assert agent.health == CommandCheck(type="command", command_template="up there", cwd="evals")


def test_a_cases_own_evaluators_replace_those_of_the_file(load: Load) -> None:
    tides, storms = load(FILES, ENVIRON).scenarios
    assert [evaluator.label for evaluator in tides.evaluators] == ["f1"]
    (own,) = storms.evaluators
    assert typed(CodeJudge, own).cwd == "evals"


def test_an_execution_without_evaluators_keeps_those_of_the_file(load: Load) -> None:
    text = EVALS.replace("    evaluators: [{name: own, type: code_judge, script: ./judge.py}]\n", "")
    storms = load(FILES | {"evals/research.yaml": text}, ENVIRON).scenarios[1]
    assert [evaluator.label for evaluator in storms.evaluators] == ["f1"]


def test_rubrics_of_a_case_stand_in_front_of_its_evaluators(load: Load) -> None:
    text = EVALS.replace("    execution: {target: quick}\n", "    execution: {target: quick}\n    rubrics: [Be nice]\n")
    storms = load(FILES | {"evals/research.yaml": text}, ENVIRON).scenarios[1]
    (first, own), rubrics = storms.evaluators, typed(Rubrics, storms.evaluators[0])
    assert (first.label, first.weight, rubrics.rubrics[0].required, own.label) == ("rubrics", 1, True, "own")


def test_a_case_without_evaluators_is_judged_by_a_model(load: Load) -> None:
    text = EVALS.replace("execution:\n  evaluators: [{name: f1, type: tool_f1, expected: [search]}]\n", "")
    tides = load(FILES | {"evals/research.yaml": text}, ENVIRON).scenarios[0]
    assert [type(evaluator) for evaluator in tides.evaluators] == [LlmJudge]


def test_native_scenarios_beside_them_keep_to_the_agents_of_the_suite(load: Load) -> None:
    files = dict(FILES) | {"tidegate.yaml": SUITE.replace("[evals", "[scenarios/*.yaml, evals")}
    del files["scenarios/first.yaml"]
    rows = [(row.key.scenario, row.key.agent) for row in make_plan(load(files, ENVIRON)).rows]
    assert rows == [("first", "docs"), ("research/tides", "default"), ("research/storms", "quick")]


def test_an_agent_of_the_suite_comes_before_a_target_of_the_same_name(load: Load) -> None:
    own = SUITE + "agents: {quick: {type: command, command: mine}}\n"
    quick = typed(CommandAgent, load(FILES | {"tidegate.yaml": own}, ENVIRON).agents["quick"])
    assert quick.command == "mine"


CASE = "evalcases:\n  - id: a\n    input_messages: [{role: user, content: x}]\n"
F1 = "    evaluators: [{type: tool_f1, expected: [a]}]\n"

# An eval file → a line that is said.
BROKEN = {
    "evalcases: []\n": r":1:12: evalcases: must not be empty",
    "evalcases: 5\n": r":1:12: evalcases: must be a list",
    "evalcases:\n  - {input_messages: [{role: user, content: x}]}\n": r":2:5: evalcases\[0\]\.id: is required",
    "evalcases:\n  - {id: 5, input_messages: [{role: user}]}\n": r":2:10: .*id: must be text; put it",
    "evalcases:\n  - {id: a}\n": r":2:5: evalcases\[0\]\.input_messages: is required",
    "evalcases:\n  - {id: a, input_messages: []}\n": r"input_messages: must not be empty",
    "evalcases:\n  - {id: a, input_messages: [{role: usr, content: x}]}\n": r"role: must be one of .*mean `user`",
    "evalcases:\n  - {id: a, input_messages: [{role: user, content: 5}]}\n": r"content: must be ",
    "evalcases:\n  - {id: a, input_messages: [{role: user, content: [{type: txt}]}]}\n": r"must be one of text, file",
    CASE + "    evaluators: [{type: code_juge, name: x, script: a}]\n": r"unknown type .* mean `code_judge`\?\)",
    CASE + F1 + "foo: 1\n": r":5:1: foo: unknown key",
    CASE + F1 + "    expected_outcom: x\n": r":5:5: .*unknown key \(did you mean `expected_outcome`\?\)",
    CASE + F1 + "    rubrics: [{id: a, weight: 2}]\n": r"rubrics\[0\]\.description: is required",
    CASE + F1 + "    rubrics: [{id: rubric-2, description: x}, y]\n": r":5:14: .*two .* the id `rubric-2`",
    CASE + F1 + "    outcome: x\n    expected_outcome: x\n": r"has `outcome` and `expected_outcome`",
    CASE + "    evaluators: [{type: llm_judge, name: x, prompt: p.md}]\n": r":4:53: .*prompt: no such file",
    CASE + F1 + "target: nobody\n": r":5:9: target: there is no target `nobody`",
    CASE + F1 + "execution: {target: qiuck}\n": r":5:21: execution\.target: .*\(did you mean `quick`\?\)",
    CASE + F1 + "target: cloud\n": r"targets\.yaml:4:\d+: targets\[2\]\.endpoint: \$\{NOWHERE\} is not in",
    CASE.replace("content: x", "content: [{type: file, value: no.md}]")
    + F1: r"no such file in the repository \(looked for "
    r"evals/no\.md, no\.md\)",
    CASE + F1 + CASE.partition("\n")[2] + F1: r":5:9: evalcases\[1\]\.id: `evals/broken/a` is already the name of "
    r"evals/broken\.yaml:2$",
    CASE + F1 + "    rubrics: []\n": r":5:14: evalcases\[0\]\.rubrics: must not be empty",
    CASE + F1 + "$schema: agentv-eval-v3\n": r":5:10: \$schema: must be agentv-eval-v2 \(did you mean",
    CASE + F1.replace("]}]", "]}, {type: tool_f1, expected: [b]}]"): r":4:50: .*evaluators\[1\]: two evaluators are "
    r"named `tool_f1`",
    **{
        CASE + F1 + f"    expected_messages: [{{role: assistant, content: [{{type: file, value: {name}}}]}}]\n": line
        for name, line in {
            "gone.md": r":5:73: .*expected_messages\[0\]\.content\[0\]\.value: no such file in the repository \(looked",
            "/etc/passwd": r"expected_messages.*no such file in the repository \(looked for evals/etc/passwd, etc/pass",
            "../../../../etc/passwd": r"expected_messages.*no such file in the repository",
        }.items()
    },
}


@pytest.mark.parametrize(("text", "line"), BROKEN.items())
def test_a_broken_eval_file_is_named_with_its_place(load: Load, text: str, line: str) -> None:
    files = FILES | {"evals/research.yaml": None, "evals/broken.yaml": text}
    with pytest.raises(ConfigurationError) as caught:
        load(files, ENVIRON)
    lines = caught.value.message.splitlines()
    assert any(re.search(line, found) for found in lines), lines
    assert all(re.match(r"(evals/broken\.yaml|\.agentv/targets\.yaml)(:\d+:\d+)?: ", found) for found in lines)
    assert len([found for found in lines if "evalcases: must not be empty" in found]) == (text == "evalcases: []\n")


# The first target → a line that is said.
TARGETS_BROKEN = {
    "{name: default, provider: cli}": r":2:5: targets\[0\]\.command_template: is required",
    "{name: default, provider: cli, command_template: 'x {PROMT}'}": r"\{PROMT\} \(did you mean `PROMPT`",
    "{name: default, provider: cli, command_template: x, cwd: nowhere}": r"targets\[0\]\.cwd: no such folder",
    "{name: default, provider: cli, command_template: x, timeout_seconds: 0}": r"must be greater than 0",
    "{name: default, provider: cli, command_template: x, comand: 1}": r"targets\[0\]\.comand: unknown key",
    "{name: default, provider: cli, command_template: 'x ${{ OTHER }}'}": r"\$\{OTHER\} .*\(target `default`\)",
    "{name: default, provider: cli, command_template: x, workers: 0}": r"workers: must be at least 1",
    "{name: default, provider: mock, provider_batching: true}": r"provider_batching: is only for the provider `cli`",
    "{name: default, provider: cli, command_template: x, healthcheck: {type: ftp}}": r"healthcheck.*`ftp`",
    "{name: default, provider: cli, command_template: x, healthcheck: {type: http}}": r"healthcheck\.url: is required",
    "{name: default, provider: cli, command_template: x, healthcheck: {type: http, url: 'file:///'}}": r"check\.url: ",
    "{name: default, provider: cli, command_template: x, healthcheck: {type: command, command_template: x, cwd: a}}": (
        r"targets\[0\]\.healthcheck\.cwd: no such folder"
    ),
    "{name: default, provider: codex, executable: ./mine}": r"executable: must be codex, found on PATH",
    "{name: default, provider: cli, command_template: x, cwd: /nowhere/evals}": r"targets\[0\]\.cwd: no such folder",
    "{name: default, provider: anthropic}": r"targets\[0\]\.model: is required",
    "{name: default, provider: anthropic, model: m, temperature: 0.5}": r"temperature: ",
    "{name: default, provider: anthropic, model: m, api_key: sk-1}": r"api_key: must name a variable",
    "{name: default, provider: anthropic, model: m, api_key: '${{ X }}'}": r"api_key: must be .* ANTHROPIC_API_KEY",
    "{name: default, provider: anthropic, model: m, thinking_budget: 1}": r"thinking_budget: must be at least 1024",
    "{name: default, provider: azure}": r":2:5: targets\[0\]\.endpoint: is required",
    "{name: default, provider: azure, endpoint: x, model: m, api_key: 1}": r"api_key: must name a variable, such as",
    "{name: default, provider: vscode}": r"unknown provider `vscode`",
    "{name: default, provider: mok}": r"unknown provider `mok` \(did you mean `mock`\?\)",
    "{name: default, provider: clii}": r":2:31: .*unknown provider `clii` \(did you mean `cli`\?\)",
    "{name: default}": r"targets\[0\]\.provider: is required",
}


def test_an_unknown_version_of_the_other_files_is_located(load: Load) -> None:
    for name, known in ((".agentv/targets.yaml", "agentv-targets-v2.2"), (".agentv/config.yaml", "agentv-config-v2")):
        text = str(FILES[name]).replace(f"$schema: {known}\n", "") + f"$schema: {known[:-1]}9\n"
        with pytest.raises(ConfigurationError, match=rf"{name}:\d+:10: \$schema: must be .*{known}"):
            load(FILES | {name: text}, ENVIRON)


def test_a_file_in_the_expected_messages_is_read(load: Load) -> None:
    """It is the reference answer, as text."""
    file = "content: [{type: text, value: Like this.}, {type: file, value: notes.md}]"
    text = EVALS.replace("content: {answer: moon}", file)
    tides = load(FILES | {"evals/research.yaml": text}, ENVIRON).scenarios[0]
    assert tides.case.reference_answer == "Like this.\nthe notes"


@pytest.mark.parametrize(("entry", "line"), TARGETS_BROKEN.items())
def test_a_broken_target_is_named_with_its_place(load: Load, entry: str, line: str) -> None:
    targets = f"targets:\n  - {entry}\n  - {{name: quick, provider: mock}}\n"
    with pytest.raises(ConfigurationError) as caught:
        load(FILES | {".agentv/targets.yaml": targets}, ENVIRON)
    lines = caught.value.message.splitlines()
    assert any(re.search(line, found) for found in lines), lines


JUDGED = """\
targets:
  - {name: default, provider: mock, response: x, judge_target: clever}
  - {name: quick, provider: mock, response: x, judge_target: OTHER}
  - {name: clever, provider: anthropic, model: claude-a, api_key: "${{ ANTHROPIC_API_KEY }}"}
  - {name: wise, provider: anthropic, model: claude-b}
  - {name: cloud, provider: azure, endpoint: "https://x.openai.azure.com/", deployment: d, api_key: "${{ KEY }}"}
  - {name: far, provider: google-gemini, api_key: "${{ GOOGLE_GENERATIVE_AI_API_KEY }}"}
  - {name: script, provider: cli, command_template: x}
"""
RUBRICS = EVALS.replace("    outcome: Names the wind.", "    rubrics: [Names the wind.]")


@pytest.mark.parametrize(
    ("first", "second", "unread"),
    [
        ("clever", "wise", ()),
        ("script", "clever", ("script",)),
        ("nobody", "clever", ("nobody",)),
    ],
)
def test_a_judge_target_is_the_judge_where_there_is_one_for_it(
    load: Load, first: str, second: str, unread: tuple[str, ...]
) -> None:
    targets = JUDGED.replace("clever}", f"{first}}}").replace("OTHER", second)
    suite = load(FILES | {"evals/research.yaml": RUBRICS, ".agentv/targets.yaml": targets}, ENVIRON)
    assert typed(AnthropicJudge, suite.judge).model == "claude-a"
    why = "it is not a model in targets.yaml; name a judge in tidegate.yaml"
    assert suite.unread == tuple(
        f"judge_target: `{name}` of the target `default` is not read: {why}" for name in unread
    )


def test_models_of_azure_and_google_are_judges(load: Load) -> None:
    files = FILES | {"evals/research.yaml": RUBRICS}
    azure, gemini = (
        load(
            files | {".agentv/targets.yaml": JUDGED.replace("clever}", name + "}").replace("OTHER", name)}, ENVIRON
        ).judge
        for name in ("cloud", "far")
    )
    assert isinstance(azure, OpenAIJudge)
    assert (azure.model, azure.api) == ("d", "chat")
    address = "https://x.openai.azure.com/openai/v1"
    assert azure.provider == CompatibleProvider(type="compatible", base_url=address, key="KEY")
    assert isinstance(gemini, GoogleJudge)
    assert (gemini.model, gemini.variables) == ("gemini-2.5-flash", ("GOOGLE_GENERATIVE_AI_API_KEY",))


TEMPLATE = """\
$schema: agentv-targets-v2.2
targets:
  - name: default
    provider: azure
    endpoint: ${{ AZURE_OPENAI_ENDPOINT }}
    api_key: ${{ AZURE_OPENAI_API_KEY }}
    model: ${{ AZURE_DEPLOYMENT_NAME }}
    version: ${{ AZURE_OPENAI_API_VERSION }}
  - {name: codex, provider: codex, judge_target: default, cwd: "${{ CODEX_DIR }}", log_dir: "${{ LOGS }}"}
  - {name: gemini_base, provider: gemini, api_key: "${{ GOOGLE_GENERATIVE_AI_API_KEY }}", model: "${{ GEMINI_MODEL }}"}
  - name: quick
    provider: cli
    commandTemplate: uv run ./mock_cli.py --prompt {PROMPT} {FILES} --output {OUTPUT_FILE}
    cwd: ${{ CLI_EVALS_DIR }}
"""


def test_the_targets_that_agentv_writes_for_a_new_project_are_agents(load: Load, tmp_path: Path) -> None:
    """Their folders are absolute in `.env`: of whichever checkout, each side's own is meant."""
    (tmp_path / "other/.git").mkdir(parents=True)
    variables = {
        "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com",
        "AZURE_DEPLOYMENT_NAME": "gpt-5-mini",
        "GEMINI_MODEL": "gemini-2.5-pro",
        "CLI_EVALS_DIR": str(tmp_path / "other/evals"),
    }
    suite = SUITE.replace("[WORD]", f"[{', '.join(variables)}]")
    evals = EVALS + "".join(
        f"  - {{id: {name}, target: {name}, input_messages: [{{role: user, content: x}}]}}\n"
        for name in ("codex", "gemini_base")
    )
    agents = load(
        FILES | {"tidegate.yaml": suite, "evals/research.yaml": evals, ".agentv/targets.yaml": TEMPLATE}, variables
    ).agents
    azure, codex, gemini, cli = (agents[name] for name in ("default", "codex", "gemini_base", "quick"))
    assert isinstance(azure, CodexAgent)
    assert azure.model == "gpt-5-mini"
    assert azure.chosen_provider == CompatibleProvider(
        type="compatible", base_url="https://x.openai.azure.com/openai/v1", key="AZURE_OPENAI_API_KEY"
    )
    assert isinstance(codex, CodexAgent)
    assert isinstance(gemini, GeminiAgent)
    assert (gemini.model, gemini.variables[0]) == ("gemini-2.5-pro", "GOOGLE_GENERATIVE_AI_API_KEY")
    assert isinstance(cli, AgentVCli)
    assert (cli.folder, cli.command_template[:6]) == ("evals", "uv run")


def test_another_judge_comes_before_a_judge_target(load: Load) -> None:
    files = FILES | {"evals/research.yaml": RUBRICS, ".agentv/targets.yaml": JUDGED.replace("OTHER", "clever")}
    own = load(files | {"tidegate.yaml": SUITE + "judge: {type: command, command: ./judge}\n"}, ENVIRON)
    named = load(files, ENVIRON | {"LLM_TOOL_TEST_JUDGE": "claude-c"})
    assert [suite.judge and (suite.judge.type, suite.judge.model) for suite in (own, named)] == [
        ("command", "command"),
        ("anthropic", "claude-c"),
    ]
