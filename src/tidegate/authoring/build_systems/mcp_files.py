"""Files that say how a repository's MCP server is started: .mcp.json, mcp.json, and JSON in README."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import chain
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
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//)\s.*$", re.MULTILINE)
_OBJECT = re.compile(r"^( *)\{.*?^\1\}", re.MULTILINE | re.DOTALL)
_TRAILING = re.compile(r",(?=\s*(?:[}\]]|\Z))")
_PLACE = re.compile(r"^(?:[/~]|[A-Za-z]:[\\/]|\$\{?\w|<|path/)|/path/")
_FILE_NAME = re.compile(r"[\w-]+\.\w{1,7}")
_SECRET = re.compile(r"(?i)key|token|secret|password|user|mail|ur[il]$|host")  # a variable of which no value is known
_UNKNOWN = re.compile(r"(?i)your|[<>{}]|x{3}|\.\.\.")  # a value that stands for another one
_SERVES = re.compile(r"\bFastMCP\(|\bstdio_server\(")
_NAMING = ("README.md", "smithery.yaml", "server.json", "manifest.json")
_FOLDER = re.compile(r"\b[A-Z][A-Z\d_]*_(?:(?:ROOT|DIR|DIRECTORY|FOLDER)|(?:DATA|STORAGE|BASE|[A-Z]+S)_PATH)\b")
_STARTED = re.compile(r"\bnode (?:-\S+ )*(\S+\.[cm]?js)\b")
_SOURCES = frozenset({".py", ".js", ".ts", ".mjs"})
_SKIPPED = frozenset({".git", ".tidegate", "node_modules", ".venv"})
MOST_SOURCES = 300
DEEPEST = 3  # levels of a client's configuration in which servers are looked for


class Start(NamedTuple):
    """How a file says that a server is started: program, arguments, and variables."""

    program: str
    arguments: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield servers that are started as a file of the repository (`node dist/index.js`), and that nothing installs."""
    folder = root / where
    if any(tool.server for tool in (*python.find(root, where), *node.find(root, where))):
        return
    found: dict[tuple[str, ...], tuple[str, str]] = {}  # of a line with two names, the first
    for file, name, start in _configured(folder):
        if line := _own_file(folder, start):
            found.setdefault(line, (file, name))
    for file, name, line in [(*of, line) for line, of in found.items()] or _undocumented(folder):
        binary = re.sub(r"[^\w.-]", "-", name.rpartition("/")[2])
        yield Tool(binary, _build(root, where, binary, line), (FOLDER,), inside(where, file), server=True, own=True)


