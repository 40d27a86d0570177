"""Python projects: pyproject.toml of any build backend, setup.cfg and setup.py."""

from __future__ import annotations

import ast
import configparser
import contextlib
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tidegate.authoring.build_systems.files import is_configured_server, own_first, table, text, toml
from tidegate.authoring.tool import Tool, inside

VENV = ".tidegate/venv"
PINS = ".tidegate/pins.txt"
_PINNED = (  # prints the versions of uv.lock, without those that depend on the machine
    r'import re, sys; found = re.findall("name = .(.+).\nversion = .(.+).\nsource = . registry", sys.stdin.read()); '
    r'print(*("==".join(one) for one in found if sum(one[0] == other[0] for other in found) == 1), sep="\n")'
)
_OF_PROGRAM = re.compile(r"cli|cmd|console|command[-_]?line")  # extras that its program needs
_OF_SDK_1 = re.compile(
    r"No module named 'mcp\.server\.fastmcp|'Server' object has no attribute '(?:list|call|read|get)_"
)
_ADVICE = re.compile(r"pip3? install (?:-\S+ )*[\"']?[\w.-]+\[([\w, -]+)\]")
_SDK = re.compile(r"^(fast)?mcp\b(?!-)", re.IGNORECASE)


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the console scripts of the project."""
    folder = root / where
    data = toml(folder / "pyproject.toml")
    project = table(data, "project")
    scripts = {**table(data, "tool", "poetry", "scripts"), **table(data, "tool", "flit", "scripts")}
    scripts |= table(project, "scripts") | table(project, "entry-points", "console_scripts")
    file, own = "pyproject.toml", project.get("name") or table(data, "tool", "poetry").get("name")
    names = list(scripts)
    older = not project or "scripts" in _listed(project.get("dynamic"))  # else pip ignores what these files name
    for other, read in (("setup.cfg", _of_setup_cfg), ("setup.py", _of_setup_py)) if older else ():
        if not names and (names := read(text(folder / other))):
            file = other
    folders = " ".join(f"./{one}".removesuffix("/.") for one in _with_members(root, where))
    extras = {**table(project, "optional-dependencies"), **table(data, "tool", "poetry", "extras")}
    build = with_extras(install_commands(root, where, folders), filter(_OF_PROGRAM.fullmatch, extras))
    needs = [*_listed(project.get("dependencies")), *table(data, "tool", "poetry", "dependencies")]
    server = any(_SDK.match(need) for need in needs)
    for name in own_first(names, own):
        # Not at the top: setuptools would take a new folder there for a second package and refuse to build.
        tests = "tests/scenarios" if where == "." else "scenarios"
        serves = server or is_configured_server(folder, name)
        yield Tool(name, build, (f"{VENV}/bin",), inside(where, file), scenarios=tests, server=serves, own=name == own)


def _with_members(root: Path, where: str) -> list[str]:
    """Return the folder of the project, and those of the members of its uv workspace that it needs."""
    globs = _listed(table(toml(root / "pyproject.toml"), "tool", "uv", "workspace").get("members"))
    files = [path for glob in globs for path in sorted(root.glob(f"{glob}/pyproject.toml"))]
    members = {table(toml(path), "project").get("name"): path.parent.relative_to(root).as_posix() for path in files}
    found = [where]
    for folder in found:  # grows: members need members
        data = toml(root / folder / "pyproject.toml")  # its dependencies may be made by a hook
        listed = _listed(table(data, "project").get("dependencies")) or table(data, "tool", "uv", "sources")
        needs = [re.split(r"[^\w.-]", need)[0] for need in listed]
        found += [members[need] for need in needs if members.get(need, where) not in found]
    return found


def install_commands(root: Path, where: str, what: str) -> tuple[str, ...]:
    """Return the commands that install something into a virtual environment, with the versions of uv.lock, if any.

    A lock that does not fit the project's file any more is not used.
    """
    pip = f"{VENV}/bin/pip install --quiet"
    project = next((one for one in dict.fromkeys((where, ".")) if (root / one / "uv.lock").is_file()), None)
    if project is None:
        return f"python3 -m venv {VENV}", f"{pip} {what}"
    pins = f"python3 -c {shlex.quote(_PINNED)} < {shlex.quote(inside(project, 'uv.lock'))} > {PINS}"
    return f"python3 -m venv {VENV}", pins, f"{pip} --constraint {PINS} {what} || {pip} {what}"


def with_extras(build: tuple[str, ...], extras: Iterable[str]) -> tuple[str, ...]:
    """Return the build, which also installs what these extras of the project need."""
    own = re.compile(rf"(?<={VENV}/bin/pip install --quiet )((?:--constraint \S+ )?)(\.[^\s\[]*)(?!\S)")
    names = ",".join(extras)
    return tuple(own.sub(rf"\1'\2[{names}]'", one) for one in build) if names else build


def with_advice(tool: Tool, printed: str) -> Tool | None:
    """Return the tool with the extras that its program asks for in an error; None if it does not."""
    build = with_extras(tool.build, dict.fromkeys(",".join(_ADVICE.findall(printed)).replace(" ", "").split(",")))
    return tool._replace(build=build) if build != tool.build else None


def with_older_sdk(tool: Tool, error: str | None) -> Tool | None:
    """Return the tool with version 1 of MCP's SDK, if the server fails because version 2 lacks a part of it."""
    if not _OF_SDK_1.search(error or "") or not any(VENV in one for one in tool.build):
        return None
    return tool._replace(build=(*tool.build, f"{VENV}/bin/pip install --quiet 'mcp<2'"))


def _of_setup_cfg(content: str) -> list[str]:
    parser = _ini(content)
    return _names(parser.get("options.entry_points", "console_scripts", fallback="").splitlines())


def _ini(content: str) -> configparser.ConfigParser:
    """Return what an INI file has, or nothing if it is not one."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    with contextlib.suppress(configparser.Error):
        parser.read_string(content)
    return parser


def _of_setup_py(content: str) -> list[str]:
    """Return the names of console scripts and scripts, where setup.py writes them down as texts."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found: list[str] = []
    for node in ast.walk(tree):
        pairs = list[tuple[Any, ast.expr]]()
        if isinstance(node, ast.Dict):
            items = zip(node.keys, node.values, strict=True)
            pairs = [(key.value, value) for key, value in items if isinstance(key, ast.Constant)]
        elif isinstance(node, ast.keyword):
            pairs = [(node.arg, node.value)]
        for key, value in pairs:
            if key == "console_scripts":
                found += _names(_texts(value))
            elif key == "scripts" and isinstance(node, ast.keyword):
                found += [script.rpartition("/")[2] for script in _texts(value)]
            elif key == "entry_points" and isinstance(value, ast.Constant):
                lines = _ini(textwrap.dedent(str(value.value)))
                found += lines["console_scripts"] if lines.has_section("console_scripts") else []
    return found


def _texts(node: ast.expr) -> list[str]:
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _names(lines: list[str]) -> list[str]:
    return [line.partition("=")[0].strip() for line in lines if "=" in line]


def _listed(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
