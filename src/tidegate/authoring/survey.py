"""Inspects a repository that has no suite yet: finds its command-line tool and existing scenarios."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

MOST_FILES = 5_000
HELP_TIMEOUT_SECS = 10
_TOOLCHAINS = frozenset({"npm", "npx", "node", "yarn", "cargo", "go", "make", "cmake", "cc", "gcc"})
_STEPS = re.compile(r"&&|\|\||[;\n]")
_SKIPPED = frozenset({"node_modules", "target", "venv", "dist", "build", "__pycache__"})
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_RULE = re.compile(r"^([A-Za-z0-9_.-]+)\s*:(?!=)", re.MULTILINE)
_AGENTV = re.compile(r"^evalcases\s*:", re.MULTILINE)
_NATIVE = tuple(re.compile(rf"^{key}\s*:", re.MULTILINE) for key in ("name", "task", "evaluation|^gates|^target"))


class Tool(NamedTuple):
    """A command-line tool of the repository: its name, how to build it, and the folders that then contain it."""

    binary: str
    build: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    found_in: str = ""
    explains_itself: bool = True  # `TOOL --help` exits with 0; assumed of tools that need a build
    pass_env: tuple[str, ...] = ()  # variables that its build needs
    scenarios: str = "scenarios"  # the folder for the first scenario


def find_tool(root: Path) -> Tool | None:
    """Return the tool that the repository builds, from the first project file that defines one, or None."""
    looks: tuple[Callable[[Path], Tool | None], ...] = (_python, _node, _rust, _go, _script, _make)
    return next((tool for look in looks if (tool := look(root))), None)


def find_programs(root: Path, name: str) -> tuple[str, ...]:
    """Return the executables with that name, relative to the root. Those with the fewest parent folders come first."""
    found = [path.relative_to(root) for path in _files(root) if path.name == name and _is_program(path)]
    return tuple(path.as_posix() for path in sorted(found, key=lambda path: (len(path.parts), path)))


def tool_at(root: Path, program: str) -> Tool:
    """Return the tool for an executable that is in the repository and needs no build."""
    path = PurePosixPath(program)
    return Tool(path.name, (), (str(path.parent),), program, _explains_itself(root / program))


def find_scenarios(root: Path) -> tuple[str, ...]:
    """Return the scenario files of llm-tool-test and the eval files of AgentV, relative to the root, sorted."""
    return tuple(sorted(path.relative_to(root).as_posix() for path in _yaml_files(root) if _is_scenario(path)))


def missing_toolchain(build: Iterable[str]) -> str | None:
    """Return the first program in these build commands that GitHub's runners have and our image lacks, or None."""
    steps = (step.split() for command in build for step in _STEPS.split(command))
    return next((words[0] for words in steps if words and words[0] in _TOOLCHAINS), None)


def _python(root: Path) -> Tool | None:
    project = _table(_toml(root / "pyproject.toml"), "project")
    name = _preferred(_table(project, "scripts"), project.get("name"))
    venv = ".tidegate/venv"
    build = (f"python3 -m venv {venv}", f"{venv}/bin/pip install --quiet .")
    # Not at the top: setuptools would take a new folder there for a second package and refuse to build.
    return Tool(name, build, (f"{venv}/bin",), "pyproject.toml", scenarios="tests/scenarios") if name else None


def _node(root: Path) -> Tool | None:
    package = _json(root / "package.json")
    own, programs = package.get("name"), package.get("bin")
    if isinstance(programs, str) and isinstance(own, str):
        programs = {own.rpartition("/")[2]: programs}
    name = _preferred(programs if isinstance(programs, dict) else {}, own)
    install = "npm ci" if (root / "package-lock.json").exists() else "npm install"
    build = (install, "npm install --global --prefix .tidegate/npm .")
    return Tool(name, build, (".tidegate/npm/bin",), "package.json") if name else None


def _rust(root: Path) -> Tool | None:
    cargo = _toml(root / "Cargo.toml")
    own = _table(cargo, "package").get("name")
    programs = cargo.get("bin")
    names = [entry.get("name") for entry in programs if isinstance(entry, dict)] if isinstance(programs, list) else []
    if not names and (root / "src" / "main.rs").exists():
        names = [own]
    name = _preferred({str(name): "" for name in names if name}, own)
    # A build has its own HOME, so rustup's `cargo` finds no toolchain without RUSTUP_HOME.
    build, path = ("cargo build --release",), ("target/release",)
    return Tool(name, build, path, "Cargo.toml", pass_env=("RUSTUP_HOME",)) if name else None


def _go(root: Path) -> Tool | None:
    """Return the Go program: package `main` at the top, named like the module, or a package below cmd/."""
    module = _MODULE.search(_text(root / "go.mod"))
    if module is None:
        return None
    own = re.sub(r"/v\d+$", "", module[1]).rpartition("/")[2]
    packages = {path.parent.name: f"./cmd/{path.parent.name}" for path in sorted(root.glob("cmd/*/main.go"))}
    if (root / "main.go").exists():
        packages[own] = "."
    name = _preferred(packages, own)
    build = f"go build -o .tidegate/go/{name} {packages[name]}" if name else ""
    return Tool(name, (build,), (".tidegate/go",), "go.mod") if name else None


def _make(root: Path) -> Tool | None:
    """Return the program that a Makefile rule with the repository's name builds."""
    rules = _RULE.findall(_text(root / "Makefile"))
    return Tool(root.name, (f"make {root.name}",), (".",), "Makefile") if root.name in rules else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _script(root: Path) -> Tool | None:
    programs = {path.name: path for path in sorted((root / "bin").glob("*")) if _is_program(path)}
    name = _preferred(programs, root.name)
    return Tool(name, (), ("bin",), "bin/", _explains_itself(programs[name])) if name else None


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK) and not path.name.startswith(".")


def _explains_itself(program: Path) -> bool:
    with tempfile.TemporaryDirectory(prefix="tidegate-") as folder:
        try:
            done = subprocess.run(
                [program.resolve(), "--help"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=HELP_TIMEOUT_SECS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0


def _preferred(programs: dict[str, Any], own: object) -> str | None:
    """Return the program that is named like the project, else the first one."""
    return own if isinstance(own, str) and own in programs else next(iter(programs), None)


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _yaml_files(root: Path) -> Iterator[Path]:
    return (path for path in _files(root) if path.suffix in {".yaml", ".yml"})


def _files(root: Path) -> Iterator[Path]:
    """Return the first MOST_FILES files, without hidden folders and folders that tools generate."""
    return itertools.islice(_all_files(root), MOST_FILES)


def _all_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names))


def _is_scenario(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return bool(_AGENTV.search(text)) or all(key.search(text) for key in _NATIVE)
