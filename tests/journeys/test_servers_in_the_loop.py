"""An MCP server as the target of the built-in loop, through whole runs, with the scripted model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import mcp_server
from tests.conftest import Repository
from tests.model_server import Step, ToolUse, serving
from tidegate.model.trial import Trial

KEY = "dummy-key-of-the-model"
SUITE = """\
version: 1
scenarios: [books.yaml]
path: [bin]
target: {mcp: {command: shelf QUIRKS, name: shelf}}
agents: {loop: {type: anthropic, model: m, deterministic: true}}
"""
SCENARIO = """\
name: books
description: Two books are kept.
target: from_config
task: Put Emma and Ulysses on the shelf.
gates:
  - {type: file_contains, path: titles.txt, substring: Emma}
  - {type: file_contains, path: titles.txt, substring: Ulysses}
"""


def add(title: str) -> ToolUse:
    return ToolUse("shelf/add", {"title": title})


BOOKS = [
    Step("I look.", ("env", ToolUse("shelf/where", {}))),
    Step("Without a title?", (ToolUse("shelf/add", {}),)),
    Step("So both.", (add("Emma"), add("Ulysses"))),
    Step("Both are there."),
]


def suite(quirks: str = "") -> dict[str, str]:
    """A repository with the server."""
    shelf = f'#!/bin/sh\nexec {sys.executable} -IS {mcp_server.__file__} "$@"\n'
    files = f"files: {{read: ['{mcp_server.__file__}']}}\n"
    return {"tidegate.yaml": SUITE.replace("QUIRKS", quirks) + files, "books.yaml": SCENARIO, "bin/shelf": shelf}


@pytest.fixture
def run(
    tmp_path: Path, make_repository: Callable[..., Repository], tidegate: Callable[..., Any]
) -> Callable[..., tuple[dict[str, Any], Trial]]:
    """Runs the one trial of the suite with these turns of the model; its result and its record."""

    def run(steps: list[Step], quirks: str = "") -> tuple[dict[str, Any], Trial]:
        repository = make_repository()
        repository.commit(suite(quirks))
        out = tmp_path / "run"
        with serving(steps) as server:
            env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
            tidegate("run", "--trials", "1", "--out", str(out), cwd=repository.root, env=env)
        (trial,) = json.loads((out / "run.json").read_text())["trials"]
        return trial, Trial.model_validate_json(next(out.rglob("trial.json")).read_text())

    return run


def test_a_tool_that_head_has_renamed_is_a_regression_with_its_evidence(
    make_repository: Callable[..., Repository], tidegate: Callable[..., Any]
) -> None:
    repository = make_repository()
    repository.commit(suite())
    repository.branch("pr", {"bin/shelf": suite()["bin/shelf"].replace('"$@"', 'renamed "$@"')})
    with serving(BOOKS) as server:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        ran = tidegate("pr", "--base", "main", "--head", "pr", cwd=repository.root, env=env)
    assert ran.code == 1, ran.stderr
    row = ran.row("books", "loop")
    assert (row["state"], row["kind"], row["head"]["passes"]) == ("regressed", "outcome", 0)
    parting = '  $ shelf add \'{"title": "Emma"}\'\n-     added Emma\n+     There is no such tool'
    assert parting in ran.comment
    offered = [[tool["name"] for tool in body["tools"]] for _, body, _ in server.requests]
    assert ["bash", "mcp__shelf__add", "mcp__shelf__where"] in offered
    assert ["bash", "mcp__shelf__put", "mcp__shelf__where"] in offered
