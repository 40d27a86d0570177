"""CMake projects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from tidegate.authoring.build_systems.files import own_first, project_files, text
from tidegate.authoring.tool import Tool, inside

FOLDER = ".tidegate/cmake"
_PROGRAM = re.compile(r"^[ \t]*add_executable\s*\(\s*([^\s)]+)(?!\s+(?:ALIAS|IMPORTED))", re.MULTILINE | re.IGNORECASE)
_PROJECT = re.compile(r"^[ \t]*project\s*\(\s*([^\s)]+)", re.MULTILINE | re.IGNORECASE)
_VARIABLE = re.compile(r"^[ \t]*set\s*\(\s*(\w+)\s+\"?([\w.+-]+)\"?\s*\)", re.MULTILINE | re.IGNORECASE)
_TEST = re.compile(r"(^|[_-])(tests?|fuzz|fuzzer)($|[_-])", re.IGNORECASE)
_SET = r"set_target_properties\s*\(\s*{}(?![\w-])[^)]*?\bOUTPUT_NAME\s+\"?([^\s\")]+)"


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the executables of the project, by the name of the file that CMake writes."""
    project = _PROJECT.search(text(root / where / "CMakeLists.txt"))
    if project is None:
        return
    own = project[1].strip('"')
    found: dict[str, tuple[str, str]] = {}
    for folder, content in project_files(root, where, "CMakeLists.txt"):
        for target in _PROGRAM.findall(content):
            named = re.search(_SET.format(re.escape(target)), content, re.IGNORECASE)
            known = {**dict(_VARIABLE.findall(content)), "PROJECT_NAME": own, "CMAKE_PROJECT_NAME": own}
            name, target = (_filled(one, known) for one in (named[1] if named else target, target))
            if "$" not in name + target and not _TEST.search(name):
                found.setdefault(name, (target, folder))
    for name in own_first(found, own):
        target, folder = found[name]
        build = (
            f"cmake -S {where} -B {FOLDER} -DCMAKE_BUILD_TYPE=Release",
            f"cmake --build {FOLDER} --parallel --target {target}",
        )
        path = str(PurePosixPath(FOLDER, PurePosixPath(folder).relative_to(where)))
        yield Tool(name, build, (path,), inside(where, "CMakeLists.txt"), own=name == own)


def _filled(name: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: known.get(found[1], found[0]), name)
