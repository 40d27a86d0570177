"""Files that say how a repository's MCP server is started: .mcp.json, mcp.json, server.json, and JSON in README."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from tidegate.authoring.build_systems import node, python
from tidegate.authoring.build_systems.files import json_object, json_value, table, text, toml
from tidegate.authoring.build_systems.python import VENV
from tidegate.authoring.tool import Tool, inside

FOLDER = ".tidegate/bin"
_FILES = (".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json")
_RUNNERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "uv", "pnpm", "yarn"})
_INTERPRETERS = {"node": "node", "python": "python3", "python3": "python3"}
_JSON = re.compile(r"^ *```jsonc?\s*$(.*?)^ *```", re.MULTILINE | re.DOTALL)
_PLACE = re.compile(r"^(?:[/~]|[A-Za-z]:\\|\$\{?\w|<|path/)|/path/")
_NAMING = ("README.md", "smithery.yaml", "server.json", "manifest.json")
_FOLDER = re.compile(r"\b[A-Z][A-Z\d_]*_(?:(?:ROOT|DIR|DIRECTORY|FOLDER)|(?:DATA|STORAGE|BASE|[A-Z]+S)_PATH)\b")
_STARTED = re.compile(r"\bnode (?:-\S+ )*(\S+\.[cm]?js)\b")
_SOURCES = frozenset({".py", ".js", ".ts", ".mjs"})
_SKIPPED = frozenset({".git", ".tidegate", "node_modules", ".venv"})
MOST_SOURCES = 300


class Start(NamedTuple):
    """How a file says that a server is started: program, arguments, and variables that it needs."""

    program: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield servers that are started as a file of the repository (`node dist/index.js`), and that nothing installs."""
    folder = root / where
    if any(tool.server for tool in (*python.find(root, where), *node.find(root, where))):
        return
    found = [(file, name, _own_file(folder, start)) for file, name, start in _configured(folder)]
    package = json_object(folder / "package.json")
    program = _main(package)
    if not any(line for *_, line in found) and node.uses_sdk(package) and program:
        found = [("package.json", str(package.get("name")).rpartition("/")[2], ("node", program))]
    for file, name, line in found:
        if line is not None:
            binary = re.sub(r"[^\w.-]", "-", name)
            yield Tool(binary, _build(root, where, binary, line), (FOLDER,), inside(where, file), server=True, own=True)


def _main(package: dict[str, Any]) -> str | None:
    """Return the file that `npm start` runs; else the package's `main`."""
    started = _STARTED.search(str(table(package, "scripts").get("start", "")))
    main = package.get("main")
    return started[1].removeprefix("./") if started else main if isinstance(main, str) else None


def starts(root: Path, where: str, binary: str) -> tuple[Start, ...]:
    """Return how the files of the folder start the program of this name, without duplicates."""
    folder = root / where
    names = {binary, *_package_names(folder)}
    entries = [start for _, _, start in _configured(folder)] + list(_registered(folder, names))
    found = [_of_program(start, names, binary) for start in entries]
    own = [start for _, name, start in _configured(folder) if name == binary and _own_file(folder, start)]
    found += [Start(binary, (), start.needs) for start in own]  # its program has the arguments already
    return tuple(dict.fromkeys(start for start in found if start is not None))


def folder_variables(folder: Path) -> tuple[str, ...]:
    """Return the variables that docs or configurations name, that the code reads, and that hold a folder by name."""
    named = (name for file in (*_FILES, *_NAMING) for name in _FOLDER.findall(text(folder / file)))
    found = dict.fromkeys(named)
    code = "\n".join(text(path) for path in sources(folder)) if found else ""
    return tuple(name for name in found if re.search(rf"\b{name}\b", code))


def sources(folder: Path) -> list[Path]:
    """Return files of code below the folder, without those that a build installs."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES)
    return [path for path in files if _SKIPPED.isdisjoint(path.relative_to(folder).parts)][:MOST_SOURCES]


def _configured(folder: Path) -> Iterator[tuple[str, str, Start]]:
    for file in _FILES:
        for name, start in _entries(json_object(folder / file)):
            yield file, name, start
    for block in _JSON.findall(text(folder / "README.md")):
        for name, start in _entries(json_value(block) or json_value(f"{{{block}}}")):
            yield "README.md", name, start


def _entries(data: Any) -> Iterator[tuple[str, Start]]:
    """Yield the servers of a client's configuration, by name."""
    if not isinstance(data, dict):
        return
    for servers in (*(table(data, key) for key in ("mcpServers", "servers")), data):
        for name, entry in (*servers.items(), *table(data, "mcp", "servers").items()):
            if isinstance(entry, dict) and isinstance(entry.get("command"), str):
                given = entry.get("args")
                arguments = tuple(str(one).replace("\\", "/") for one in given) if isinstance(given, list) else ()
                yield name, Start(entry["command"], arguments, tuple(table(entry, "env")))


