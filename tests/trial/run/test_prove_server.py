"""A suite of an MCP server is proved."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.authoring.drafts import drafts_for
from tidegate.lab.prove import Wanted, prove
from tidegate.model.progress import Progress
from tidegate.model.proof import Proof
from tidegate.run.run_job import Options

SERVER = Path(__file__).parents[2] / "mcp_server.py"
SUITE = """\
version: 1
scenarios: [s.yaml, nameless.yaml]
agents:
  script:
    type: scripted
    steps:
      shelve: [{call: add, input: {title: tide}}, {call: add, input: {title: ebb, shelf: low}}]
      put_away: [{list_tools: true}]
"""
SCENARIO = """\
name: {scenario}
description: Keep a title.
target: {{mcp: {{command: "{command}"{name}}}}}
task: Keep a title.
evaluation:
  gates: [{{type: no_transcript_errors}}, {{type: command_succeeds, command: "! grep -x tidelow titles.txt"}}]
"""
VALUES = ("value_refused", "default_changed")
KINDS = (*VALUES, "result_emptied")  # a mutant that is caught costs three trials; test_mutant_front.py has the others


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two servers, one without a name; no test changes it."""
    repo = tmp_path_factory.mktemp("repo")
    shutil.copy(SERVER, repo / "server.py")
    command = shlex.join([os.path.realpath(sys.executable), str(repo / "server.py")])
    (repo / "tidegate.yaml").write_text(SUITE)
    (repo / "s.yaml").write_text(SCENARIO.format(scenario="shelve", command=f"{command} shelves", name=", name: shelf"))
    nameless = SCENARIO.format(scenario="put_away", command=f"{command} renamed", name="")
    (repo / "nameless.yaml").write_text(nameless)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(repo)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    return repo


@pytest.fixture(scope="module")
def proof(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """What is found about both servers; no test changes it."""
    options = Options(environ=dict(os.environ), progress=Progress())
    wanted = Wanted(kinds=KINDS, drafter=drafts_for)
    return asyncio.run(prove(repo, None, tmp_path_factory.mktemp("out") / "run", options, wanted))


def test_an_answer_that_no_check_reads_is_alive(proof: Proof) -> None:
    (alive,) = [one for one in proof.tools[0].mutants if one.state == "alive"]
    assert alive.mutant.words == "`add` returns an empty result"


def test_a_refused_value_of_a_parameter_fails_the_calls_that_give_it_and_another_default_those_that_do_not(
    proof: Proof,
) -> None:
    found = {one.mutant.words: one.state for one in proof.tools[0].mutants if one.mutant.kind in VALUES}
    add = {words: state for words, state in found.items() if "`add`" in words}
    assert add == {
        '"top" is refused for `shelf` of `add`': "not_reached",
        '"low" is refused for `shelf` of `add`': "caught",
        'the default of `shelf` of `add` is "low", not "top"': "caught",
    }


def test_tools_and_parameters_come_from_the_servers_list(proof: Proof) -> None:
    used = {str(one.part): one.scenarios for one in proof.tools[0].parts}
    assert used["`add`"] == used["`title` of `add`"] == ("shelve",)


def test_a_server_without_a_name_is_a_tool_of_its_own_and_called_by_its_command(proof: Proof) -> None:
    """`target` is the name of every server for which the suite gives none, as `tidegate init` writes it."""
    first, second = proof.tools
    assert first.tool == "shelf"
    assert second.tool.endswith("server.py renamed")
    assert not second.tool.startswith("/")
    assert "`put`" in {str(one.part) for one in second.parts}


def test_a_draft_for_an_answer_that_no_check_reads_is_an_evaluator(proof: Proof) -> None:
    first, _ = proof.tools
    (draft,) = first.drafts
    assert (draft.catches, draft.file, draft.into) == ("`add` returns an empty result", "s.yaml", "evaluators")
    call = "tool: mcp__shelf__add, input: {title: tide}, fails: false, exact: true"
    assert f"{call}, output: {{regex: \\Aadded tide\\Z}}" in draft.text
