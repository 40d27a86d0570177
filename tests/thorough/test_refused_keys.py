"""A key that the provider refuses ends the rows of its agent, and no others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import FILES
from tests.model_server import Fault, serving

Make = Callable[..., Any]
CLAUDE = """\
#!/bin/sh
[ "$1" = --version ] && { echo "2.1.329 (Claude Code)"; exit 0; }
python3 - <<'END'
import json, os, urllib.request
address, key = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", {"x-api-key": os.environ["ANTHROPIC_API_KEY"]}
urllib.request.urlopen(urllib.request.Request(address, json.dumps({"model": "m", "messages": []}).encode(), key))
END
exit 1
"""
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents: {keyed: {type: claude-code, model: m}, docs: {type: doc-follower}}
"""


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_ends_the_rows_of_its_agent_alone(
    status: int, make_repository: Make, tidegate: Make, tmp_path: Path
) -> None:
    """One request is made with the key; the other agent finds the regression all the same."""
    programs = tmp_path / "agents"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    repository = make_repository()
    repository.commit({**FILES, "tidegate.yaml": SUITE})
    repository.branch("head", {"AGENTS.md": FILES["AGENTS.md"].replace("$ notes add second\n", "")})
    with serving([], [Fault(status, "authentication_error", message="no such key")] * 9) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url, "PATH": f"{programs}:{os.environ['PATH']}"}
        ran = tidegate("pr", "--base", "main", "--pause", "0", "--jobs", "1", cwd=repository.root, env=env)
        asked = len(server.requests)

    keyed, docs = ran.row("keep_notes", "keyed"), ran.row("keep_notes", "docs")
    assert (keyed["state"], keyed["not_measured"]) == ("not_measured", "auth")
    assert (docs["state"], ran.code) == ("regressed", 1)
    assert asked == 1
    assert f"answered {status}: no such key" in keyed["reason"]
    assert "The agent keyed was refused by its model's provider" in ran.stderr


def test_a_refused_key_is_never_green(make_repository: Make, tidegate: Make, tmp_path: Path) -> None:
    programs = tmp_path / "agents"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    repository = make_repository()
    repository.commit({**FILES, "tidegate.yaml": SUITE})
    repository.branch("head", {"bin/notes": FILES["bin/notes"] + "# x\n"})
    with serving([], [Fault(401)] * 9) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url, "PATH": f"{programs}:{os.environ['PATH']}"}
        ran = tidegate("pr", "--base", "main", "--pause", "0", cwd=repository.root, env=env)

    assert ran.row("keep_notes", "docs")["state"] == "ok"
    assert (ran.result["verdict"]["state"], ran.code) == ("inconclusive", 5)
    assert "keyed" in ran.comment
    assert "Give the agent a valid key" in ran.comment
