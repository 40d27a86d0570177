"""What a pull request changes in what its tool offers: in the comment, and by the policy in the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests import mcp_server
from tests.conftest import Repository
from tests.journeys.conftest import FILES

Make = Callable[..., Any]
SUITE = f"""\
version: 1
scenarios: [s.yaml]
path: [bin]
target: {{mcp: {{command: shelf, name: shelf}}}}
agents: {{steps: {{type: scripted}}}}
files: {{read: ['{mcp_server.__file__}']}}
policy: {{interface: block}}
"""
SCENARIO = """\
name: asks
description: The server says where it is.
target: from_config
task: {prompt: Where is it?, steps: [{call: where}]}
gates: [{type: no_transcript_errors}]
"""


def server(quirks: str = "") -> str:
    return f"#!/bin/sh\nexec {sys.executable} -IS {mcp_server.__file__} {quirks}\n"


@pytest.fixture
def compare(make_repository: Make, tidegate: Make) -> Callable[..., Any]:
    """Compare a head with the base, whose policy blocks breaking changes."""

    def compare(base: str, head: str, more: dict[str, str] | None = None, of_base: dict[str, str] | None = None) -> Any:
        made: Repository = make_repository()
        made.commit({"tidegate.yaml": SUITE, "s.yaml": SCENARIO, "bin/shelf": base, **(of_base or {})})
        made.branch("pr", {"bin/shelf": head, **(more or {})})
        return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=made.root)

    return compare


def test_a_tool_that_no_scenario_calls_is_missed_though_all_of_them_pass(compare: Make) -> None:
    """A pull request that stops looking is judged by base's policy."""
    ran = compare(server(), server("renamed"), {"tidegate.yaml": SUITE.replace("block", "'off'")})
    assert (ran.code, ran.result["verdict"]["reason"], ran.row("asks", "steps")["state"]) == (1, "interface", "ok")
    assert "❌ `shelf`: 1 breaking change in its interface: `add`: gone" in ran.comment
    assert "- `put`: new" in ran.comment


def test_a_server_that_only_one_scenario_of_head_starts_is_compared_too(compare: Make) -> None:
    other = {"t.yaml": SCENARIO.replace("asks", "asks_again")}
    both = {"tidegate.yaml": SUITE.replace("[s.yaml]", "[s.yaml, t.yaml]"), **other}
    own = SCENARIO.replace("asks", "asks_again").replace(
        "target: from_config", "target: {mcp: {command: shelf2, name: shelf}}"
    )
    ran = compare(server(), server(), {"t.yaml": own, "bin/shelf2": server("renamed")}, both)
    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "interface"), ran.comment


@pytest.mark.parametrize(("reads", "ends"), [("SHELF_DIR", 1), ("SHELF_DIR SHELF_FOLDER", 0)])
def test_a_variable_of_the_docs_that_nothing_reads_is_a_breaking_change(compare: Make, reads: str, ends: int) -> None:
    own = server() + f"# {reads}\n"
    ran = compare(own, own, {"README.md": "    export SHELF_FOLDER=.\n"}, {"README.md": "    export SHELF_DIR=.\n"})
    assert ran.code == ends, ran.comment
    assert ("`SHELF_FOLDER`: new in README.md:1, but nothing reads it" in ran.comment) == bool(ends)


def test_servers_of_one_name_are_compared_each(compare: Make) -> None:
    """The second one is started with another argument."""
    second = "target: {mcp: {command: shelf parts, name: shelf}}"
    more = {
        "tidegate.yaml": SUITE.replace("[s.yaml]", "[s.yaml, t.yaml]"),
        "t.yaml": SCENARIO.replace("asks", "asks_again").replace("target: from_config", second),
    }
    ran = compare(server('"$@"'), server(), of_base=more)
    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "interface")
    assert "❌ `shelf (2)`: 3 breaking changes in its interface: resource `titles://all`: gone" in ran.comment


def test_a_tool_that_is_named_by_its_session_differs_in_no_pull_request(compare: Make) -> None:
    ran = compare(server("session"), server("session"), {"README.md": "new"})
    assert (ran.code, "close_" in ran.comment) == (0, False)


def helpful(commands: str) -> str:
    """Return the program with a help that lists these commands."""
    return FILES["bin/notes"].replace("usage: notes add TEXT | list | count", commands)


COMMANDS = "usage: notes\nCommands:\n  add  Adds\n"


@pytest.mark.parametrize(
    ("head", "code", "said"),
    [
        (COMMANDS + "  undo  Undoes\n", 0, "- `undo`: new"),
        (COMMANDS.replace("add  Adds", "put  Puts"), 1, "❌ `notes`: 1 breaking change in its interface: `add`: gone"),
        ("nothing", 5, "❌ `notes`: its interface was not compared (head: it lists nothing)"),
    ],
)
def test_the_help_of_a_program(make_repository: Make, tidegate: Make, head: str, code: int, said: str) -> None:
    """What head's help no longer lists blocks; if it lists nothing, that is not measured, and not green either."""
    made: Repository = make_repository()
    suite = FILES["tidegate.yaml"] + "policy: {interface: block}\n"
    made.commit({**FILES, "tidegate.yaml": suite, "bin/notes": helpful(COMMANDS)})
    made.branch("pr", {"bin/notes": helpful(head)})
    ran = tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=made.root)
    assert (ran.code, said in ran.comment, ran.result["verdict"]["state"] == "passed") == (code, True, not code)
