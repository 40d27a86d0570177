"""Ids that an MCP server gives: the same in each trial, or new ones, which a call takes from an answer. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tidegate.agents.scripted import parameters
from tidegate.authoring.server_tools import WORD, WRITES, rank_of
from tidegate.model.agent import Tool, taken_from

OF_ID = re.compile(r"(?i)(?:id|identifier|key)s?$")  # a writing tool that requires it takes what is given
NO_ID = "4b0c2f6e-1d3a-4c57-9e8f-7a6b5c4d3e2f"
_IN_ANSWER = r"(?i)id\b\W{1,6}([\w-]*\w)"
_OURS = re.compile(r"(?:\d+-)?(?:first|second)|no-such-.*|a|long")  # ids that calls have given
LATE = 2  # turns: after what is taken from


def told(name: str, schema: Mapping[str, Any], turn: int, answers: Sequence[str]) -> Any:
    """Return a value that all trials' answers give to this name, or as an id; None without one that is not ours."""
    several = schema.get("type") == "array"
    words = r"[\W_]?".join(map(re.escape, WORD.findall(name.removesuffix("s") if several else name) or [name]))
    for key in (words, *(["id"] if re.search(r"(?i)(?:id|identifier)s?$", name) else [])):
        pattern = re.compile(rf"""(?i)(?<![a-z]){key}["'`]?\s*[:=]\s*["'`]?([\w.-]*\w)""")
        found = [dict.fromkeys(one[1] for one in pattern.finditer(answer)) for answer in answers] or [{}]
        same = [value for value in found[0] if all(value in one for one in found) and not _OURS.fullmatch(value)]
        if same:
            return [same[turn % len(same)]] if several else same[turn % len(same)]
    return None


def sources(tools: Iterable[Tool], answers: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the tools that write and answer with an id which differs in each trial. `answers`: texts of each trial."""
    writing = {
        tool.name for tool in tools if rank_of(tool) == WRITES and not any(map(OF_ID.search, parameters(tool)[1]))
    }
    found: dict[str, None] = {}
    for tool, texts in answers:
        ids = {match[1] for text in texts if (match := re.search(_IN_ANSWER, text))}
        found |= {tool: None} if tool in writing and len(ids) == len(texts) > 1 else {}
    return tuple(found)


def taken(name: str, schema: Mapping[str, Any], tools: Sequence[str], before: Iterable[Any]) -> Any:
    """Return what takes an id from the last answer of one of these tools, the one named like the parameter if any; from
    an earlier one, if the call has that already (`before`). None for other parameters.
    """
    if not tools or not OF_ID.search(name):
        return None
    words = {word.lower() for word in WORD.findall(name)}
    tool = max(tools, key=lambda one: len(words.intersection(word.lower() for word in WORD.findall(one))))
    back = sum(one.answer_of == tool for one in map(taken_from, before) if one is not None)
    value = {"answer_of": tool, "match": _IN_ANSWER, **({"back": back} if back else {})}
    return [value] if schema.get("type") == "array" else value


def late(given: Mapping[str, Any]) -> int:
    """Return how many turns later a call with this input comes."""
    return LATE if any(taken_from(value) for value in given.values()) else 0