def _registered(folder: Path, names: Iterable[str]) -> Iterator[Start]:
    """Yield the starts of server.json, the format of the MCP registry."""
    for package in _dicts(json_object(folder / "server.json").get("packages")):
        identifier = package.get("identifier", package.get("name"))
        if isinstance(identifier, str) and identifier in names:
            words = (
                word
                for one in _dicts(package.get("packageArguments", package.get("package_arguments")))
                for word in _argument(one)
            )
            needs = _dicts(package.get("environmentVariables", package.get("environment_variables")))
            required = (str(one.get("name")) for one in needs if one.get("isRequired", one.get("is_required")))
            yield Start("npx", (identifier, *words), tuple(required))


def _argument(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of an argument in server.json; one that is optional and has no value is left out."""
    value = given.get("value", given.get("default"))
    if value is None and not given.get("isRequired", given.get("is_required")):
        return
    if given.get("type") == "named":
        yield str(given.get("name"))
    if value is not None or given.get("type") != "named":
        yield "." if value is None else str(value)


def _of_program(start: Start, names: Iterable[str], binary: str) -> Start | None:
    """Return the start with our program in place of `npx PACKAGE` and the like; None if it starts something else.

    Folders of another machine become the workspace.
    """
    program, words = PurePosixPath(start.program).name, list(start.arguments)
    if program in _RUNNERS or program in _INTERPRETERS:
        modules = {name.replace("-", "_") for name in names} if program in _INTERPRETERS else set()
        known = modules.union(names)
        place = next((n for n, word in enumerate(words) if re.sub(r"(?<=.)@[^/]*$", "", word) in known), None)
        if place is None:
            return None
        words = words[place + 1 :]
    elif program != binary:
        return None
    return Start(binary, tuple("." if _PLACE.search(word) else word for word in words), start.needs)


def _own_file(folder: Path, start: Start) -> tuple[str, ...] | None:
    """Return the words that run a file or module of this folder; None if the start does not."""
    program, words = PurePosixPath(start.program).name, list(start.arguments)
    if program == "uv" and words[:1] == ["run"]:
        program, words = "python", [word for word in words[1:] if word != "python"]
    interpreter = _INTERPRETERS.get(program)
    if interpreter is None or not words:
        return None
    if words[0] == "-m" and len(words) > 1 and interpreter == "python3":
        top = words[1].partition(".")[0]
        return (interpreter, *words) if any((folder / at / top).is_dir() for at in (".", "src")) else None
    suffix = ".py" if interpreter == "python3" else ("js", ".mjs", ".cjs")
    parts = PurePosixPath(re.sub(r"^\$\{\w+\}/", "", words[0])).parts
    if not words[0].endswith(suffix):
        return None
    # The file may be on another machine, and made by the build: its last parts name it here.
    ends = ("/".join(parts[place:]) for place in range(len(parts)))
    local = next((end for end in ends if (folder / end).is_file()), None)
    if local is None and interpreter == "node" and not PurePosixPath(words[0]).is_absolute():
        local = str(PurePosixPath(*parts))
    return None if local is None else (interpreter, local, *words[1:])


def _build(root: Path, where: str, binary: str, line: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commands that install what the server needs and write a program which starts it."""
    folder = root / where
    enter = "" if where == "." else f"cd {shlex.quote(where)} && "
    interpreter, *rest = line
    program = interpreter
    made: tuple[str, ...] = ()
    if interpreter == "node" and (folder / "package.json").exists():
        install = "npm ci" if (folder / "package-lock.json").exists() else "npm install"
        scripts = table(json_object(folder / "package.json"), "scripts")
        making = (name for name, script in scripts.items() if name.startswith("build") and rest[0] in str(script))
        made = (f"{enter}{install}", f"{enter}npm run {next(making, 'build')} --if-present")
    elif interpreter != "node" and (what := _installed(folder, where)):
        made = python.install_commands(root, where, what)
        program = f'"%s/{VENV}/bin/python"'
    at = f'"%s"/{shlex.quote(where)}'.removesuffix("/.")
    words = f"{at}/{shlex.join(rest)}"
    if rest[0] == "-m":
        program, words = f"env PYTHONPATH={at}:{at}/src {program}", shlex.join(rest)
    script = f'#!/bin/sh\\nexec {program} {words} "$@"\\n'
    here = " ".join(['"$PWD"'] * script.count("%s"))  # filled in now: the script runs in other folders
    file = f"{FOLDER}/{binary}"
    return (*made, f"mkdir -p {FOLDER} && printf {shlex.quote(script)} {here} > {file} && chmod +x {file}")


def _installed(folder: Path, where: str) -> str | None:
    """Return what pip installs for the server; None if the folder says nothing about it."""
    if any((folder / name).exists() for name in ("pyproject.toml", "setup.py")):
        return f"./{where}".removesuffix("/.")
    return f"-r {inside(where, 'requirements.txt')}" if (folder / "requirements.txt").exists() else None


def _package_names(folder: Path) -> Iterator[str]:
    package = json_object(folder / "package.json").get("name")
    data = toml(folder / "pyproject.toml")
    project = table(data, "project").get("name") or table(data, "tool", "poetry").get("name")
    yield from (name for name in (package, project) if isinstance(name, str))


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
