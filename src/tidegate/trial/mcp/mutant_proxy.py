"""The proxy in front of an MCP server: passes messages on, changes what the mutant changes, and records the calls.

`run/mutant_trials.py` writes it behind `answer_status.py` into one script, so it imports nothing from Tidegate.
The transport is stdio: one JSON-RPC message per line.
"""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.trial.mcp.answer_status import status_of

NEW_PARAMETER = "confirm"  # the one that a mutant requires
INVALID = -32602  # JSON-RPC: invalid parameters
Message = dict[str, Any]


def main(command: str, spool: str, mutant: Message) -> int:
    """Run the server until it ends or its input is closed; return its exit status. The argument is the trial's port."""
    command = command.replace("{port}", sys.argv[1])
    server = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    passing = Passing(spool, mutant)
    assert server.stdin is not None
    assert server.stdout is not None
    up = threading.Thread(target=passing.pass_up, args=(server.stdin,), daemon=True)
    up.start()
    for line in server.stdout:
        passing.say(passing.down(line))
    return min(abs(server.wait()), 127)


class Passing:
    """Both directions of a session."""

    def __init__(self, spool: str, mutant: Message) -> None:
        self.spool = spool
        self.mutant = mutant
        self.asked: dict[str, Message] = {}
        self.lock = threading.Lock()

    def pass_up(self, server: Any) -> None:
        """Pass the client's messages on, and answer those that the mutant refuses."""
        try:
            for line in sys.stdin.buffer:
                message = parsed(line)
                if message is None:
                    server.write(line)
                else:
                    self.asked[json.dumps(message.get("id"))] = json.loads(json.dumps(message))
                    refusal = self.up(message)
                    if refusal is not None:
                        answer = {"jsonrpc": "2.0", "id": message.get("id"), **refusal}
                        self.note(message, answer)
                        self.say(json.dumps(answer).encode() + b"\n")
                        continue
                    server.write(json.dumps(message).encode() + b"\n")
                server.flush()
            server.close()
        except OSError:
            pass

    def up(self, message: Message) -> Message | None:
        """Change a request in place, or return what refuses it."""
        params = message.get("params")
        if message.get("method") != "tools/call" or not isinstance(params, dict) or not self.mutant:
            return None
        kind, name, tool = self.mutant["kind"], self.mutant["name"], params.get("name")
        given = as_dict(params.get("arguments"))
        if kind in ("tool_removed", "tool_renamed") and tool == name:
            return {"error": {"code": INVALID, "message": f"Unknown tool: {name}"}}
        if kind == "tool_renamed" and tool == new(name):
            params["name"] = name
        if tool != self.mutant["command"]:
            return None
        if kind == "parameter_renamed" and name in given:
            return failed(f"unexpected argument: {name}")
        if kind == "parameter_renamed" and new(name) in given:
            given[name] = given.pop(new(name))
        if kind == "value_refused" and name in given and given[name] == json.loads(self.mutant["value"]):
            return failed(f"invalid value for {name}: {self.mutant['value']}")
        if kind == "default_changed":
            params["arguments"] = {name: json.loads(self.mutant["value"]), **given}
        if kind == "parameter_required" and NEW_PARAMETER not in given:
            return failed(f"missing required argument: {NEW_PARAMETER}")
        given.pop(NEW_PARAMETER, None) if kind == "parameter_required" else None
        return None

    def down(self, line: bytes) -> bytes:
        """Return the server's message as the client gets it."""
        message = parsed(line)
        if message is None or "method" in message or "id" not in message:
            return line
        asked = self.asked.pop(json.dumps(message["id"]), {})
        result = message.get("result")
        if self.mutant and isinstance(result, dict):
            self.change(asked, result)
        self.note(asked, message)
        return json.dumps(message).encode() + b"\n"

    def change(self, asked: Message, result: Message) -> None:
        """Change a result in place."""
        kind, name = self.mutant["kind"], self.mutant["name"]
        if asked.get("method") == "tools/list" and isinstance(result.get("tools"), list):
            result["tools"] = [
                one for one in result["tools"] if not (kind == "tool_removed" and one.get("name") == name)
            ]
            for tool in result["tools"]:
                listed(tool, self.mutant)
        params = as_dict(asked.get("params"))
        if asked.get("method") != "tools/call" or params.get("name") != self.mutant["command"]:
            return
        if kind == "error_flag_flipped":
            result["isError"] = result.get("isError") is not True
        elif kind == "result_emptied":
            result["content"] = []
            result.pop("structuredContent", None)
        elif kind == "result_reshaped":
            result["content"] = [{"type": "text", "text": json.dumps({"result": one})} for one in texts(result)]

    def note(self, asked: Message, answer: Message) -> None:
        """Record a call of a tool, or the list of tools, as a file of its own."""
        method, params = asked.get("method"), asked.get("params") or {}
        result = answer.get("result")
        if method == "tools/list":
            argv, out = ["tools/list"], json.dumps(as_dict(result).get("tools", []))
        elif method == "tools/call":
            argv = [str(params.get("name")), json.dumps(params.get("arguments") or {}, sort_keys=True)]
            out = "\n".join(texts(as_dict(result))) if result else json.dumps(answer.get("error"))
        else:
            return
        call = {
            "argv": argv,
            "exit_code": status_of(answer) if method == "tools/call" else int(not isinstance(result, dict)),
            "stdout": out,
            "at": time.time(),
            "home": os.environ.get("HOME", ""),
        }
        part = Path(self.spool) / f"{time.time_ns()}-{os.getpid()}.part"
        with suppress(OSError):
            part.write_text(json.dumps(call))
            part.rename(part.with_suffix(".json"))

    def say(self, line: bytes) -> None:
        """Send one line to the client."""
        with self.lock:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()


def parsed(line: bytes) -> Message | None:
    """Return the message in a line; None for a batch and for anything that is not a message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def as_dict(value: Any) -> Message:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def new(name: str) -> str:
    """Return the new name of a tool or parameter."""
    return f"{name}_new"


def failed(text: str) -> Message:
    """Return the answer of a call that failed."""
    return {"result": {"content": [{"type": "text", "text": text}], "isError": True}}


def listed(tool: Message, mutant: Message) -> None:
    """Change a tool of the list in place."""
    kind, name = mutant["kind"], mutant["name"]
    if kind == "tool_renamed" and tool.get("name") == name:
        tool["name"] = new(name)
    if tool.get("name") != mutant["command"]:
        return
    schema = as_dict(tool.get("inputSchema"))
    properties = as_dict(schema.get("properties"))
    if kind == "description_emptied":
        tool["description"] = ""
    elif kind == "parameter_required":
        schema["properties"] = {**properties, NEW_PARAMETER: {"type": "boolean"}}
        schema["required"] = [*schema.get("required", []), NEW_PARAMETER]
    elif kind == "parameter_renamed":
        schema["properties"] = {new(one) if one == name else one: value for one, value in properties.items()}
        schema["required"] = [new(one) if one == name else one for one in schema.get("required", [])]
    elif kind in ("value_refused", "default_changed") and isinstance(properties.get(name), dict):
        own, value = properties[name], json.loads(mutant["value"])
        if kind == "default_changed":
            own["default"] = value
        else:
            own["enum"] = [one for one in own.get("enum", []) if one != value]


def texts(result: Message) -> list[str]:
    """Return the texts of a result."""
    content = result.get("content")
    return [str(one.get("text", "")) for one in content if isinstance(one, dict)] if isinstance(content, list) else []
