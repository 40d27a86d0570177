"""What a step of a session does, whatever the agent calls its tool: so that it can be done again without the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from tidegate.agents.invocations.from_log import tool_call
from tidegate.model.event import ToolCall
from tidegate.model.trial import SessionStep

Kind = Literal["shell", "call", "read", "list", "find", "search", "write", "edit", "nothing"]
_TOOLS: dict[str, Kind] = {
    "read": "read",
    "readfile": "read",
    "ls": "list",
    "list": "list",
    "listdirectory": "list",
    "glob": "find",
    "grep": "search",
    "searchfilecontent": "search",
    "write": "write",
    "writefile": "write",
    "edit": "edit",
    "multiedit": "edit",
    "replace": "edit",
    "todowrite": "nothing",
    "todoread": "nothing",
    "writetodos": "nothing",
    "updateplan": "nothing",
    "toolsearch": "nothing",
}
_PATH = ("file_path", "filePath", "absolute_path", "path", "dir_path")
_OLD, _NEW = ("old_string", "oldString"), ("new_string", "newString")
_ALL = ("replace_all", "replaceAll", "allow_multiple")


class TextEdit(NamedTuple):
    """Replace a text of a file, once or everywhere."""

    old: str
    new: str
    everywhere: bool = False


class Action(NamedTuple):
    """One step. `text` is a command, a pattern, the content to write, or the name of an MCP server's tool."""

    kind: Kind
    path: str = ""
    text: str = ""
    edits: tuple[TextEdit, ...] = ()
    given: Mapping[str, Any] = {}


class CannotRepeatError(Exception):
    """The step cannot be done again; the message says why."""


def action_of(step: SessionStep, server: str) -> Action:
    """Return what the step does. `server` is the name of the MCP server under test, or ''.

    Raises CannotRepeatError.
    """
    if step.command is not None:
        return Action("shell", text=step.command)
    called = tool_call(ToolCall(id="", tool=step.tool, input=step.input), server) if server else None
    if called is not None:
        return Action("call", text=called[0], given=json.loads(called[1]) if called[1:] else {})
    kind = _TOOLS.get(step.tool.replace("_", "").lower())
    if kind is None:
        raise CannotRepeatError(f"the agent's tool {step.tool} cannot be repeated")
    path = _text(step.input, *_PATH)
    match kind:
        case "find" | "search":
            return Action(kind, path or ".", _text(step.input, "pattern"))
        case "write":
            return Action(kind, path, _text(step.input, "content"))
        case "edit":
            several = step.input.get("edits")
            given = several if isinstance(several, list) else [step.input]
            return Action(kind, path, edits=tuple(_edit(one) for one in given if isinstance(one, dict)))
        case _:
            return Action(kind, path or ".")


def edited(text: str | None, edits: tuple[TextEdit, ...]) -> str | None:
    """Return the file's text with the edits, as agents' tools apply them; None if one does not apply."""
    for edit in edits:
        if text is None or (text and not edit.old):
            return edit.new if text is None and not edit.old else None
        found = text.count(edit.old)
        if edit.old and (found == 0 or (found > 1 and not edit.everywhere)):
            return None
        text = text.replace(edit.old, edit.new) if edit.old else edit.new
    return text


def _edit(given: Mapping[str, Any]) -> TextEdit:
    return TextEdit(_text(given, *_OLD), _text(given, *_NEW), any(given.get(name) is True for name in _ALL))


def _text(given: Mapping[str, Any], *names: str) -> str:
    return next((given[name] for name in names if isinstance(given.get(name), str)), "")
