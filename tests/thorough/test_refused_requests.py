"""A request that the model's provider refuses: a finding if head alone brings it about, and never an outage."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import FILES, Ran
from tests.model_server import Fault, Step, serving

Make = Callable[..., Any]
WORDS = "tools.0: the input schema of `add_note` is not accepted: type must be object"
SCENARIO = """\
name: keep_notes
description: A note is kept.
target: {binary: notes}
task: Add a note.
gates: [{type: file_exists, path: notes.txt}]
"""
# Sends the guidance to its model, as a real agent does, and works only if it is answered. It says nothing of its own.
CLAUDE = """\
#!/bin/sh
[ "$1" = --version ] && { echo "2.1.329 (Claude Code)"; exit 0; }
python3 - <<'END' || exit 1
import json, os, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": open("AGENTS.md").read()}]}
address, key = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", {"x-api-key": os.environ["ANTHROPIC_API_KEY"]}
urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), key)).read()
END
notes add milk
echo '{"type": "result", "subtype": "success", "is_error": false, "num_turns": 1}'
"""
AGENTS = {"claude-code": "{type: claude-code, model: m}", "anthropic": "{type: anthropic, model: m}"}


def compare(
    agent: str, tidegate: Make, make_repository: Make, files: dict[str, str], tmp_path: Path, **given: Any
) -> Ran:
    """Compare a head whose guidance has the text that is refused with a base, which has it only if `base` says so."""
    programs = tmp_path / "agents"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    suite = f"version: 1\nscenarios: [keep.yaml]\npath: [bin]\nagents: {{a: {AGENTS[agent]}}}\n"
    suite += "guidance: [AGENTS.md]\ntrials: {min: 2}\n"
    repository = make_repository()
    before = "BROKEN" if given.get("base") else "whole"
    repository.commit(
        {"bin/notes": files["bin/notes"], "tidegate.yaml": suite, "AGENTS.md": before, "keep.yaml": SCENARIO}
    )
    repository.branch("head", {"AGENTS.md": "It is BROKEN."})
    steps = [Step("I read first.", ("cat AGENTS.md",)), Step("I add it.", ("notes add milk",)), Step("Done.")]
    with serving(steps) as server:
        server.refused = ("BROKEN", Fault(given.get("status", 400), "invalid_request_error", message=WORDS))
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url, "PATH": f"{programs}:{os.environ['PATH']}"}
        ran: Ran = tidegate("pr", "--base", "main", "--pause", "0", cwd=repository.root, env=env)
    return ran


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_request_that_is_refused_on_head_alone_is_a_regression_of_its_setup(
    status: int, tidegate: Make, make_repository: Make, tmp_path: Path
) -> None:
    ran = compare("claude-code", tidegate, make_repository, FILES, tmp_path, status=status)
    row = ran.row("keep_notes", "a")
    assert (row["state"], row["kind"], ran.code) == ("regressed", "setup", 1), ran.comment
    assert f"the model's provider answered {status}: {WORDS}" in row["reason"]
    assert "`add_note` is not accepted" in ran.comment
    ends = {trial["end"] for trial in ran.result["trials"] if trial["side"] == "head"}
    assert ends == {"refused_request"}


def test_it_is_the_same_for_an_agent_of_tidegate_itself(tidegate: Make, make_repository: Make, tmp_path: Path) -> None:
    ran = compare("anthropic", tidegate, make_repository, FILES, tmp_path)
    row = ran.row("keep_notes", "a")
    assert (row["state"], row["kind"], ran.code) == ("regressed", "setup", 1), ran.comment
    assert WORDS in row["reason"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_request_that_is_refused_on_both_sides_is_not_measured(
    agent: str, tidegate: Make, make_repository: Make, tmp_path: Path
) -> None:
    ran = compare(agent, tidegate, make_repository, FILES, tmp_path, base=True)
    row = ran.row("keep_notes", "a")
    assert (row["state"], row["not_measured"]) == ("not_measured", "refused_request")
    assert WORDS in row["reason"]
    assert ran.code != 0
