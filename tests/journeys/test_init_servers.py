"""`tidegate init` and then `tidegate pr` in a repository with an MCP server: the suite needs no key and can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Make = Callable[..., Any]
SERVER = (Path(__file__).parents[1] / "mcp_server.py").read_text()
README = '# Shelf\n\n```json\n{"name": "add", "arguments": {"title": "Buy milk"}}\n```\n'
FILES = {
    ".mcp.json": '{"mcpServers": {"shelf": {"command": "python3", "args": ["${workspaceFolder}/server.py"]}}}',
    "server.py": SERVER,
    "README.md": README,
}


SCHEMA = 'SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}, **SHELVES}}'
CHANGES = {  # of the server, and the cause that the comment names
    "the MCP server no longer has the tool `where`": ('add", "where"]', 'add", "whence"]'),
    "`add` no longer accepts `title`; `name` is new": (SCHEMA, SCHEMA.replace('"title"', '"name"')),
}


def test_a_server_gets_a_suite_that_runs_without_a_key_and_names_what_breaks_it(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository("shelf")
    repo.commit(FILES)

    done = tidegate("init", cwd=repo.root)
    assert done.code == 0, done.stderr
    assert "the server offers 2 tools; 2 of them are called" in done.stdout
    assert "each passed 3 of 3 trials" in done.stdout
    assert "- {call: add, input: {title: Buy milk}}" in (repo.root / "tidegate.yaml").read_text()

    repo.commit({})
    for number, (cause, (old, new)) in enumerate(CHANGES.items()):
        assert old in SERVER
        repo.branch(f"change-{number}", {"server.py": SERVER.replace(old, new)})
        ran = tidegate("pr", cwd=repo.root)
        assert (ran.code, cause in ran.comment) == (1, True), ran.stderr + ran.comment
