"""Tools that are compiled: Cargo, Go, Meson, CMake, Autotools and Make projects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tidegate.authoring.build_systems.files import (
    assigned,
    installed,
    is_program,
    own_first,
    project_files,
    table,
    text,
    toml,
)
from tidegate.authoring.tool import Tool, inside


def find_rust(root: Path, where: str) -> Iterator[Tool]:
    """Yield the binaries of the package, and of all members of the workspace."""
    cargo = toml(root / where / "Cargo.toml")
    members = table(cargo, "workspace").get("members")
    globs = [one for one in members if isinstance(one, str)] if isinstance(members, list) else []
    packages = [where, *(_folder(root, path) for glob in globs for path in sorted((root / where).glob(glob)))]
    own = table(cargo, "package").get("name")
    manifest = [] if where == "." else [f"--manifest-path {inside(where, 'Cargo.toml')}"]
    for package in dict.fromkeys(packages):
        content = toml(root / package / "Cargo.toml")
        server = not {"rmcp", "rust-mcp-sdk"}.isdisjoint(table(content, "dependencies"))
        for name in own_first(_binaries(root / package, content), own):
            build = " ".join(["cargo build --release --bin", name, *manifest])
            # A build has its own HOME, so rustup's `cargo` finds no toolchain without RUSTUP_HOME.
            yield Tool(
                name,
                (build,),
                (inside(where, "target/release"),),
                inside(package, "Cargo.toml"),
                pass_env=("RUSTUP_HOME",),
                server=server,
                own=name == own,
            )


def _binaries(folder: Path, cargo: dict[str, Any]) -> list[str]:
    programs = cargo.get("bin")
    names = [entry.get("name") for entry in programs if isinstance(entry, dict)] if isinstance(programs, list) else []
    if (folder / "src" / "main.rs").exists() and not names:
        names = [table(cargo, "package").get("name")]
    names += [path.stem for path in sorted((folder / "src" / "bin").glob("*.rs"))]
    return [name for name in names if isinstance(name, str)]


def _folder(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


GO_FOLDER = ".tidegate/go"
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_SDK = re.compile(r"modelcontextprotocol/go-sdk|mark3labs/mcp-go")


def find_go(root: Path, where: str) -> Iterator[Tool]:
    """Yield package `main` of the folder, named like the module, and the packages below cmd/."""
    content = text(root / where / "go.mod")
    module = _MODULE.search(content)
    if module is None:
        return
    own = re.sub(r"/v\d+$", "", module[1]).rpartition("/")[2]
    packages = {path.parent.name: f"./cmd/{path.parent.name}" for path in sorted((root / where).glob("cmd/*/main.go"))}
    if (root / where / "main.go").exists():
        packages[own] = "."
    enter = "" if where == "." else f"cd {where} && "
    for name in own_first(packages, own):
        out = f"{GO_FOLDER}/{name}" if where == "." else f'"$OLDPWD/{GO_FOLDER}/{name}"'
        build = f"{enter}go build -o {out} {packages[name]}"
        yield Tool(
            name,
            (build,),
            (GO_FOLDER,),
            inside(where, "go.mod"),
            server=_SDK.search(content) is not None,
            own=name == own,
        )


MESON_FOLDER = ".tidegate/meson"
_MESON_PROGRAM = re.compile(r"\bexecutable\(\s*(?:get_option\('[^']*'\)\s*\+\s*)?'([\w.-]+)'")
_MESON_PROJECT = re.compile(r"\bproject\(\s*'([^']+)'")


def find_meson(root: Path, where: str) -> Iterator[Tool]:
    """Yield the executables of the project, except those of its tests."""
    project = _MESON_PROJECT.search(text(root / where / "meson.build"))
    if project is None:
        return
    found = {
        name: folder
        for folder, content in project_files(root, where, "meson.build")
        for name in _MESON_PROGRAM.findall(content)
    }
    for name in own_first(found, project[1]):
        build = (
            f"meson setup {MESON_FOLDER} {where} --buildtype release".replace(" . ", " "),
            f"meson compile -C {MESON_FOLDER}",
        )
        path = str(PurePosixPath(MESON_FOLDER, PurePosixPath(found[name]).relative_to(where)))
        yield Tool(name, build, (path,), inside(where, "meson.build"), own=name == project[1])


CMAKE_FOLDER = ".tidegate/cmake"
_CMAKE_PROGRAM = re.compile(
    r"^[ \t]*add_executable\s*\(\s*([^\s)]+)(?!\s+(?:ALIAS|IMPORTED))", re.MULTILINE | re.IGNORECASE
)
_CMAKE_PROJECT = re.compile(r"^[ \t]*project\s*\(\s*([^\s)]+)", re.MULTILINE | re.IGNORECASE)
_CMAKE_VARIABLE = re.compile(r"^[ \t]*set\s*\(\s*(\w+)\s+\"?([\w.+${}-]+)\"?\s*\)", re.MULTILINE | re.IGNORECASE)
_CMAKE_INSTALLED = re.compile(r"\binstall\s*\(\s*TARGETS\s+([^)]*)\)", re.IGNORECASE)
_TEST = re.compile(r"(^|[_-])(tests?|fuzz|fuzzer)($|[_-])", re.IGNORECASE)
_SET = r"set_target_properties\s*\(\s*{}(?![\w-])[^)]*?\bOUTPUT_NAME\s+\"?([^\s\")]+)"


def find_cmake(root: Path, where: str) -> Iterator[Tool]:
    """Yield the executables that the project installs, else all, by the name of the file that CMake writes."""
    top = text(root / where / "CMakeLists.txt")
    project = _CMAKE_PROJECT.search(top)
    if project is None:
        return
    own = _filled(project[1].strip('"'), dict(_CMAKE_VARIABLE.findall(top)))
    found: dict[str, tuple[str, str]] = {}
    installed: set[str] = set()
    for folder, content in project_files(root, where, "CMakeLists.txt"):
        installed |= {word for words in _CMAKE_INSTALLED.findall(content) for word in words.split()}
        for program in _CMAKE_PROGRAM.finditer(content):
            target, after = program[1], re.split(r"(?i)\badd_(?:executable|library)\b", content[program.end() :])[0]
            named = re.search(_SET.format(re.escape(target)), after, re.IGNORECASE)
            known = {"PROJECT_NAME": own, "CMAKE_PROJECT_NAME": own}
            for variable, value in _CMAKE_VARIABLE.findall(content[: program.start()]):
                known[variable] = _filled(value, known)
            name, target = (_filled(one, known) for one in (named[1] if named else target, target))
            if "$" not in name + target and not _TEST.search(name):
                found.setdefault(name, (target, folder))
    together = [target for target, _ in found.values() if target in installed]
    for name in own_first({name: of for name, of in found.items() if not together or of[0] in together}, own):
        target, folder = found[name]
        targets = " ".join(together or [target])
        build = (
            f"cmake -S {where} -B {CMAKE_FOLDER} -DCMAKE_BUILD_TYPE=Release",
            f"cmake --build {CMAKE_FOLDER} --parallel --target {targets}",
        )
        path = str(PurePosixPath(CMAKE_FOLDER, PurePosixPath(folder).relative_to(where)))
        yield Tool(name, build, (path,), inside(where, "CMakeLists.txt"), own=name == own)


def _filled(name: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: known.get(found[1], found[0]), name)


_PROGRAMS = re.compile(r"^bin_(?:PROGRAMS|SCRIPTS)\s*\+?=((?:.*\\\n)*.*)", re.MULTILINE)
_INIT = re.compile(r"AC_INIT\(\s*\[?([\w.+ -]+)")


def find_autotools(root: Path, where: str) -> Iterator[Tool]:
    """Yield the programs that `make install` would install."""
    file = next((name for name in ("configure.ac", "configure.in") if (root / where / name).exists()), None)
    if file is None:
        return
    own = _INIT.search(text(root / where / file))
    found: dict[str, str] = {}
    for folder, content in project_files(root, where, "Makefile.am"):
        for listed in _PROGRAMS.findall(content):
            names = [name for name in listed.replace("\\\n", " ").split() if re.fullmatch(r"[\w./+-]+", name)]
            found |= {name.rpartition("/")[2]: folder for name in names}
    enter = "" if where == "." else f"cd {where} && "
    prepare = () if (root / where / "configure").exists() else (f"{enter}autoreconf --install",)
    for name in own_first(found, own[1] if own else None):
        yield Tool(name, (*prepare, f"{enter}./configure", f"{enter}make"), (found[name],), inside(where, file))


_NO_LIBRARY = re.compile(r"(?!\S*\.(?:so|a)\b)[\w./-]+")
_RULE = re.compile(r"^([A-Za-z0-9_.-]+)\s*:(?!=)", re.MULTILINE)
_ALL = re.compile(r"^all\s*:(?!=)(.*)", re.MULTILINE)
MAKE_FOLDER = ".tidegate/make"
_DATA = re.compile(r"^\w+\s*[:?]?=\s*\$[({](?:prefix|PREFIX)[)}]/(?:share|lib)/(?!man|doc)\w", re.MULTILINE)
_ABSOLUTE = re.compile(r"^(?!\s*#|prefix\b|PREFIX\b)[^#\n]*(?<![\w)}./-])/(?:usr|etc|opt|var)/", re.MULTILINE)
_NAMING = frozenset(["EXE", "EXEC", "EXECUTABLE", "PROG", "PROGNAME", "PROGRAM", "BIN", "BINARY", "TARGET", "NAME"])


def _expanded(word: str, values: Mapping[str, str]) -> str:
    """Return the word of a Makefile with the values of its variables; those that `configure` fills are empty."""
    for _ in range(3):  # variables in variables
        word = re.sub(r"\$(?:[({](\w+)[)}]|(\w))", lambda found: values.get(found[1] or found[2], ""), word)
    return re.sub(r"%%\w+%%|@\w+@", "", word)


def find_make(root: Path, where: str) -> Iterator[Tool]:
    """Yield the program that a rule with the folder's name builds, those that a variable such as EXE names, the first
    that `all` makes by a rule, and those that are made and installed.
    """
    folder = root / where
    files = ("Makefile", "makefile", "GNUmakefile", "Makefile.in")
    file = next((name for name in files if (folder / name).exists()), None)
    if file is None:
        return
    content, own = text(folder / file), folder.resolve().name
    make = "make" if where == "." else f"make -C {where}"
    enter = "" if where == "." else f"cd {where} && "
    prepare = tuple(f"{enter}./{name}" for name in ("configure", "configure.sh") if is_program(folder / name))[:1]
    if file == "Makefile.in" and not prepare:  # `configure` of another folder makes its Makefile
        return
    built = inside(where)
    if _DATA.search(content) and not (
        prepare or _ABSOLUTE.search(content)
    ):  # it looks for files where it installs them
        make, built = f"{make} install prefix=$PWD/{MAKE_FOLDER} PREFIX=$PWD/{MAKE_FOLDER}", f"{MAKE_FOLDER}/bin"
    rules = _RULE.findall(content)
    of_all = [word for words in _ALL.findall(content) for word in words.split() if word in rules]
    together = tuple(of_all[: of_all.index(own)]) if own in of_all else ()  # such as a folder for objects
    together = tuple(dict.fromkeys((*together, own, *(name for name in installed(content) if name in of_all))))
    if own in rules and not (folder / own).is_dir():
        yield Tool(own, (*prepare, " ".join((make, *together))), (built,), inside(where, file))
    values = {name: words[0] for name, words in assigned(content).items() if len(words) == 1}
    naming = (name for name in values if name in _NAMING or name.endswith(("_EXE", "_EXEC")))
    named = [_expanded(values[name], values) for name in naming if not re.search(rf"\$[({{]{name}[)}}]/", content)]
    for value in dict.fromkeys((*named, *of_all[:1], *installed(content))):
        program = Path(value)
        if re.fullmatch(_NO_LIBRARY, value) and not (folder / value).is_dir() and not is_program(folder / value):
            build = " ".join((make, *together)) if own in rules and value in together else make
            yield Tool(program.name, (*prepare, build), (inside(built, str(program.parent)),), inside(where, file))
