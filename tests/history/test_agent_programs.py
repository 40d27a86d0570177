"""The files of a repository that an agent's program consists of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidegate.agents.command import CommandAgent
from tidegate.history.agent_programs import program_hash

FILES = {
    "agents/own.py": "import steps, json\nfrom work import do\nprint('status')\n",
    "agents/steps.py": "open('words.txt')\n",
    "agents/words.txt": "a\n",
    "library/work.py": "def do(): ...\n",
    "src/status.py": "",
    "src/json.py": "",
    "bin/notes": "# own.py is an agent\n",
    "README.md": "words.txt\n",
}
AGENT = CommandAgent(type="command", command="python3 {repo}/agents/own.py {prompt}")


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("agents/own.py", False),
        ("agents/steps.py", False),
        ("agents/words.txt", False),
        ("library/work.py", False),
        ("src/status.py", True),  # a word in quotes is no import
        ("src/json.py", True),  # Python's own
        ("bin/notes", True),
        ("README.md", True),
    ],
)
def test_what_the_program_imports_and_names_is_part_of_it(
    make_repository: Callable[..., Any], changed: str, *, same: bool
) -> None:
    repo = make_repository()
    repo.commit(FILES)
    before = program_hash(repo.root, AGENT, ["bin"])
    repo.commit({changed: FILES[changed] + "# changed\n"})
    assert before
    assert (program_hash(repo.root, AGENT, ["bin"]) == before) is same


def test_an_agent_without_a_file_in_the_repository_has_no_program_there(make_repository: Callable[..., Any]) -> None:
    repo = make_repository()
    repo.commit(FILES)
    assert program_hash(repo.root, CommandAgent(type="command", command="my-agent {prompt}"), ["bin"]) == ""


def test_a_program_of_the_tested_folders_counts_only_if_the_agent_names_it(make_repository: Callable[..., Any]) -> None:
    repo = make_repository()
    repo.commit(FILES)
    agent = CommandAgent(type="command", command="notes --for {prompt}")
    before = program_hash(repo.root, agent, ["bin"])
    repo.commit({"bin/notes": FILES["bin/notes"] + "exit 1\n"})  # it still names the same files
    assert before not in ("", program_hash(repo.root, agent, ["bin"]))
