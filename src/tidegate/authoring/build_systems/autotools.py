"""Autotools: configure.ac, and Makefile.am with the installed programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tidegate.authoring.build_systems.files import own_first, project_files, text
from tidegate.authoring.tool import Tool, inside

_PROGRAMS = re.compile(r"^bin_(?:PROGRAMS|SCRIPTS)\s*\+?=((?:.*\\\n)*.*)", re.MULTILINE)
_INIT = re.compile(r"AC_INIT\(\s*\[?([\w.+ -]+)")


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the programs that `make install` would install."""
    file = next((name for name in ("configure.ac", "configure.in") if (root / where / name).exists()), None)
    if file is None:
        return
    own = _INIT.search(text(root / where / file))
    found: dict[str, str] = {}
    for folder, content in project_files(root, where, "Makefile.am"):
        for listed in _PROGRAMS.findall(content):
            names = [name for name in listed.replace("\\\n", " ").split() if re.fullmatch(r"[\w./+-]+", name)]
            found |= {name.rpartition("/")[2]: folder for name in names}
    enter = "" if where == "." else f"cd {where} && "
    prepare = () if (root / where / "configure").exists() else (f"{enter}autoreconf --install",)
    for name in own_first(found, own[1] if own else None):
        yield Tool(name, (*prepare, f"{enter}./configure", f"{enter}make"), (found[name],), inside(where, file))
