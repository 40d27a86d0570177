"""Every `tidegate` command that the docs show is one that the program accepts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tidegate.cli import parse

ROOT = Path(__file__).parents[3]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"^ *```(?:sh|console|bash|yaml|groovy)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^(?:\$ |- |sh ')?(?:\.venv/bin/)?tidegate ([a-z][^#|;>&\n']*)")


def shown() -> list[tuple[str, str]]:
    """The page and the arguments of each command in a block."""
    return [
        (page.name, found[1].strip())
        for page in PAGES
        for block in _FENCE.findall(page.read_text(encoding="utf-8"))
        for line in block.replace("\\\n", " ").splitlines()
        if (found := _COMMAND.match(line.strip()))
    ]


@pytest.mark.parametrize(("page", "arguments"), shown())
def test_a_shown_command_is_accepted(page: str, arguments: str) -> None:
    words = [word for word in shlex.split(arguments) if word != "…"]
    assert parse(words).command == words[0], page


def test_commands_are_found() -> None:
    assert len({arguments.split()[0] for _, arguments in shown()}) >= 8


def test_the_samples_for_other_systems_are_valid() -> None:
    page = (ROOT / "docs/other-ci.md").read_text(encoding="utf-8")
    (sample,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    job = yaml.safe_load(sample)["tidegate"]
    assert [line.split()[0] for line in job["script"]] == ["pip", "git", "tidegate"]
    assert set(job) == {"image", "rules", "variables", "script", "timeout", "cache", "artifacts"}
    assert (job["cache"]["paths"], job["cache"]["when"]) == ([".tidegate/store"], "always")
    assert "tidegate pr --base" in re.findall(r"```groovy\n(.*?)```", page, re.DOTALL)[0]
