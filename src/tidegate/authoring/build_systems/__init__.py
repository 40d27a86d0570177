"""All build systems that `tidegate init` knows. A new one is one function, one line here, and one test case.

Each is a function of `root` and `where`, which returns the tools that the project file in the folder `where` of the
repository defines. It reads files and runs nothing.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby, islice
from pathlib import Path

from tidegate.authoring.build_systems import compiled, mcp_files, node, programs, python
from tidegate.authoring.build_systems.files import folders_below, text
from tidegate.authoring.tool import Tool

SYSTEMS: tuple[Callable[[Path, str], Iterable[Tool]], ...] = (
    python.find,
    node.find,
    compiled.find_rust,
    compiled.find_go,
    programs.find_perl,
    programs.find,
    compiled.find_meson,
    compiled.find_cmake,
    compiled.find_autotools,
    compiled.find_make,
    mcp_files.find,
)
MOST_FOLDERS = 300
MOST_BESIDE = 3  # other programs of the project that a suite is about
_DOCUMENTS = ("README*", "readme*", "AGENTS.md", "CLAUDE.md")


def find_tools(root: Path, where: str = ".") -> tuple[Tool, ...]:
    """Return the tools of the folder `where`, most likely one first; if it has none, those of the folders below it."""
    found = tuple(_in_folder(root, where))
    if not found:
        below = islice(folders_below(root, where), MOST_FOLDERS)
        found = tuple(tool for folder in below for tool in _in_folder(root, folder))
    ready_first = sorted(found, key=_lacks_a_program)
    named = {tool.binary: tool for tool in reversed(ready_first)}  # of two with one name, the first
    tools = dict.fromkeys(named[tool.binary] for tool in found)
    return tuple(sorted(tools, key=lambda tool: _rank(root, where, tool)))


def has_favourite(root: Path, where: str, tools: tuple[Tool, ...]) -> bool:
    """Return True if the first of these tools is more likely to be meant than others, or those as likely are beside it:
    a suite is about all of them.
    """
    likely = [tool.binary for tool in tools if _rank(root, where, tool) == _rank(root, where, tools[0])]
    return len(likely) < 2 or {*likely[1:]} <= {*with_beside(tools[0], tools).beside}


def with_beside(tool: Tool, found: Iterable[Tool]) -> Tool:
    """Return the tool with other programs that the same build provides, MOST_BESIDE at most."""
    same = (one for one in found if (one.build, one.found_in) == (tool.build, tool.found_in))
    fit = (one for one in same if one.binary != tool.binary and not one.server)
    others = [*islice((one for one in fit if not programs.HOUSEKEEPING.match(one.binary)), MOST_BESIDE)]
    path = dict.fromkeys((*tool.path, *(folder for one in others for folder in one.path)))
    return tool._replace(beside=tuple(one.binary for one in others), path=tuple(path))


def _lacks_a_program(tool: Tool) -> bool:
    """Return True if a program that the build calls is not installed."""
    steps = (words for command in tool.build for words in _steps(command))
    return not all("/" in words[0] or words[0] == "cd" or shutil.which(words[0]) for words in steps)


def _steps(command: str) -> Iterator[list[str]]:
    """Yield the words of each command that `&&` joins."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    with suppress(ValueError):  # a quote that does not end, such as in the name of a folder
        yield from ([*step] for is_operator, step in groupby(words, key=lambda word: word == "&&") if not is_operator)


def _in_folder(root: Path, where: str) -> Iterator[Tool]:
    for find in SYSTEMS:
        yield from find(root, where)


def _rank(root: Path, where: str, tool: Tool) -> tuple[bool, bool, int]:
    """Return a sort key: first tools that the docs call, then those named like the project, then by the calls."""
    call = re.compile(rf"^[ \t]*(?:[$%>] )?(?:\S+ \| )?{re.escape(tool.binary)}(?=\s)", re.MULTILINE)
    folder = root / where
    docs = [text(path) for pattern in _DOCUMENTS for path in sorted(folder.glob(pattern))]
    calls = sum(len(call.findall(doc)) for doc in docs)
    own = {folder.resolve().name, folder.resolve().name.removesuffix("-cli")}
    return not calls, not (tool.own or tool.binary in own), -calls
