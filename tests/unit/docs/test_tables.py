"""Tables that people maintain by hand name everything that the code has, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import yaml

from tidegate.agents import AGENTS
from tidegate.checks.gates import AnyGate
from tidegate.model.suite import Policy
from tidegate.suite.suite_file import SuiteFile

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")


def types(union: Any) -> set[str]:
    """The `type` of every member of a family."""
    return {get_args(member.model_fields["type"].annotation)[0] for member in get_args(get_args(union)[0])}


def test_the_readme_names_every_gate() -> None:
    table = README.partition("## Gates")[2].partition("\nAgents")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.M)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == types(AnyGate), "README's table"


def test_the_readme_names_every_agent() -> None:
    said = README.partition("\nAgents (")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([\w-]+)`", said)) == set(AGENTS.members), "README's list"


def test_configuration_shows_every_key_with_its_default() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", CONFIGURATION, re.S)
    shown = yaml.safe_load(next(text for text in blocks if "pass_env" in text))
    assert set(shown) == set(SuiteFile.model_fields)
    assert SuiteFile.model_validate(shown) == SuiteFile(version=1, scenarios=tuple(shown["scenarios"]))


def test_the_verdict_page_shows_every_policy_key_with_its_default() -> None:
    verdict = (ROOT / "docs/verdict.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", verdict, re.S)
    shown = yaml.safe_load(next(text for text in blocks if "preset" in text))["policy"]
    assert set(shown) == set(Policy.model_fields)
    assert Policy.model_validate(shown) == Policy()
