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

from tidegate.model.progress import Silent
from tidegate.model.proof import Proof
from tidegate.run.prove import Wanted, prove
from tidegate.run.run_job import Options

SERVER = Path(__file__).parents[1] / "mcp_server.py"
SUITE = """\
version: 1
scenarios: [s.yaml]
agents:
  script:
    type: scripted
    steps:
      shelve: [{call: add, input: {title: tide}}]
"""
SCENARIO = """\
name: shelve
description: Keep a title.
target: {{mcp: {{command: "{command}", name: shelf}}}}
task: Keep a title.
evaluation:
  gates: [{{type: no_transcript_errors}}]
"""
KINDS = ("tool_removed", "parameter_renamed", "parameter_required", "error_flag_flipped", "result_emptied")


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """What is found about the suite; no test changes it."""
    repo = tmp_path_factory.mktemp("repo")
    shutil.copy(SERVER, repo / "server.py")
    command = shlex.join([os.path.realpath(sys.executable), str(repo / "server.py")])
    (repo / "tidegate.yaml").write_text(SUITE)
    (repo / "s.yaml").write_text(SCENARIO.format(command=command))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(repo)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    options = Options(environ=dict(os.environ), progress=Silent())
    return asyncio.run(prove(repo, None, tmp_path_factory.mktemp("out") / "run", options, Wanted(kinds=KINDS)))


def test_what_the_check_sees_is_caught_and_the_rest_is_alive(proof: Proof) -> None:
    found = {one.mutant.kind: one.state for one in proof.mutants if one.mutant.command == "add"}
    assert found == {
        "tool_removed": "caught",
        "parameter_renamed": "caught",
        "parameter_required": "caught",
        "error_flag_flipped": "caught",
        "result_emptied": "alive",
    }


def test_tools_and_parameters_come_from_the_servers_list(proof: Proof) -> None:
    used = {str(one.part): one.scenarios for one in proof.tools[0].parts}
    assert used["`add`"] == used["`title` of `add`"] == ("shelve",)
