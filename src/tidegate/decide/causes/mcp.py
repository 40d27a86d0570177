"""Causes in an MCP server: a tool that is gone, a parameter that is refused, new or of another type, a dead server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from tidegate.decide.causes.diff_lines import edits_of, replacement
from tidegate.decide.causes.seen import Found, Seen, words
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
_PYDANTIC = re.compile(
    r"^(?P<name>[A-Za-z_][\w.-]*)\n[ \t]+(?P<said>[^\n]*) \[type=(?P<type>\w+)(?P<rest>[^\n]*)", re.MULTILINE
)
_OPTIONS = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_NAME = r"['\"`]?([A-Za-z_][\w.-]*)['\"`]?"
_NAMED = _NAME.replace("(", "(?P<name>", 1)
# What servers write that check arguments by a JSON Schema or by hand: JavaScript, Python, Go.
_SENTENCES: tuple[tuple[str, str], ...] = (
    ("missing", rf"(?:^|[:\s]){_NAME} is a required property"),
    ("missing", r"expected \w+, received undefined at ([\w.\[\]-]+)"),
    ("missing", r"missing properties: \[?['\"]([\w.-]+)['\"]"),
    ("missing", rf"must have required property {_NAME}"),
    ("missing", rf"(?:missing|required) (?:required )?(?:argument|parameter|property|field)s?:? {_NAME}"),
    ("missing", rf"(?:argument|parameter|property|field) {_NAME} (?:is (?:required|missing)|not found)"),
    ("missing", rf"(?:^|[:\s]){_NAME}(?:: | )(?:field required|is required|is missing)"),
    ("missing", rf"(?:^|[:,\s]){_NAME}: (?:required\b|invalid input: expected \w+, received undefined)"),
    ("refused", r"additional properties (?:are )?not allowed \(['\"]([\w.-]+)['\"]"),
    ("refused", r"additional propert\w+ \[?['\"]([\w.-]+)['\"]"),
    (
        "refused",
        rf"(?:unexpected|unknown|unrecogni[sz]ed)(?: keyword)? (?:argument|parameter|property|field|key)s?(?:\(s\))?"
        rf"(?: in object)?:? {_NAME}",
    ),
    (
        "refused",
        rf"(?:argument|parameter|property|field|key) {_NAME} is not (?:allowed|permitted|accepted|expected|known)",
    ),
)
_TYPED = (
    r"expected (?P<type>\w+), received (?!undefined)\w+ at (?P<name>[\w.\[\]-]+)",
    r"/properties/(?P<name>[\w.-]+): type: .* want \"(?P<type>\w+)\"",
    rf"(?:argument|parameter) {_NAMED} (?:is not an?|must be an?) (?P<type>\w+)",
    rf"{_NAMED}: (?:invalid input: )?expected (?P<type>\w+), received (?!undefined)\w+",
)
_NOT_OF_TYPE = re.compile(r"^(?:.*: )?(?P<value>.+?) is not of type ['\"](?P<type>\w+)['\"]", re.MULTILINE)
_NOT_ONE_OF = re.compile(
    r"(?P<value>['\"][^'\"]*['\"]|\S+) (?:is not one of|does not equal any of:?) \[(?P<options>[^\]]*)\]"
)
_OPTION_AT = (
    r"expected one of (?P<options>\S+) at (?P<name>[\w.\[\]-]+)",
    rf"{_NAMED}: invalid (?:option: expected one of|enum value\. expected) (?P<options>.+?)(?:, received|$|\. )",
)
_PREFIX = re.compile(r"^MCP error -\d+: (?:Input validation error: )?(?:Invalid arguments for tool \S+: )?")
_OBJECT = re.compile(r"\{[^{}]*\}")
_BY_TOOL = re.compile(r"Error executing tool ")  # Python's SDK: not an argument, unless pydantic refuses it
_PLAIN_TYPE = re.compile(r"valid (\w+)")


class Problem(NamedTuple):
    """What is wrong with one argument: it is missing, refused, or has a value or a type that is not accepted."""

    kind: Literal["missing", "refused", "type", "value"]
    name: str
    accepted: tuple[str, ...] = ()  # types or values


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
    """A parameter that head's tool refuses, that it requires now, or whose value or type it does not accept."""
    given = arguments(seen.pair.head) if seen.pair else None
    if seen.pair is None or given is None or seen.pair.head.status != "error":
        return None
    about = (" ".join(words(seen.pair.head)[:2]),)
    found = list(problems(seen.pair.head.message, given))
    known = json.dumps(given)
    refused = tuple(dict.fromkeys(one.name for one in found if one.kind == "refused" and f'"{one.name}"' in known))
    # Zod 4 says that an enum which is not there has a wrong value.
    gone = (_key(one.name) for one in found if one.kind != "refused" and _at(given, one.name) is None)
    missing = tuple(dict.fromkeys(gone))
    if len(refused) == len(missing) == 1:
        return Found("parameter", about, refused, missing)
    if refused:
        return Found("parameter", about, refused)
    if missing:
        old = tuple(key for key in _keys(given) if missing == (_renamed(key, seen),))
        return Found("parameter", about, old, missing) if len(old) == 1 else Found("required", about, new=missing)
    for one in found:
        value = _at(given, one.name)
        if one.kind == "value" and isinstance(value, str | int | float):
            return Found("value", about, (str(value),), one.accepted, clues=(_key(one.name),))
        if one.kind == "type" and value is not None and one.accepted:
            return Found("type", about, (_key(one.name),), one.accepted[:1])
    return None


