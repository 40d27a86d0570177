"""Node packages, also in a workspace: package.json with `bin`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from glob import escape
from pathlib import Path, PurePosixPath
from typing import Any

from tidegate.authoring.build_systems.files import is_configured_server, is_program, json_object, own_first, table, text
from tidegate.authoring.tool import Tool, inside

PREFIX = ".tidegate/npm"
# Scripts that may make what a program needs, the fittest first.
_MAKING = ("build", "prepublishOnly", "prepublish", "prepack", "test")
_PNPM = "npx --yes pnpm"
_RUN_BUILD = "npx --yes -p pnpm@9 -p yarn -c 'npm run build --if-present'"
_SDK = re.compile(r"mcp|modelcontextprotocol", re.IGNORECASE)
_IMPORTED = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"]([^'"]+)['"]""")


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the programs of the package."""
    package = json_object(root / where / "package.json")
    own, programs = package.get("name"), package.get("bin")
    short = own.rpartition("/")[2] if isinstance(own, str) else None
    if isinstance(programs, str) and short:
        programs = {short: programs}
    if not isinstance(programs, dict):
        return
    server = uses_sdk(package)
    for name in own_first(programs, short):
        build, path = _build(root, where, name, programs[name]), f"{PREFIX}/bin"
        file = root / where / str(programs[name])
        is_made = any("npm run " in command for command in build)
        if file.name == name and is_program(file) and not table(package, "dependencies") and not is_made:
            build, path = (), inside(where, str(PurePosixPath(programs[name]).parent))  # it is there
        serves = server or is_configured_server(root / where, name)
        yield Tool(name, build, (path,), inside(where, "package.json"), server=serves, own=name == short)


def uses_sdk(package: dict[str, Any]) -> bool:
    """Return True if the package is an MCP server by its dependencies, also those that a bundler takes."""
    needed = {**table(package, "dependencies"), **table(package, "devDependencies")}
    return any(map(_SDK.search, needed)) or "mcpName" in package


def with_less(tool: Tool, failure: str) -> Tool | None:
    """Return the tool with a build without what failed: the lock file, if it is stale; dependencies of development that
    cannot be had, with the scripts that may need them; errors of TypeScript, which still writes the program; a
    script that may be of no need; the scripts of an installation, of which `build` is then run alone. None if it was
    something else.
    """
    build = tool.build
    if "EUSAGE" in failure:
        build = tuple(re.sub(r"\bnpm ci\b", "npm install", command) for command in build)
    elif re.search(r"\bE40[134]\b", failure):
        own = (command for command in build if not command.startswith("npm run"))
        build = tuple(re.sub(r"\bnpm (ci|install)(?! --)", r"npm \1 --omit=dev", command) for command in own)
    elif "error TS" in failure and "npm run" in failure and not any("||" in one for one in build):
        build = tuple(f"{command} || true" if "npm run" in command else command for command in build)
    elif failed := re.search(r"`(npm run \w+)` failed", failure):
        build = tuple(command for command in build if command != failed[1])
    elif re.search(r"`npm (?:ci|install)\b[^`]*` failed", failure) and not any("--ignore" in one for one in build):
        wants = re.search("EBAD(?:DEV)?ENGINE", failure)  # another manager, or version of node
        force = "export npm_config_force=true; " if wants else ""
        first, *others = (force + re.sub(r"\bnpm (?:ci|install)\b.*", r"\g<0> --ignore-scripts", one) for one in build)
        made = () if any("npm run" in one for one in build) else (f"{force}{_RUN_BUILD}",)
        build = (f"{first} && npm rebuild", *made, *others)
    elif "bun: not found" in failure and "-p bun" not in str(build):
        build = tuple(one.replace("npx --yes", "npx --yes -p bun") for one in build)
    return tool._replace(build=build) if build != tool.build else None


def _is_whole(program: Path, package: dict[str, Any], folder: Path) -> bool:
    """Return True if the program is there, and all files that it needs: those that it imports by their place, or as its
    own package, and those that these import.

    What the program imports as the folder of the package may be of an older build.
    """
    left, seen = [program], set[Path]()
    while left:
        file = left.pop()
        if file in seen:
            continue
        seen.add(file)
        imported = _IMPORTED.findall(text(file))
        named = [Path(os.path.normpath(file.parent / name)) for name in imported if name.startswith(".")]
        if package.get("name") in imported:
            named += [folder / part for part in re.findall(r'"(\./[^"*]+)"', json.dumps(package.get("exports")))]
        found = [[one] if one.exists() else [*one.parent.glob(f"{escape(one.name)}.*")] for one in named]
        of_older_build = file == program and not {".", "..", "../"}.isdisjoint(imported)
        if not file.exists() or of_older_build or not all(found):
            return False
        left += [file for files in found for file in files if file.is_file()]
    return True


def _has_parts(package: dict[str, Any], folder: Path) -> bool:
    """Return True if the package's main module is there, and the folders that it publishes."""
    files = package.get("files")
    folders = [one for one in files if not re.search(r"[*!.]", str(one))] if isinstance(files, list) else []
    parts = [folder / str(one) for one in (package.get("main", "."), *folders)]
    return all(one.exists() or [*one.parent.glob(f"{escape(one.name)}.*")] for one in parts)


def _build(root: Path, where: str, name: str, file: object) -> tuple[str, ...]:
    """Return the commands that install the package, or link its program if the root's workspace installs it."""
    locked = "npm ci" if (root / "package-lock.json").exists() else "npm install"
    make = f"npm run build --if-present --workspace {where}"
    workspace = "workspaces" in json_object(root / "package.json")
    if (root / "pnpm-workspace.yaml").exists():
        locked, make, workspace = f"{_PNPM} install", f"{_PNPM} --filter ./{where}... run --if-present build", True
    if where != "." and workspace:
        program = inside(where, str(file))
        link = f"{PREFIX}/bin/{name}"
        target = os.path.relpath(program, f"{PREFIX}/bin")
        return locked, make, f"mkdir -p {PREFIX}/bin && chmod +x {program} && ln -sf {target} {link}"
    enter = "" if where == "." else f"cd {where} && "
    locked = "npm ci" if (root / where / "package-lock.json").exists() else "npm install"
    package = json_object(root / where / "package.json")
    scripts = table(package, "scripts")
    whole = _is_whole(root / where / str(file), package, root / where) and _has_parts(package, root / where)
    lacks = "prepare" not in scripts and not whole
    script = next((one for one in _MAKING if one in scripts), "") if lacks else ""
    called = re.findall(r"\b(?:pnpm|yarn|bun)\b", str(scripts.get(script)))
    others = "".join(f" -p {name}" for name in dict.fromkeys(called))
    run = f"npx --yes{others} -c 'npm run {script}'" if others else f"npm run {script}"
    made = (f"{enter}{run}{' || true' if script == 'test' else ''}",) if script else ()
    omit = "" if made or "prepare" in scripts else " --omit=dev"  # what only tests need takes minutes
    if omit and "prepublish" in scripts:  # npm runs it here, too, and it may need what is left out
        omit += " --ignore-scripts && npm rebuild"
    install = f"npm install --global --prefix {PREFIX} {'.' if where == '.' else f'./{where}'}"
    return f"{enter}{locked}{omit}", *made, install
