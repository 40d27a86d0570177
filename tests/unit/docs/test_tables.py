"""Tables that people maintain by hand name everything that the code has, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tidegate.agents import AGENTS
from tidegate.checks.gates import GATES
from tidegate.model.suite import Policy
from tidegate.suite.suite_file import SuiteFile

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")


def test_the_readme_names_every_gate() -> None:
    table = README.partition("## Gates")[2].partition("\nAgents")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.M)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(GATES.members), "README's table"


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


def test_readmes_figures_are_those_of_the_error_rates() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    page = (ROOT / "docs/error-rates.md").read_text(encoding="utf-8")

    def cells(heading: str, *start: str) -> list[str]:
        lines = page.partition(f"## {heading}\n")[2].splitlines()
        line = next(line for line in lines if line.startswith(f"| {' | '.join(start)} |"))
        return [cell.strip().partition(" ")[0] for cell in line.strip("|").split("|")]

    usual, new = (round(float(cells("Suites of other sizes", "3", history)[2])) for history in ("40", "none"))
    assert f"about {usual} trials, and {new} as long as base has no history" in readme
    found = cells("Scenarios whose base fails often", "0.8")[1]
    assert f"found in {found} of 100 if base passes 8 of 10 trials" in readme
    worst = round(float(cells("False alarms where trials of one run are correlated", "mixed")[1]))
    assert f"up to {worst} of 100 where one side has a worse run" in readme


# --- differences from other tools: each row says what differs and why, and names the test that shows it

ROWS = re.findall(
    r"^\| (.+) \| (.+) \| (.+) <!-- (test_\w+) --> \|$",
    (ROOT / "docs/compatibility.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_each_row_says_what_is_there_what_is_here_why_and_which_test_shows_it() -> None:
    page = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| \S.* \| here \| why \|\n\|[-|]+\|\n((?:\|.*\n)+)", page, re.MULTILINE)

    assert len(tables) == 3
    assert len(ROWS) == sum(table.count("\n") for table in tables) > 45


def test_each_test_of_the_table_exists() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"def (test_\w+)", tests))
    assert sorted({row[3] for row in ROWS} - known) == []
