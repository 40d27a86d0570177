"""Meson projects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tidegate.authoring.build_systems.files import own_first, project_files, text
from tidegate.authoring.tool import Tool, inside

FOLDER = ".tidegate/meson"
_PROGRAM = re.compile(r"\bexecutable\(\s*(?:get_option\('[^']*'\)\s*\+\s*)?'([\w.-]+)'")
_PROJECT = re.compile(r"\bproject\(\s*'([^']+)'")


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the executables of the project, except those of its tests."""
    project = _PROJECT.search(text(root / where / "meson.build"))
    if project is None:
        return
    found = {
        name: folder
        for folder, content in project_files(root, where, "meson.build")
        for name in _PROGRAM.findall(content)
    }
    for name in own_first(found, project[1]):
        build = (f"meson setup {FOLDER} {where} --buildtype release".replace(" . ", " "), f"meson compile -C {FOLDER}")
        path = str(PurePosixPath(FOLDER, PurePosixPath(found[name]).relative_to(where)))
        yield Tool(name, build, (path,), inside(where, "meson.build"), own=name == project[1])
