"""Causes in the tools of an MCP server, found from real calls: a tool that is gone, and a parameter that is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidegate.model.cause import Cause
from tidegate.reports.cause_text import says as sentence

Make = Callable[..., Any]

SERVER = """\
#!/usr/bin/env python3
import json, pathlib, sys
TOOLS = {"keep": ["title"]}
def call(name, given):
    refused = [key for key in given if key not in TOOLS.get(name, [])]
    if name not in TOOLS:
        return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}
    if refused:
        text = f"unexpected parameter: {refused[0]}"
        return {"result": {"content": [{"type": "text", "text": text}], "isError": True}}
    pathlib.Path("notes.txt").write_text(str(given))
    return {"result": {"content": [{"type": "text", "text": "kept"}]}}
def answer(method, params):
    if method == "initialize":
        info = {"serverInfo": {"name": "notes", "version": "1"}, "capabilities": {"tools": {}}}
        return {"result": {"protocolVersion": params["protocolVersion"], **info}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}}
    return call(params["name"], params.get("arguments", {})) if method == "tools/call" else {"result": {}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
"""
FILES = {
    "bin/notes-server": SERVER,
    "tidegate.yaml": """\
version: 1
scenarios: [keep.yaml]
path: [bin]
target: {mcp: {name: notes, command: notes-server}}
agents: {steps: {type: scripted, steps: {keep: [{call: keep, input: {title: milk}}]}}}
""",
    "keep.yaml": """\
name: keep
description: A note is kept.
target: from_config
task: Keep a note.
evaluation: {gates: [{type: file_contains, path: notes.txt, substring: milk}]}
""",
}
CHANGES = {
    "tool": ('TOOLS = {"store": ["title"]}', "the MCP server `notes` no longer has the tool `keep`; `store` is new"),
    "parameter": ('TOOLS = {"keep": ["name"]}', "`notes keep` no longer accepts `title`; `name` is new"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_of_the_server_is_named_with_the_call(pull_request: Make, kind: str) -> None:
    tools, says = CHANGES[kind]
    done = pull_request(FILES, {"bin/notes-server": SERVER.replace('TOOLS = {"keep": ["title"]}', tools)})
    assert done.code == 1, done.stdout + done.stderr
    (cause,) = done.result["causes"]
    assert (cause["kind"], sentence(Cause.model_validate(cause))) == (kind, says)
    assert (cause["edits"][0]["removed"]["path"], cause["edits"][0]["removed"]["line"]) == ("bin/notes-server", 3)
    assert f"**Likely cause:** {says}" in done.comment
    assert """notes keep '{"title": "milk"}'""" in done.comment
