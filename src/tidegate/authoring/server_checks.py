"""The checks of an MCP server's first suite: what it offers, and what its answers have in common. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from tidegate.agents.scripted import parameters
from tidegate.authoring.observed_gates import lasting
from tidegate.authoring.server_example import Example
from tidegate.authoring.server_values import listed_values, schema_of
from tidegate.checks.evaluators.matching import as_json
from tidegate.model.agent import LIST, Tool, taken_from
from tidegate.suite.document import MAX_NUMBER
from tidegate.text.noise import VOLATILE

ANY = {"any": True}
LONGEST_MOMENT = 40  # characters of a date or the like
_WORD_END = r"(?!\S)"
MOST_TOOLS = 60
_MARK = "\0"  # what may differ, in a text that becomes a pattern
_STAMP = re.compile(r"(?i)creat|updat|modif|changed|added|saved|stamp|_at$|^at$|(?-i:At$)")  # a field of a record
_OF_NOW = re.compile(r"(?i)\b(?:now|today)\b|\bcurrent (?:\w+ )?(?:date|time|day|week|month|year)")  # what a tool tells
_TAKES_TIME = re.compile(r"(?:^|_)(?:time|day|since|until|when)$|[a-z](?:Date|Time)$|date$")  # names of parameters
_MOMENT = re.compile(r"\d+(?:T\d+)?Z?")  # a part of a date or a time
_SECONDS = re.compile(r"(?<![+-]\d)\d:\d\d(?![.:\d])")  # at the end of a time, not of a zone
_CLOCK = re.compile(r"\d+|\b[AaPp]\.?[Mm]\b")
_WITH_DIGIT = re.compile(r"[\w.:+-]*\d[\w.:+-]*")
_OF_SDK = re.compile(r"(?i)validation|-32\d{3}")  # words of a library, in an error


def surface_checks(tools: Iterable[Tool]) -> Iterator[dict[str, Any]]:
    """Yield two checks per tool: that it is offered, and that the inputs of today still work, by its schema."""
    for tool in list(tools)[:MOST_TOOLS]:
        properties, required = parameters(tool)
        start = rf"(?m)^{re.escape(tool.name)}{_WORD_END}"
        yield _check(LIST, f"offers {tool.name}", {"regex": start})
        if properties:
            has = "".join(rf"(?=.* \[?{re.escape(name)}\]?{_WORD_END})" for name in sorted(properties))
            no_other = "|".join(rf"{re.escape(name)}{_WORD_END}" for name in sorted(required))
            only = rf"(?!.* (?!{no_other})[^\[\s])" if required else r"(?!.* [^\[\s])"
            described = f"{tool.name} takes {', '.join(sorted(properties))}"
            yield _check(LIST, _short(described), {"regex": f"{start}{has}{only}"})


def tells_time(tool: Tool, given: Mapping[str, Any]) -> bool:
    """Return True if the answer is likely to depend on the time: the tool tells it, or is not given one it takes."""
    left = [name for name in parameters(tool)[0] if not given.get(name) and not listed_values(schema_of(tool, name))]
    return _OF_NOW.search(f"{tool.name} {tool.description or ''}".replace("_", " ")) is not None or any(
        map(_TAKES_TIME.search, left)
    )


def answer_check(
    server: str, call: Example, outputs: Sequence[str], *, fails: bool = False, of_now: bool = False
) -> dict[str, Any]:
    """Return a check that the call works or `fails`, and of what all its answers have in common.

    `of_now`: numbers in the answer depend on when it was given.
    """
    output = _alike([as_json(one) for one in outputs], json.dumps(call.input), of_now)
    if fails and any(map(_OF_SDK.search, outputs)):
        output = ANY
    expected = _expected(call.input)
    given_as = ["an id" if value == ANY else str(value) for value in expected.values()]
    told = f" to {', '.join(given_as)}" if given_as else ""
    name = f"{call.tool} {'is refused' if fails else 'answers as before'}{told}"
    given = {"input": expected, "fails": fails, "exact": True}
    return _check(f"mcp__{server}__{call.tool}", _short(name), output, given)


def _expected(value: Any) -> Any:
    """Return the value as a check expects it: what is taken from an answer may be anything."""
    if taken_from(value):
        return ANY
    if isinstance(value, dict):
        return {key: _expected(one) for key, one in value.items()}
    return [*map(_expected, value)] if isinstance(value, list) else value


def of_each_call(checks: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the checks, with one for all calls that are the same: each answer is needed as often as it was given."""
    of_call: dict[str, list[dict[str, Any]]] = {}
    for check in checks:
        (expected,) = check["expected"]
        call = expected.get("input", check["name"])  # of the list of tools, each check is of another part
        of_call.setdefault(json.dumps([expected["tool"], call]), []).append(check)
    names = Counter[str]()
    found = []
    for first, *others in of_call.values():
        names[first["name"]] += 1
        again = f" ({names[first['name']]})" if names[first["name"]] > 1 else ""
        whole = {"expected": [one for check in (first, *others) for one in check["expected"]]}
        found.append({**first, **whole, "name": f"{first['name']}{again}"})
    return tuple(found)


