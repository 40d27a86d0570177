"""What lets an MCP server start and write: folders, files and databases in the workspace, and links to them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tidegate.authoring.server_values import HERE, LACKING, SQL
from tidegate.authoring.tool import Tool as Server

_READ_ONLY = re.compile(r"(?i)read-only file system[^'\"/\n]*['\"](/[^'\"\n]*)/([\w.-]+)['\"]")
_NO_FOLDER = re.compile(
    r"(?i)(?:ENOENT|no such file)[^'\"\n]*['\"]/[^'\"\n]*/(home|workspace)/([\w ./-]+)/[^/'\"\n]+['\"]"
)
_DATABASE = re.compile(r"[\w-]+\.(?:db|sqlite3?)")
_MAKE_DATABASE = f'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript("{"; ".join(SQL[:2])}")'
_WRITTEN = re.compile(r"""["'](logs?|data|\.?cache)["']""")  # folders that programs make beside their code


def moved(reason: str, root: Path) -> str | None:
    """Return the command that links the file, which a server cannot write in its build, to the current folder.

    None if the reason names no such file, or one that is not below `root`: the server has written the reason. The link
    is the same in each environment of Python.
    """
    found = _READ_ONLY.search(reason)
    if found is None or ".." in found[1]:
        return None
    _, own, below = found[1].partition("/.tidegate/")
    if not own and (not Path(found[1]).is_relative_to(root) or Path(found[1], found[2]).exists()):
        return None
    at = f".tidegate/{below}" if own else os.path.relpath(found[1], root)
    folder, pattern = (re.sub(r"python3\.\d+", "python3*", one) for one in (shlex.quote(at), at))
    places = root.glob(pattern) if own else [root / at]
    if not all(place.resolve().is_relative_to(root.resolve()) for place in places):
        return None
    return f'for at in {folder}; do ln -sfn {HERE}{found[2]} "$at/{found[2]}"; done'


def with_build(folder: Path, server: Server, command: str) -> Server:
    """Return the server with this last command of its build, and run it."""
    if command in server.build:
        return server
    subprocess.run(["/bin/sh", "-c", command], cwd=folder, check=False)
    return server._replace(build=(*server.build, command))


def unlinked(server: Server, root: Path) -> str | None:
    """Return the command that puts a script in place of a link to a program of node; None if it is none.

    A program that compares its own URL with the path that it was started by does nothing when a link starts it. One
    without `#!` is read by a shell.
    """
    link = next(
        (root / place / server.binary for place in server.path if (root / place / server.binary).is_symlink()), None
    )
    if link is None or link.resolve().suffix not in (".js", ".mjs", ".cjs"):
        return None
    name = shlex.quote(link.relative_to(root).as_posix())
    script = '#!/bin/sh\\nexec node "%s" "$@"\\n'
    return f"f=$(readlink -f {name}) && rm {name} && printf '{script}' \"$f\" > {name} && chmod +x {name}"


def with_lacking(server: Server, errors: Iterable[str]) -> Server:
    """Return the server with a setup that makes what these errors lack: folders of its home and of the workspace, and
    databases of SQLite that its variables name.
    """
    told = [error for error in errors if LACKING.search(error)]
    folders = [found for error in told for found in _NO_FOLDER.findall(error) if ".." not in found[1]]
    files = [value for _, value in server.env if _DATABASE.fullmatch(value) and any(value in error for error in told)]
    setup = [f'mkdir -p "{"$HOME/" if of == "home" else ""}{folder}"' for of, folder in folders]
    setup += [f"python3 -c {shlex.quote(_MAKE_DATABASE)} {file}" for file in files]
    return server._replace(setup=tuple(dict.fromkeys([*server.setup, *setup])))


def with_own_folders(root: Path, where: str, server: Server, code: str) -> Server:
    """Return the server with links to the current folder for folders that its code names and the checkout lacks."""
    names = [name for name in dict.fromkeys(_WRITTEN.findall(code)) if not (root / where / name).exists()]
    for name in names:
        server = with_build(root, server, f"ln -sfn {HERE}{name} {shlex.quote(os.path.normpath(Path(where, name)))}")
    return server._replace(setup=(*server.setup, *([f"mkdir -p {shlex.join(names)}"] if names else [])))


def folders_named(server: Server) -> list[str]:
    """Return the folders that the server's variables name, each named like its variable."""
    return [value for name, value in server.env if value == name.lower()]
