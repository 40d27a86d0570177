"""A command-line tool or MCP server of a repository, and how it is built."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple


class Tool(NamedTuple):
    """A tool of the repository: its name, how to build it from the root, and the folders that then contain it."""

    binary: str
    build: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    found_in: str = ""  # the project file that defines it, or the program itself
    pass_env: tuple[str, ...] = ()  # variables that its build needs
    scenarios: str = "scenarios"  # the folder for its scenarios
    server: bool = False  # it is an MCP server
    own: bool = False  # it is named like its project
    setup: tuple[str, ...] = ()  # commands before each scenario
    env: tuple[tuple[str, str], ...] = ()  # variables of its calls
    beside: tuple[str, ...] = ()  # other programs of its build, which have scenarios of their own


def inside(where: str, *parts: str) -> str:
    """Return the path of something in the tool's folder `where`, relative to the root."""
    return str(PurePosixPath(where, *parts))