def _check(tool: str, name: str, output: Any, given: dict[str, Any] | None = None) -> dict[str, Any]:
    expected = {"tool": tool, **(given or {}), "output": output}
    return {"type": "tool_trajectory", "name": name, "mode": "superset", "expected": [expected], "required": True}


def _alike(values: Sequence[Any], given: str, of_now: bool = False) -> Any:
    """Return what matches all values: of texts a pattern, of objects their fields, of lists their items in order.

    Where one field of an object is a date or the like, others may depend on it: only those of the input are used. They
    do not depend on when a record was made or changed. Records that tell this in seconds may come in another order:
    each has what all have in common.
    """
    first = values[0]
    if all(isinstance(value, str) for value in values):
        if pattern := _in_any_order(values, given):
            return {"regex": pattern}
        texts = _aligned(values, given)
        if of_now:
            texts = [_CLOCK.sub(lambda one: one[0] if one[0] in given else _MARK, text) for text in texts]
        pattern = lasting(texts, given)
        return {"regex": pattern} if pattern else ANY
    if all(isinstance(value, list) and len(value) == len(first) for value in values):
        if any(map(_in_seconds, first)):
            return [_alike([*chain(*values)], given, of_now)] * len(first)
        return [_alike(items, given, of_now) for items in zip(*values, strict=True)]
    if all(isinstance(value, dict) for value in values):
        shared = [key for key in first if all(key in value for value in values)]
        fields = [(key, field) for value in values for key, field in value.items() if not _STAMP.search(key)]
        moment = any(_passes(field, given) for _, field in fields)
        passing = {key for key in shared if moment or (_STAMP.search(key) and _passes(first[key], given))}
        known = [key for key in shared if key not in passing or json.dumps(first[key]) in given]
        return {key: _alike([value[key] for value in values], given, of_now) if key in known else ANY for key in shared}
    same = all(value == first for value in values) and not _passes(first, given)
    is_number = isinstance(first, int | float) and not isinstance(first, bool)
    counts = is_number and (of_now or abs(first) > MAX_NUMBER)  # which a suite cannot hold
    return first if same and not counts else ANY


def _in_seconds(record: Any) -> bool:
    """Return True if the record tells in seconds when it was made or changed: others may then come before it."""
    fields = record.items() if isinstance(record, dict) else ()
    return any(_STAMP.search(key) and isinstance(one, str) and _SECONDS.search(one) for key, one in fields)


def _in_any_order(texts: Sequence[str], given: str) -> str:
    """Return a pattern for the lines of these texts in any order; '' if the order is the same, or the lines are not.

    Words with a digit that the input lacks, such as ids, may be any.
    """

    def shape(line: str) -> str:
        return _WITH_DIGIT.sub(lambda word: word[0] if word[0] in given else _MARK, line)

    rows = [[shape(line) for line in text.split("\n")] for text in texts]
    if all(own == rows[0] for own in rows) or any(Counter(own) != Counter(rows[0]) for own in rows):
        return ""
    lines = (".*".join(map(re.escape, line.split(_MARK))) for line in dict.fromkeys(rows[0]) if line.strip())
    return r"\A" + "".join(rf"(?=(?:.*\n)*{line}(?:\n|\Z))" for line in lines)


def _aligned(texts: Sequence[str], given: str) -> list[str]:
    """Return the texts with marks for the words in which a line differs, and for other numbers that the line has."""
    rows = [text.split("\n") for text in texts]
    if len({len(one) for one in rows}) > 1:
        return [*texts]
    lines = ["".join(_common([re.split(r"(\W+)", row) for row in own], given)) for own in zip(*rows, strict=True)]
    return ["\n".join(lines)] * len(texts)


def _common(rows: Sequence[Sequence[str]], given: str) -> Iterator[str]:
    if all(row == rows[0] for row in rows):
        yield from rows[0]
    elif len({len(row) for row in rows}) == 1:
        for words in zip(*rows, strict=True):
            passes = len({*words}) > 1 or (_MOMENT.fullmatch(words[0]) and words[0] not in given)
            yield _MARK if passes else words[0]
    else:
        yield _MARK


def _passes(value: Any, given: str) -> bool:
    """Return True if a short text in the value, which the input lacks, is likely to be another one tomorrow."""
    fields = {key: one for key, one in value.items() if not _STAMP.search(key)} if isinstance(value, dict) else {}
    inner = value if isinstance(value, list) else fields.values()
    short = isinstance(value, str) and len(value) <= LONGEST_MOMENT and value not in given
    own = short and VOLATILE.search(value) is not None
    return own or any(_passes(one, given) for one in inner)


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:97]}..."
