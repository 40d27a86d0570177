"""The scripts in front of the tool under test record its calls."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tidegate.model.proof import Mutant
from tidegate.run.mutant_trials import in_front_of_server

SERVER = Path(__file__).parents[2] / "mcp_server.py"
REFUSED = ("both", "flag 1", "no content", "no object")  # answers that clients refuse: one of each fault


def answers(folder: Path, mutant: Mutant, *requests: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the server answers behind the mutant."""
    server = shlex.join([os.path.realpath(sys.executable), str(SERVER), "shelves"])
    front = in_front_of_server(folder / "front", server, mutant)
    messages = [
        {"jsonrpc": "2.0", "id": n, "method": method, "params": own} for n, (method, own) in enumerate(requests)
    ]
    asked = "".join(json.dumps(message) + "\n" for message in messages)
    words = ["/bin/sh", "-c", front.command.replace("{port}", "8080")]
    done = subprocess.run(words, input=asked, text=True, cwd=folder, timeout=120, check=True, stdout=subprocess.PIPE)
    found = {one["id"]: one for one in map(json.loads, filter(lambda line: '"id"' in line, done.stdout.splitlines()))}
    return [found[number] for number in range(len(requests))]


@pytest.mark.parametrize(
    ("kind", "fields", "given", "answer", "offered"),
    [
        ("tool_removed", {"name": "add", "command": ""}, {"title": "tide"}, "Unknown tool: add", None),
        ("tool_renamed", {"name": "add", "command": ""}, {"title": "tide"}, "Unknown tool: add", None),
        (
            "parameter_renamed",
            {"name": "title"},
            {"title": "tide"},
            "unexpected argument: title",
            {"title_new", "shelf"},
        ),
        ("parameter_renamed", {"name": "title"}, {"title_new": "tide"}, "added tide", {"title_new", "shelf"}),
        (
            "parameter_required",
            {},
            {"title": "tide"},
            "missing required argument: confirm",
            {"title", "shelf", "confirm"},
        ),
        ("parameter_required", {}, {"title": "tide", "confirm": True}, "added tide", {"title", "shelf", "confirm"}),
        ("value_refused", {"name": "shelf", "value": '"low"'}, {"title": "t", "shelf": "low"}, "invalid value", None),
        ("value_refused", {"name": "shelf", "value": '"low"'}, {"title": "t", "shelf": "top"}, "added t", None),
        ("result_emptied", {}, {"title": "tide"}, '"content": []', None),
        ("result_reshaped", {}, {"title": "tide"}, '{\\"result\\": \\"added tide\\"}', None),
        ("error_flag_flipped", {}, {"title": "tide"}, '"isError": true', None),
        ("error_flag_flipped", {"command": "where"}, {"title": "tide"}, "added tide", None),
    ],
)
def test_a_mutant_changes_what_the_client_gets(
    tmp_path: Path, kind: str, fields: dict[str, str], given: dict[str, Any], answer: str, offered: set[str] | None
) -> None:
    mutant = Mutant.model_validate({"kind": kind, "words": "", "name": "", "command": "add", **fields})
    listed, called = answers(tmp_path, mutant, ("tools/list", {}), ("tools/call", {"name": "add", "arguments": given}))
    assert answer in json.dumps(called)
    tools = {tool["name"]: tool for tool in listed["result"]["tools"]}
    assert ("add" in tools, "add_new" in tools) == (not kind.startswith("tool_"), kind == "tool_renamed")
    if offered:
        assert set(tools["add"]["inputSchema"]["properties"]) == offered


def test_another_default_is_listed_and_taken(tmp_path: Path) -> None:
    mutant = Mutant(kind="default_changed", words="", name="shelf", command="add", value='"low"')
    call = ("tools/call", {"name": "add", "arguments": {"title": "tide"}})
    listed, _ = answers(tmp_path, mutant, ("tools/list", {}), call)
    properties = listed["result"]["tools"][0]["inputSchema"]["properties"]
    assert properties["shelf"]["default"] == "low"
    assert tmp_path.joinpath("titles.txt").read_text() == "tidelow\n"


def test_an_answer_that_clients_refuse_is_recorded_as_a_failure_as_in_trials(tmp_path: Path) -> None:
    """Otherwise a mutant that is met only by such a call would be taken for one that changes nothing."""
    server = shlex.join([os.path.realpath(sys.executable), str(SERVER)])
    front = in_front_of_server(tmp_path / "front", server, None)
    calls = [{"name": "add", "arguments": {"title": title}} for title in ("tide", *REFUSED, "nothing")]
    asked = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n"
        for number, params in enumerate(calls)
    )
    subprocess.run(
        ["/bin/sh", "-c", front.command.replace("{port}", "8080")],
        input=asked,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=True,
    )
    assert [call.exit_code for call in front.calls()] == [0, 3, 4, 5, 6, 1]
