"""Reads project files. What is missing or damaged counts as empty."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

SKIPPED = frozenset({"node_modules", "target", "venv", "dist", "build", "__pycache__", "vendor", "third_party"})
_NOT_INSTALLED = frozenset(
    {"test", "tests", "testdata", "benchmarks", "example", "examples", "fuzz", "docs", "externals", "wrappers"}
)
DEPTH = 3
_ASSIGNED = re.compile(r"^\s*(\w+)\s*[:?]?=[ \t]*((?:.*\\\n)*[^#\n]*)", re.MULTILINE)
_TO_BIN = re.compile(  # `install -m0755 $(ALL) $(PREFIX)/bin`
    r"^\t[@-]*(?:install|cp|\$[({]INSTALL\w*[)}])\s+(.+?)\s+\S*(?:/s?bin\b|\$[({](?i:\w*bindir)[)}])\S*\s*$",
    re.MULTILINE,
)


def text(path: Path) -> str:
    """Return the file's text; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def toml(path: Path) -> dict[str, Any]:
    """Return the TOML file's content."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def json_object(path: Path) -> dict[str, Any]:
    """Return the JSON file's content if it is an object."""
    value = json_value(text(path))
    return value if isinstance(value, dict) else {}


def json_value(content: str) -> Any:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def table(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the mapping below these keys; empty if there is none."""
    value: Any = data
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def own_first(names: Iterable[str], own: object) -> list[str]:
    """Return the names, the one that is named like the project first."""
    return sorted(dict.fromkeys(names), key=lambda name: name != own)


def is_program(path: Path) -> bool:
    """Return True for an executable file that is not hidden."""
    return path.is_file() and os.access(path, os.X_OK) and not path.name.startswith(".")


def lacking_interpreter(program: Path) -> str:
    """Return the program that the first line of a script names, if it is not there; else ''."""
    first = text(program).partition("\n")[0]
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    return words[0] if words and not Path(words[0]).exists() else ""


def folders_below(root: Path, where: str, depth: int = DEPTH) -> Iterator[str]:
    """Yield the folders below `where` that may hold a project, nearest first, relative to the root."""
    layer = [PurePosixPath(where)]
    for _ in range(depth):
        layer = [above / name for above in layer for name in _subfolders(root / above)]
        yield from map(str, layer)


def project_files(root: Path, where: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the folder and the text of each file of that name in `where` and below, except in folders of tests."""
    for folder in (where, *folders_below(root, where)):
        if _NOT_INSTALLED.isdisjoint(PurePosixPath(folder).relative_to(where).parts):
            content = text(root / folder / name)
            if content:
                yield folder, content


def assigned(makefile: str) -> dict[str, list[str]]:
    """Return the words of each variable of a Makefile."""
    return {name: value.replace("\\\n", " ").split() for name, value in _ASSIGNED.findall(makefile)}


def installed(makefile: str) -> list[str]:
    """Return the files that a Makefile installs into a folder of programs, those of its variables too."""
    values = assigned(makefile)
    words = " ".join(_TO_BIN.findall(makefile)).split()
    found = [one for word in words for one in (values.get(word[2:-1], []) if word.startswith("$") else [word])]
    return [one for one in dict.fromkeys(found) if one[0] not in "-$" and not one.isdecimal()]


def _subfolders(folder: Path) -> list[str]:
    try:
        entries = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(entry.name for entry in entries if entry.name not in SKIPPED and not entry.name.startswith("."))


def is_configured_server(folder: Path, name: str) -> bool:
    """Return True if README tells clients to start this program as an MCP server."""
    readme = text(folder / "README.md")
    return '"mcpServers"' in readme and re.search(rf'"command": *"{re.escape(name)}"', readme) is not None
