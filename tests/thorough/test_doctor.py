"""`tidegate doctor` on machines that lack something."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.as_root import needs_root

Make = Callable[..., Any]

SUITE = "version: 1\nscenarios: [one.yaml]\nagents: {real: {type: claude-code, model: claude-haiku-4-5}}\n"
SCENARIO = """\
name: one
description: Anything.
target: {binary: git}
task: Say hello.
evaluation: {gates: [{type: file_exists, path: a}]}
"""
CLAUDE = '#!/bin/sh\necho "2.1.329 (Claude Code)"\n'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "one.yaml").write_text(SCENARIO)
    (folder / "tidegate.yaml").write_text(SUITE)
    return folder


def lines(printed: str) -> dict[str, tuple[str, str]]:
    """What was looked at → its state, and what was found."""
    found = [line.split(maxsplit=1) for line in printed.splitlines() if line[:1].strip()]
    return {what: (state, text) for state, rest in found for what, _, text in [rest.partition(": ")]}


def test_a_program_that_is_missing_is_named_with_its_key(repo: Path, tidegate: Make) -> None:
    ran = tidegate("doctor", cwd=repo, env={"ANTHROPIC_API_KEY": ""})

    state, text = lines(ran.stdout)["agent real"]
    assert (ran.code, state) == (4, "missing"), ran.stderr
    assert "`claude`" in text
    assert "ANTHROPIC_API_KEY" in text
    assert "npm install" in ran.stdout


def test_a_machine_that_has_everything_ends_with_0(repo: Path, tmp_path: Path, tidegate: Make) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    env = {"ANTHROPIC_API_KEY": "dummy", "PATH": f"{programs}:{os.environ['PATH']}"}

    ran = tidegate("doctor", cwd=repo, env=env)

    found = lines(ran.stdout)
    assert ran.code == 0, ran.stdout
    assert found["agent real"] == ("ok", "claude-code 2.1.329")
    about_trials = {"users", "files", "network"}
    assert found.keys() == {"system", "git", "disk", "agent real", *about_trials}
    assert "dummy" not in ran.stdout


def test_the_program_of_an_agent_is_confined_as_in_a_trial(repo: Path, tmp_path: Path, tidegate: Make) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (tmp_path / "private").write_text("9.9.9")
    (programs / "claude").write_text(f"#!/bin/sh\ncat {tmp_path}/private || echo 2.1.329\n")
    (programs / "claude").chmod(0o755)

    ran = tidegate("doctor", cwd=repo, env={"ANTHROPIC_API_KEY": "dummy", "PATH": f"{programs}:{os.environ['PATH']}"})

    assert lines(ran.stdout)["agent real"] == ("ok", "claude-code 2.1.329"), ran.stdout


def test_a_server_of_one_s_own_is_connected_to(repo: Path, tidegate: Make) -> None:
    suite = "version: 1\nscenarios: [one.yaml]\nagents: {own: {type: anthropic, model: m, provider: {type: compatible, "
    for open_ in (True, False):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"http://127.0.0.1:{server.getsockname()[1]}"
            (repo / "tidegate.yaml").write_text(f'{suite}base_url: "{address}"}}}}}}\n')
            if not open_:
                server.close()
            ran = tidegate("doctor", cwd=repo)

        found = ("ok", f"compatible: {address} can be reached")
        refused = ("missing", f"{address} cannot be reached: Connection refused")
        assert lines(ran.stdout)["provider of own"] == (found if open_ else refused)
        assert ran.code == (0 if open_ else 4)


def test_the_keys_of_judges_are_looked_for(repo: Path, tidegate: Make) -> None:
    judges = (
        "judge:\n"
        "- {type: openai, model: one, provider: {type: openai, key: ONE_KEY}}\n"
        "- {type: anthropic, model: two, provider: {type: anthropic, key: TWO_KEY}}\n"
    )
    (repo / "tidegate.yaml").write_text(SUITE.replace("claude-code", "doc-follower") + judges)

    ran = tidegate("doctor", cwd=repo, env={"ONE_KEY": "dummy", "TWO_KEY": ""})

    found = lines(ran.stdout)
    assert (ran.code, found["judge one"]) == (0, ("ok", "openai, with a key in ONE_KEY"))
    assert found["judge two"] == ("limited", "it needs a key in TWO_KEY")
    assert "Without a key in TWO_KEY, whatever the judge decides is not measured." in ran.stdout


def test_a_machine_without_git_says_so(repo: Path, tmp_path: Path, tidegate: Make) -> None:
    (tmp_path / "bin").mkdir()
    shell = shutil.which("sh")
    assert shell is not None
    (tmp_path / "bin" / "sh").symlink_to(shell)

    ran = tidegate("doctor", cwd=repo, env={"PATH": str(tmp_path / "bin")})

    assert (ran.code, lines(ran.stdout)["git"][0]) == (4, "missing")


def test_a_broken_suite_is_an_error_with_its_place(repo: Path, tidegate: Make) -> None:
    (repo / "tidegate.yaml").write_text(SUITE.replace("type: claude-code", "type: claude"))

    ran = tidegate("doctor", cwd=repo)

    assert ran.code == 2
    assert "tidegate.yaml:3:" in ran.stderr


def test_without_a_suite_the_rest_is_looked_at(tmp_path: Path, tidegate: Make) -> None:
    ran = tidegate("doctor", cwd=tmp_path)

    assert ran.code == 0
    assert "`tidegate init` writes one" in ran.stdout
    assert lines(ran.stdout)["git"][0] == "ok"


TAKE_ALL = """\
import subprocess, sys
from tidegate.trial.sandbox.users import UIDS, Users
with Users() as users:
    for _ in UIDS:
        users.take()
    sys.exit(subprocess.run([sys.executable, "-m", "tidegate", "doctor"]).returncode)
"""


@needs_root
@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare")
def test_users_that_are_all_taken_do_not_end_the_report(tmp_path: Path) -> None:
    """They are taken in a /run of their own: other runs have theirs."""
    own = 'mount -t tmpfs none /run && exec "$0" -c "$1"'
    command = ["unshare", "--mount", "sh", "-c", own, sys.executable, TAKE_ALL]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    found = lines(ran.stdout)
    assert ran.returncode == 4, ran.stderr
    assert found["users"] == ("missing", "all 477 users for trials are taken.")
    assert {"network"} <= found.keys()
