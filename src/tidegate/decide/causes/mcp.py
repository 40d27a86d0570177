"""Causes in an MCP server: a tool that is gone, a parameter that is refused or required, an error, a dead server."""

from __future__ import annotations

import json
import re
from typing import Any

from tidegate.decide.causes.diff_lines import edits_of, replacement
from tidegate.decide.causes.seen import Found, Seen, named_in, words
from tidegate.model.agent import LIST
from tidegate.model.measurement import Call, TrialResult

_NO_TOOL = re.compile(
    r"unknown tool|no such tool|tool .{0,80}not (?:found|exist|known|available)|-32601", re.IGNORECASE
)
_GONE = re.compile(
    r"the server has ended|connection closed|-32000\b|transport (?:is )?closed|broken pipe", re.IGNORECASE
)
# The pattern of a check that `tidegate init` writes for a tool: it begins with the tool's name.
_OF_TOOL = re.compile(r"\(\?m\)\^(?P<name>\S+?)\(\?!\\S\)(?P<rest>.*)", re.DOTALL)
# What servers write that check arguments: Zod's issues as JSON, pydantic, JSON Schema, sentences of their own.
_ISSUE = re.compile(r"\{[^{}]*\}")
_PYDANTIC = re.compile(r"^([A-Za-z_][\w.-]*)\n[ \t]+([^\n]*) \[type=[^\n]*", re.MULTILINE)
_BEFORE = re.compile(r"^.*(?:validation error|validation failed|arguments for tool [^\s:]+): ", re.IGNORECASE)
_BY_TOOL = re.compile(r"Error executing tool ")  # Python's SDK: not an argument, unless pydantic refuses it
_REFUSED = re.compile(
    r"unexpected|unknown|unrecogni[sz]ed|additional propert|extra input"
    r"|is not (?:allowed|permitted|accepted|expected|known)",
    re.IGNORECASE,
)
_MISSING = re.compile(r"required|missing|received undefined|argument .* not found", re.IGNORECASE)
_QUOTED = re.compile(r"['\"`]([A-Za-z_][\w.-]*)['\"`]")
_AT = re.compile(r" at ([\w.\[\]-]+)$")
_FIRST = re.compile(r"\s*([A-Za-z_][\w.\[\]-]*)(?:: | is )")


def server(seen: Seen) -> Found | None:
    """A server that ends during a call, or that does not start."""
    if seen.pair:
        call, name = seen.pair.head, "".join(words(seen.pair.head)[:1])
        ended = call.status != "ok" and _GONE.search(call.message) and not _GONE.search(seen.pair.base.message)
        return Found("server", (name,), head=_line(call.message)) if ended and arguments(call) is not None else None
    evidence = seen.row.evidence
    if evidence and not seen.head and "no_session" in seen.unmeasured:
        return Found("server", ("",), head=_line(evidence.message))
    return None


def tool(seen: Seen) -> Found | None:
    """A tool that head's server does not have."""
    if seen.pair is None or arguments(seen.pair.head) is None or seen.pair.head.status == "ok":
        return None
    name, of_tool = words(seen.pair.head)[:2]
    if not _NO_TOOL.search(seen.pair.head.message):
        return None
    return Found("tool", (name,), (of_tool,))


def parameter(seen: Seen) -> Found | None:
    """A parameter that head's tool refuses, or that it requires now."""
    given = arguments(seen.pair.head) if seen.pair else None
    if seen.pair is None or given is None or seen.pair.head.status != "error":
        return None
    about, keys = (" ".join(words(seen.pair.head)[:2]),), _keys(given)
    lines = problems(seen.pair.head.message)
    refusing = [line for line in lines if _REFUSED.search(line)]
    refused = tuple(key for key in keys if any(named_in(line, key) for line in refusing))
    named = (_named(line) for line in lines if _MISSING.search(line))
    missing = tuple(dict.fromkeys(name for name in named if name and name not in keys))
    if refused:
        return Found("parameter", about, refused, missing if len(refused) == len(missing) == 1 else ())
    if missing:
        old = tuple(key for key in keys if missing == (replacement(key, edits_of((key,), seen.changes, 1)),))
        return Found("parameter", about, old, missing) if len(old) == 1 else Found("required", about, new=missing)
    return None


def tool_error(seen: Seen) -> Found | None:
    """A tool that reports an error on head for a call that works on base."""
    if seen.pair is None or arguments(seen.pair.head) is None or not seen.pair.head.message.strip():
        return None
    if (seen.pair.base.status, seen.pair.head.status) != ("ok", "error"):
        return None
    line = _line("\n".join(problems(seen.pair.head.message))) or _line(seen.pair.head.message)
    return Found("tool_error", (" ".join(words(seen.pair.head)[:2]),), head=line, clues=tuple(_QUOTED.findall(line)))


def offer(seen: Seen) -> Found | None:
    """A tool that head's server no longer lists, or lists with other parameters, by a check of `tools/list`."""
    for check in seen.head[0].evaluators if seen.head else ():
        patterns = (pattern for name, pattern in check.unmatched if name == LIST)
        listed = next(filter(None, map(_OF_TOOL.fullmatch, patterns)), None)
        if listed is None or any(_score(trial, check.name) == 1 for trial in seen.head):
            continue
        if not seen.base or any(_score(trial, check.name) != 1 for trial in seen.base):
            continue
        name = re.sub(r"\\(.)", r"\1", listed["name"])
        if not listed["rest"]:
            return Found("tool", ("",), (name,))
        return Found("parameters", (name,), clues=(name,))
    return None


def _score(trial: TrialResult, name: str) -> float | None:
    return next((check.score for check in trial.evaluators if check.name == name), None)


def arguments(call: Call) -> dict[str, Any] | None:
    """Return the arguments of an MCP tool call; None for a call of a program.

    A tool call is recorded as server, tool and one JSON object.
    """
    parts = words(call)
    return _object(parts[2]) if len(parts) == 3 else None


# --- what servers say about arguments


def problems(message: str) -> list[str]:
    """Return what is wrong with arguments by the message, one line for each: `tasks.0.done: Required`."""
    issues = [one for text in _ISSUE.findall(message) if (one := _object(text)) and "code" in one]
    if issues:
        return [_of_zod(one) for one in issues]
    if fields := _PYDANTIC.findall(message):
        return [f"{name}: {said}" for name, said in fields]
    return [_BEFORE.sub("", line) for line in message.splitlines() if not _BY_TOOL.match(line)]


def _of_zod(issue: dict[str, Any]) -> str:
    path, said = ".".join(map(str, issue.get("path") or ())), str(issue.get("message") or issue["code"])
    keys = " ".join(f"'{key}'" for key in issue.get("keys") or ())
    return f"{path}: {said} {keys}".strip(": ")


def _named(line: str) -> str:
    """Return the last key of what a line is about: at its end, the last name in quotes, or its first word."""
    at, quoted, first = _AT.search(line), _QUOTED.findall(line), _FIRST.match(line)
    path = at[1] if at else quoted[-1] if quoted else first[1] if first else ""
    return next((key for key in reversed(re.split(r"[.\[\]]", path)) if key and not key.isdecimal()), "")


def _keys(given: Any) -> list[str]:
    """Return all keys of the arguments, also of inner objects."""
    if isinstance(given, list):
        return list(dict.fromkeys(key for one in given for key in _keys(one)))
    return [*given, *(key for one in given.values() for key in _keys(one))] if isinstance(given, dict) else []


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _line(text: str) -> str:
    """Return the first line that has words."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
