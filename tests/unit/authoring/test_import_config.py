"""llm-tool-test's configuration as a tidegate.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.authoring.import_config import suite_of_config
from tidegate.errors import ConfigurationError
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan

CONFIG = """\
fixtures_path = "fixtures"

[target]
binary = "mytool"
command_pattern = "mytool\\\\s+(\\\\S+)"
health_check = "mytool --version"
[target.env]
MYTOOL_TOKEN = "${MYTOOL_TOKEN}"

[tools.opencode]
name = "opencode"
command = "opencode"
models = ["gpt-4o", "claude-sonnet", "strange"]
[tools.claude-code]
name = "claude-code"
command = "claude-code"
models = ["claude-sonnet"]
[tools.mine]
command = "my-agent --headless"
[tools.mock]

[profiles.quick]
tools = ["opencode"]
models = ["gpt-4o"]
[profiles.full]
tools = ["opencode", "claude-code", "mine"]
models = ["gpt-4o", "claude-sonnet"]
"""
SCENARIO = "name: first\ndescription: d\ntarget: from_config\ntask: List the tasks.\n"


def test_the_suite_loads_with_the_tools_as_agents(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/first.yaml").write_text(SCENARIO)
    (tmp_path / "tidegate.yaml").write_text(suite_of_config(CONFIG, "config.toml"))
    suite = load_suite(tmp_path, environ={"MYTOOL_TOKEN": "t"})
    assert [(row.key.agent, row.agent.type) for row in make_plan(suite).rows] == [
        ("opencode:openai/gpt-4o", "opencode"),
        ("opencode:anthropic/claude-sonnet", "opencode"),
        ("claude-code:claude-sonnet", "claude-code"),
        ("mine", "command"),
    ]
    target = suite.scenarios[0].target
    assert (target.binary, target.health_check, target.env) == (
        "mytool",
        "mytool --version",
        {"MYTOOL_TOKEN": "${MYTOOL_TOKEN}"},
    )


def test_profiles_become_commands_with_agents_and_presets() -> None:
    lines = suite_of_config(CONFIG, "config.toml").splitlines()
    assert lines[:3] == [
        "# From config.toml.",
        "# Profile quick: tidegate pr --agent opencode:openai/gpt-4o, with `policy: {preset: quick}`",
        "# Profile full: tidegate pr --agent opencode:openai/gpt-4o --agent opencode:anthropic/claude-sonnet "
        "--agent claude-code:claude-sonnet --agent mine, with `policy: {preset: thorough}`",
    ]


def test_what_has_no_counterpart_is_named() -> None:
    text = suite_of_config(CONFIG, "config.toml")
    assert "# Left out: strange of opencode: write PROVIDER/MODEL." in text
    assert "# Left out: the tool mock, for which there is no agent" in text


def test_rates_of_models_are_prices_and_a_target_may_have_a_pattern_alone(tmp_path: Path) -> None:
    """As in qipu's configuration."""
    config = """\
fixtures_path = "fixtures"
[target]
command_pattern = "mytool\\\\s+(\\\\S+)"
[models.claude-haiku]
input_cost_per_1k_tokens = 0.0008
output_cost_per_1k_tokens = 0.004
"""
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/first.yaml").write_text(SCENARIO.replace("from_config", "{binary: mytool}"))
    (tmp_path / "tidegate.yaml").write_text(suite_of_config(config, "config.toml"))
    suite = load_suite(tmp_path, environ={})
    price = suite.price("claude-haiku")
    assert price is not None
    assert (price.input, price.output) == (0.8, 4)
    assert suite.scenarios[0].target.command_pattern == "mytool\\s+(\\S+)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = ", "c.toml is not TOML"),
        ("[target]\nbinry = 'x'", "c.toml: target.binry"),
        ("[tolls.x]", "c.toml: tolls"),
    ],
)
def test_another_file_is_an_error(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        suite_of_config(text, "c.toml")
    assert caught.value.message.startswith(said)
