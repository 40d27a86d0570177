"""Makefiles without another build system."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tidegate.authoring.build_systems.files import is_program, text
from tidegate.authoring.tool import Tool, inside

_RULE = re.compile(r"^([A-Za-z0-9_.-]+)\s*:(?!=)", re.MULTILINE)
_VARIABLE = re.compile(
    r"^\s*(?:EXE|EXEC|EXECUTABLE|PROG|PROGNAME|PROGRAM|BIN|BINARY|TARGET|NAME)\s*[:?]?=\s*([\w./-]+)\s*(?:#.*)?$",
    re.MULTILINE,
)


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the program that a rule with the folder's name builds, else the one that a variable such as EXE names."""
    folder = root / where
    file = next((name for name in ("Makefile", "makefile", "GNUmakefile") if (folder / name).exists()), None)
    if file is None:
        return
    content, own = text(folder / file), folder.resolve().name
    make = "make" if where == "." else f"make -C {where}"
    if own in _RULE.findall(content) and not (folder / own).is_dir():
        yield Tool(own, (f"{make} {own}",), (where,), inside(where, file))
    for value in dict.fromkeys(_VARIABLE.findall(content)):
        program = Path(value)
        if not (folder / value).is_dir() and not is_program(folder / value):
            yield Tool(program.name, (make,), (inside(where, str(program.parent)),), inside(where, file))
