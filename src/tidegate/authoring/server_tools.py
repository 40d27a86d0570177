"""What a tool of an MCP server does, by its name and annotations: it writes, reads, changes or removes. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidegate.agents.scripted import parameters
from tidegate.model.agent import Tool

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
WRITES, READS, CHANGES, REMOVES = range(4)  # in this order the tools of one turn are called
_CREATING = "create write add new insert make save store set put init register import plan planning start submit post"
_READING = "read get list search find show view describe count query"
_REMOVING = "delete remove clear drop reset close undo unset unlink unmerge forget erase discard detach purge"
_OF_FOLDERS = frozenset(["directory", "directories", "folder", "folders", "dir", "tree"])
_FINDING = frozenset(["list", "search", "find", "glob", "grep"])
FOLDER = "made"
_VERBS = {
    **dict.fromkeys(_CREATING.split(), WRITES),
    **dict.fromkeys(_READING.split(), READS),
    **dict.fromkeys(_REMOVING.split(), REMOVES),
}


def rank_of(tool: Tool) -> int:
    """Return if the tool creates, reads, changes or removes something, by the first verb in its name. One that needs no
    input reads.
    """
    verbs = (_VERBS[word.lower()] for word in WORD.findall(tool.name) if word.lower() in _VERBS)
    reads = tool.hints.get("readOnlyHint") is True or not parameters(tool)[1]
    return next(verbs, READS if reads else CHANGES)


def order_of(tool: Tool) -> tuple[int, int]:
    """Return the place of the tool among others: what is created first needs the least."""
    rank = rank_of(tool)
    return rank, len(parameters(tool)[1]) if rank == WRITES else 0


def shared_names(tools: Sequence[Tool]) -> frozenset[str]:
    """Return parameters that name what one tool writes and another one reads or removes."""
    written = {name for tool in tools if rank_of(tool) == WRITES for name in parameters(tool)[1]}
    used = {name for tool in tools if rank_of(tool) in (READS, REMOVES) for name in parameters(tool)[0]}
    return frozenset(written & used)


def is_risky(tool: Tool) -> bool:
    """Return True if the tool's annotations report that it destroys something, or that it reaches other systems."""
    return tool.hints.get("destructiveHint") is True or tool.hints.get("openWorldHint") is True


def folders_of(tool: Tool, name: str) -> tuple[str, ...]:
    """Return folders for this parameter, if it takes one by its name and the tool's: for what makes one, a new one."""
    words = {word.lower() for word in WORD.findall(tool.name)}
    is_about = not words.isdisjoint(_OF_FOLDERS)
    finds = "files" in words and not words.isdisjoint(_FINDING)
    if re.search(r"(?i)dest|target|new", name) or not re.search(r"(?i)path|dir|folder", name):
        return ()
    if is_about and rank_of(tool) != READS:
        made = (FOLDER, f"{FOLDER}/inner")
        return made[::-1] if rank_of(tool) == REMOVES else made
    return (".", FOLDER) if is_about or finds or re.search(r"(?i)dir|folder", name) else ()
