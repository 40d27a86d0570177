"""Inspects a repository that has no suite yet: finds its existing scenarios, and the toolchain that a build needs."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from tidegate.authoring.build_systems.files import SKIPPED, is_program
from tidegate.authoring.tool import Tool

MOST_FILES = 5_000
_NATIVE_TOOLS = (
    "npm npx node yarn cargo go make cmake cc gcc meson ninja autoreconf ./configure ./gradlew gradle ./mvnw mvn java"
)
_TOOLCHAINS = frozenset(_NATIVE_TOOLS.split())
_STEPS = re.compile(r"&&|\|\||[;\n]")
_AGENTV = re.compile(r"^evalcases\s*:", re.MULTILINE)
_NATIVE = tuple(re.compile(rf"^{key}\s*:", re.MULTILINE) for key in ("name", "task", "evaluation|^gates|^target"))


def find_programs(root: Path, name: str) -> tuple[str, ...]:
    """Return the executables with that name, relative to the root. Those with the fewest parent folders come first."""
    found = [path.relative_to(root) for path in _files(root) if path.name == name and is_program(path)]
    return tuple(path.as_posix() for path in sorted(found, key=lambda path: (len(path.parts), path)))


def tool_at(program: str) -> Tool:
    """Return the tool for an executable that is in the repository and needs no build."""
    path = PurePosixPath(program)
    return Tool(path.name, (), (str(path.parent),), program)


def find_scenarios(root: Path) -> tuple[str, ...]:
    """Return the scenario files of llm-tool-test and the eval files of AgentV, relative to the root, sorted."""
    return tuple(sorted(path.relative_to(root).as_posix() for path in _yaml_files(root) if _is_scenario(path)))


def missing_toolchain(build: Iterable[str]) -> str | None:
    """Return the first program in these build commands that GitHub's runners have and our image lacks, or None."""
    steps = (step.split() for command in build for step in _STEPS.split(command))
    return next((words[0] for words in steps if words and words[0] in _TOOLCHAINS), None)


def _yaml_files(root: Path) -> Iterator[Path]:
    return (path for path in _files(root) if path.suffix in {".yaml", ".yml"})


def _files(root: Path) -> Iterator[Path]:
    """Return the first MOST_FILES files, without hidden folders and folders that tools generate."""
    return itertools.islice(_all_files(root), MOST_FILES)


def _all_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names))


def _is_scenario(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return bool(_AGENTV.search(text)) or all(key.search(text) for key in _NATIVE)