def _undocumented(folder: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the server that the package or a file of Python is, with the line that starts it."""
    package = json_object(folder / "package.json")
    program = _main(package)
    if node.uses_sdk(package) and program:
        yield "package.json", str(package.get("name")).rpartition("/")[2], ("node", program)
    files = [path for at in (folder, folder / "src") for path in sorted(at.glob("*.py"))]
    serving = next((path for path in files if _SERVES.search(text(path))), None)
    if serving is not None:
        file = serving.relative_to(folder).as_posix()
        yield file, serving.stem, (_runner(serving, "fastmcp"), file)


def _main(package: dict[str, Any]) -> str | None:
    """Return the file that `npm start` runs; else the package's `main`."""
    started = _STARTED.search(str(table(package, "scripts").get("start", "")))
    main = package.get("main")
    return started[1].removeprefix("./") if started else main if isinstance(main, str) else None


def _made(package: dict[str, Any]) -> set[str]:
    """Return the files that the package names as its own: its `main`, and those that its scripts run."""
    scripts = "\n".join(map(str, table(package, "scripts").values()))
    return {str(one).removeprefix("./") for one in (package.get("main"), *_STARTED.findall(scripts)) if one}


def starts(root: Path, where: str, binary: str) -> tuple[Start, ...]:
    """Return how the files of the folder start the program of this name, without duplicates."""
    folder = root / where
    names = {binary, *_package_names(folder)}
    found = [_of_program(start, names, binary) for _, _, start in _configured(folder)]
    own = [start for _, name, start in _configured(folder) if name == binary and _own_file(folder, start)]
    found += [Start(binary, (), start.env) for start in own]  # its program has the arguments already
    return tuple(dict.fromkeys(start for start in found if start is not None))


def environment(root: Path, where: str, binary: str) -> dict[str, str]:
    """Return the variables that docs or configurations name and the code reads, with the values that they show.

    A path becomes a file or a folder of the workspace. What looks like a secret is left out.
    """
    folder = root / where
    named = {name: name.lower() for file in (*_FILES, *_NAMING) for name in _FOLDER.findall(text(folder / file))}
    shown = [pair for start in starts(root, where, binary) for pair in start.env]
    for name, value in shown:
        place = local(value)
        known = value and not _SECRET.search(name) and (place != value or not _UNKNOWN.search(value))
        if known and name not in named:
            named[name] = name.lower() if place == "." else place
    code = "\n".join(text(path) for path in sources(folder)) if named else ""
    return {name: value for name, value in named.items() if re.search(rf"\b{name}\b", code)}


def local(word: str) -> str:
    """Return the word; a path of another machine becomes a file of the workspace, or the workspace."""
    option, sign, value = word.rpartition("=")
    if not _PLACE.search(value):
        return word
    name = re.split(r"[\\/]", value)[-1]
    return f"{option}{sign}{name if _FILE_NAME.fullmatch(name) else '.'}"


def sources(folder: Path) -> list[Path]:
    """Return files of code below the folder, without those that a build installs."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES)
    return [path for path in files if _SKIPPED.isdisjoint(path.relative_to(folder).parts)][:MOST_SOURCES]


def _configured(folder: Path) -> Iterator[tuple[str, str, Start]]:
    for file in _FILES:
        for name, start in _entries(json_object(folder / file)):
            yield file, name, start
    for block in _JSON.findall(text(folder / "README.md")):
        for name, start in chain.from_iterable(map(_entries, json_values(block))):
            yield "README.md", name, start


def json_values(block: str) -> list[Any]:
    """Return the values in a block of docs: JSON that may have comments, final commas, no braces, or many objects."""
    plain = _TRAILING.sub("", _COMMENT.sub("", block))
    for one in (block, plain, f"{{{plain}}}"):
        if (value := json_value(one)) is not None:
            return [value]
    return [value for one in _OBJECT.finditer(plain) if (value := json_value(one[0])) is not None]


def _entries(data: Any, depth: int = DEEPEST) -> Iterator[tuple[str, Start]]:
    """Yield the servers of a client's configuration, by name, under whatever key the client has them."""
    for name, entry in data.items() if isinstance(data, dict) and depth else ():
        if isinstance(entry, dict) and isinstance(entry.get("command"), str):
            given = entry.get("args")
            arguments = tuple(str(one).replace("\\", "/") for one in given) if isinstance(given, list) else ()
            env = tuple((key, str(value)) for key, value in table(entry, "env").items())
            yield name, Start(entry["command"], arguments, env)
        else:
            yield from _entries(entry, depth - 1)


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
    return Start(binary, tuple(map(local, words)), start.env)


def _own_file(folder: Path, start: Start) -> tuple[str, ...] | None:
    """Return the words that run a file or module of this folder; None if the start does not."""
    program, words, tool = PurePosixPath(start.program).name, list(start.arguments), ""
    if program in ("uv", "uvx"):
        tool = next((word for word in words if word in ("mcp", "fastmcp")), "")
        place = next((n for n, word in enumerate(words) if word == "-m" or word.endswith(".py")), len(words))
        program, words = "python", words[place:]
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
    ends = ["/".join(parts[place:]) for place in range(len(parts))]
    made = _made(json_object(folder / "package.json"))
    file = next((end for end in ends if (folder / end).is_file() or end in made), None)
    if file is None and interpreter == "node" and not PurePosixPath(words[0]).is_absolute():
        file = str(PurePosixPath(*parts))
    return None if file is None else (_runner(folder / file, tool) if tool else interpreter, file, *words[1:])


def _runner(file: Path, tool: str) -> str:
    """Return what runs the file: `tool`, such as `fastmcp`, if it starts no server when it is run by Python."""
    return "python3" if re.search(r"__main__|\.run\(", text(file)) else tool


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
        program = f'"%s/{VENV}/bin/{interpreter}"{" run" * (interpreter != "python3")}'
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