def _at(given: Any, path: str) -> Any:
    """Return the value at a path such as `tasks.0.done`; None if there is none."""
    for key in path.split("."):
        if isinstance(given, list) and key.isdecimal() and int(key) < len(given):
            given = given[int(key)]
        else:
            given = given.get(key) if isinstance(given, dict) else None
    return given


def _key(path: str) -> str:
    """Return the last key of a path that is not a number."""
    return next((key for key in reversed(path.split(".")) if not key.isdecimal()), path)


def _keys(given: Any) -> list[str]:
    """Return all keys of the arguments, also of inner objects."""
    if isinstance(given, list):
        return list(dict.fromkeys(key for one in given for key in _keys(one)))
    return [*given, *(key for one in given.values() for key in _keys(one))] if isinstance(given, dict) else []


def _renamed(key: str, seen: Seen) -> str:
    """Return the name that the changed lines have in place of the parameter; '' if there is none."""
    return replacement(key, edits_of((key,), seen.changes, 1))


def tool_error(seen: Seen) -> Found | None:
    """A tool that reports an error on head for a call that works on base."""
    if seen.pair is None or arguments(seen.pair.head) is None or not seen.pair.head.message.strip():
        return None
    if (seen.pair.base.status, seen.pair.head.status) != ("ok", "error"):
        return None
    line = _line(_PREFIX.sub("", seen.pair.head.message))
    return Found("tool_error", (" ".join(words(seen.pair.head)[:2]),), head=line, clues=tuple(_quoted(line)))


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
    if len(parts) != 3 or not parts[2].startswith("{"):
        return None
    try:
        given = json.loads(parts[2])
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


# --- what servers say about arguments


def problems(message: str, given: dict[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with arguments by the message: as Zod 3 and 4, pydantic, JSON Schema and the Go SDK write it.

    A text that none of them writes yields nothing: a quoted word in it may be a value.
    """
    issues = _zod(message)
    if issues:
        yield from issues
        return
    fields = list(_PYDANTIC.finditer(message))
    if fields:
        yield from filter(None, map(_of_pydantic, fields))
        return
    for line in () if _BY_TOOL.match(message) else message.splitlines():
        for kind, pattern in _SENTENCES:
            if found := re.search(pattern, line, re.IGNORECASE):
                yield Problem("missing" if kind == "missing" else "refused", _dotted(found[1]))
                break
        if found := _first(_OPTION_AT, line):
            yield Problem("value", _dotted(found["name"]), tuple(_quoted(found["options"])))
        if found := _first(_TYPED, line):
            yield Problem("type", _dotted(found["name"]), (found["type"],))
    yield from _of_value(message, given)


def _first(patterns: Iterable[str], line: str) -> re.Match[str] | None:
    return next(filter(None, (re.search(pattern, line, re.IGNORECASE) for pattern in patterns)), None)


def _dotted(path: str) -> str:
    """Return `tasks.0.done` for `tasks[0].done`."""
    return re.sub(r"\[(\d+)\]", r".\1", path)


def _zod(message: str) -> list[Problem]:
    """Return the problems in the issues that Zod prints as JSON, also if some are cut out of a long message."""
    found: list[Problem] = []
    for text in _OBJECT.findall(message):
        try:
            issue = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if "code" in issue:
            found += _of_zod(issue)
    return found


def _of_zod(issue: dict[str, Any]) -> Iterator[Problem]:
    name = ".".join(map(str, issue.get("path") or ()))
    said = str(issue.get("message", ""))
    match issue["code"]:
        case "unrecognized_keys":
            yield from (Problem("refused", str(key)) for key in issue.get("keys") or ())
        case "invalid_type" if issue.get("received") == "undefined" or said.endswith("received undefined"):
            yield Problem("missing", name)
        case "invalid_type":
            yield Problem("type", name, (str(issue.get("expected")),))
        case "invalid_enum_value" | "invalid_value" | "invalid_literal":
            options = issue.get("options") or issue.get("values") or [issue.get("expected")]
            yield Problem("value", name, tuple(map(str, options)))
        case _:
            pass


def _of_pydantic(found: re.Match[str]) -> Problem | None:
    name, kind = found["name"], found["type"]
    if kind in ("missing", "missing_argument", "missing_keyword_only_argument"):
        return Problem("missing", name)
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return Problem("refused", name)
    if kind in ("literal_error", "enum"):
        return Problem("value", name, tuple(_quoted(found["said"])))
    typed = _PLAIN_TYPE.search(found["said"])
    return Problem("type", name, (typed[1],)) if typed else None


def _of_value(message: str, given: dict[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with a value by a JSON Schema, if exactly one argument has it."""
    for pattern, kind in ((_NOT_ONE_OF, "value"), (_NOT_OF_TYPE, "type")):
        for found in pattern.finditer(message):
            value = found["value"].strip("'\"")
            keys = [key for key, own in given.items() if str(own) == value]
            if len(keys) == 1 and kind == "value":
                options = tuple(_quoted(found["options"])) or tuple(found["options"].split())
                yield Problem("value", keys[0], options)
            elif len(keys) == 1:
                yield Problem("type", keys[0], (found["type"],))


def _quoted(text: str) -> Iterator[str]:
    return (one or other for one, other in _OPTIONS.findall(text))


def _line(text: str) -> str:
    """Return the first line that has words."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
