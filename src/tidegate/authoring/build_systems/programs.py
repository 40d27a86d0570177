"""Programs that are in the repository ready to run: in bin/, in another folder if README shows calls of them, or in the
root if the docs or a package install them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tidegate.authoring.build_systems.files import installed, is_program, own_first, text
from tidegate.authoring.tool import Tool, inside

FOLDER = ".tidegate/bin"
# Files that say under which name a program is installed: docs, Makefile, Homebrew, Arch, Debian, RPM, Docker.
_PACKAGES = (
    "README*",
    "Makefile",
    "Formula/*.rb",
    "*.rb",
    "PKGBUILD",
    "pkg/**/PKGBUILD",
    "debian/install",
    "*.spec",
    "Dockerfile",
)
_INSTALLED = re.compile(
    r"""\b(?:install|ln|cp|COPY|bin\.install)\b[^\n]*?["'\s/](?P<file>[\w.+-]+)["']?\s*(?:\s|=>)\s*["']?"""
    r"""(?:[^\s"']*(?:/s?bin|\$[({]\w*(?i:bindir|BIN|INSTALL_DIR)[)}])/(?P<path>[\w.+-]+)|(?<==>)\s*["']?(?P<name>[\w.+-]+))"""
)
_DEBIAN = re.compile(r"^(\S+)\s+/?usr/s?bin/?$", re.MULTILINE)
_ENTRY = re.compile(r'^\s*ENTRYPOINT\s*\[\s*"(?:[^"]*/)?([\w.+-]+)"', re.MULTILINE)
_CALLED = re.compile(r"(?<![\w./])\./([\w.+-]*\w)(?![\w/])")
_SHOWN = re.compile(r"^(?: {4,}|\t)?(?:[$%>] )?([a-z][\w.-]+)(?= +\S)", re.MULTILINE)
HOUSEKEEPING = re.compile(
    r"(?:(?:autogen|bootstrap|build|config(?:ure)?|format|gen(?:erate)?|(?:un)?install|make|mvnw|gradlew|pre(?:pare)?"
    r"|release|run|setup|tests?|update|version)(?:$|[-_.])|\w+[_-]tests?\b)",
    re.IGNORECASE,
)


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the programs in bin/, and in the folder those that are installed, called in README, or named like it."""
    folder = root / where
    own = folder.resolve().name
    beside = sorted((folder / "bin").glob("*"))
    for program in sorted(filter(is_program, beside), key=lambda path: path.name != own):
        yield Tool(program.name, (), (inside(where, "bin"),), inside(where, "bin"))
    readmes = [text(path) for path in sorted(folder.glob("README*"))]
    shown = {name for content in readmes for name in _SHOWN.findall(content)}
    in_root = [path for path in sorted(folder.glob("*")) if is_program(path)]
    made = (Path(file).name for file in installed(text(folder / "Makefile")))
    elsewhere = {*made, *(path.name for path in in_root)}  # or nearer
    for program in sorted(path for path in folder.glob("*/*") if path.name in shown and is_program(path)):
        if (
            program.name not in elsewhere
            and program.parent.name != "bin"
            and not re.match(r"tests?|examples?|\.", program.parent.name)
        ):
            yield Tool(program.name, (), (inside(where, program.parent.name),), inside(where, program.parent.name))
    called = {name for content in readmes for name in _CALLED.findall(content)}
    texts = [text(path) for pattern in _PACKAGES for path in sorted(folder.glob(pattern))]
    names = {
        found["file"]: found["path"] or found["name"] for content in texts for found in _INSTALLED.finditer(content)
    }
    for file in installed(text(folder / "Makefile")):
        if "/" in file and is_program(folder / file):
            yield Tool(Path(file).name, (), (inside(where, str(Path(file).parent)),), inside(where, "Makefile"))
    entries = {name for content in texts for name in (*_ENTRY.findall(content), *_DEBIAN.findall(content))}
    for program in in_root:
        name = names.get(program.name, program.name)
        is_own = (
            program.name in {*called, *shown}
            or program.stem in (own, own.partition(".")[0])
            or own.startswith(f"{program.stem}-")
        )
        if program.name in names or program.name in entries or (is_own and not HOUSEKEEPING.match(program.name)):
            yield _in_root(where, program.name, name)


_OF_PERL = re.compile(r"\b(?:EXE_FILES|script_files)\s*=>\s*\[([^\]]*)\]")
_ROOT = 'root=$(cd "${0%/*}/../.." && pwd)'


def find_perl(root: Path, where: str) -> Iterator[Tool]:
    """Yield the programs that a distribution of Perl installs, as scripts that start them with its own modules."""
    file = next((name for name in ("Makefile.PL", "Build.PL") if (root / where / name).exists()), "")
    listed = re.findall(r"[\w./-]+", " ".join(_OF_PERL.findall(text(root / where / file))))
    folder = root / where
    shown = (folder / path.lstrip("/") for path in listed)
    folders = (sorted((folder / path).glob("*")) for path in listed if re.fullmatch(r"\w.*/", path))  # of `bin/$name`
    programs = {path.name: path.relative_to(root).as_posix() for path in chain(shown, *folders) if path.is_file()}
    lib, own = inside(where, "lib"), folder.resolve().name
    for name in own_first(programs, own):
        script = (_ROOT, f'exec perl -I"$root/{lib}" "$root/{programs[name]}" "$@"')
        lines = " ".join(f"'{line}'" for line in ("#!/bin/sh", *script))
        build = f"mkdir -p {FOLDER} && printf '%s\\n' {lines} > {FOLDER}/{name} && chmod +x {FOLDER}/{name}"
        yield Tool(name, (build,), (FOLDER,), inside(where, file), own=name == own)


def _in_root(where: str, file: str, name: str) -> Tool:
    """Return the tool; a program that is installed under another name is linked."""
    if name == file:
        return Tool(name, (), (where,), inside(where, file))
    target = os.path.relpath(inside(where, file), FOLDER)
    return Tool(name, (f"mkdir -p {FOLDER} && ln -sf {target} {FOLDER}/{name}",), (FOLDER,), inside(where, file))
