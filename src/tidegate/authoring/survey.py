"""Inspects a repository that has no suite yet: finds its existing scenarios, and the toolchain that a build needs."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from tidegate.authoring.build_systems.files import SKIPPED, is_program, text
from tidegate.authoring.samples import kind_of
from tidegate.authoring.tool import Tool
from tidegate.authoring.variations import in_turn

MOST_FILES = 5_000
MOST_OF_KIND, MOST_INPUTS = 8, 16  # files of the repository that become inputs
LARGEST_CODE, LARGEST_CASE = 300_000, 6_000
MEDIUM, LARGEST = 1_500, 10_000  # bytes of a good input, and of the largest
MOST_BINARY, LARGEST_BINARY = 40, 50_000  # inputs other than texts, and bytes of one
_KIND = re.compile(r"\b[A-Za-z]\w{2,4}\b")  # such as `png`
_SUFFIX = re.compile(r"(?<=\w)\.[A-Za-z]\w{1,4}\b")
_SPEC_EXAMPLE = re.compile(r"^`{8,} example[^\n]*\n(.*?)^\.$", re.MULTILINE | re.DOTALL)
_SHEBANG = re.compile(r"#!\S*[/ ](?:env )?(?:ba|da|z)?sh\b")
_BINARY = frozenset("\0\ufffd")
_UNSAFE = re.compile(r"[^\w./@%+=:,-]+")  # what a shell does not take as a part of a word
_CODE = frozenset({".py", ".js", ".c", ".sh", ".css", ".sql"})
_SCRIPTS = frozenset({"", ".sh", ".bats", ".t"})
_TEST_CODE = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".go", ".rs", ".pl", ".json", ".toml"})
_INPUTS = re.compile(
    r"^(?:t|tests?|specs?|examples?|samples?|demos?|fixtures?|(?:test)?data|regress\w*|cases)$|test", re.IGNORECASE
)
_AS_SAMPLE = ("example", "sample", "dist", "default", "template")
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


def find_inputs(root: Path, kinds: Sequence[str]) -> tuple[str, ...]:
    """Return texts of tests and examples, of each kind the fittest, and code of these kinds from anywhere.

    Kinds without a sample come first, frequent ones before others.
    """
    found: dict[str, list[tuple[bool, int, Path]]] = {kind: [] for kind in kinds}
    for path in _files(root):
        kind = kind_of(path.name) or path.suffix
        for_tests = _is_for_tests(root, path)
        name = path.relative_to(root).as_posix()
        if kind and (for_tests or (kind in kinds and kind in _CODE)) and _is_input(path) and not _UNSAFE.search(name):
            found.setdefault(kind, []).append((not for_tests, abs(path.stat().st_size - MEDIUM), path))
    kinds = sorted(found, key=lambda kind: (bool(kind_of(kind)), -len(found[kind])))
    fit = [path for kind in kinds for path in _of_each_folder(sorted(found[kind]))][:MOST_INPUTS]
    return tuple(path.relative_to(root).as_posix() for path in fit)


def _of_each_folder(found: Iterable[tuple[int, int, Path]], most: int = MOST_OF_KIND) -> Iterator[Path]:
    """Yield the first file of each folder, then the second of each, `most` at most."""
    folders: dict[Path, list[Path]] = {}
    for *_, path in found:
        folders.setdefault(path.parent, []).append(path)
    return itertools.islice(in_turn(map(iter, folders.values())), most)


def find_cases(root: Path) -> dict[str, str]:
    """Return the small texts of tests and examples that have a suffix, by the name of the file; if several have it,
    with that of the folder. What a shell would not take as one word becomes `_`.
    """
    found = (path for path in _for_tests(root) if path.suffix and path.stat().st_size <= LARGEST_CASE)
    fit = [*filter(_is_input, found)]
    known = Counter(path.name for path in fit)
    named = {path.name if known[path.name] == 1 else f"{path.parent.name}-{path.name}": text(path) for path in fit}
    return {_UNSAFE.sub("_", name): text for name, text in named.items()}


def find_binary(root: Path, texts: Iterable[str]) -> tuple[str, ...]:
    """Return files of tests and examples that are not texts, such as images, if the texts name their kind: first those
    that they name most often as files; in turn from each folder.
    """
    words, named = set[str](), Counter[str]()
    for own in texts:
        words.update(map(str.lower, _KIND.findall(own)))
        named.update(map(str.lower, _SUFFIX.findall(own)))
    usable = (path for path in _for_tests(root) if not _UNSAFE.search(path.relative_to(root).as_posix()))
    fit = (path for path in usable if path.suffix[1:].lower() in words)
    fit = (path for path in fit if 0 < path.stat().st_size < LARGEST_BINARY and not _BINARY.isdisjoint(text(path)))
    ranked = sorted((-named[path.suffix.lower()], path.stat().st_size, path) for path in fit)
    found = _of_each_folder(ranked, MOST_BINARY)
    return tuple(path.relative_to(root).as_posix() for path in found)


def find_spec_examples(root: Path) -> dict[str, str]:
    """Return the examples of specifications as CommonMark's, in files of tests, by name."""
    files = [path for path in _for_tests(root) if path.suffix in (".md", ".txt") and path.stat().st_size < LARGEST_CODE]
    found = ((path.stem, _SPEC_EXAMPLE.findall(text(path))) for path in files)
    return {
        f"{stem}-{number}.md": shown.replace("→", "\t")
        for stem, examples in found
        for number, shown in enumerate(examples, 1)
    }


def find_scripts(root: Path) -> tuple[Path, ...]:
    """Return the shell scripts of tests and examples, by folder or name; cases without a suffix and of bats, too."""
    named = (path for path in _files(root) if path.parent == root and "test" in path.name)
    found = (path for path in (*_for_tests(root), *named) if _is_input(path))
    return tuple(path for path in found if path.suffix in _SCRIPTS or _SHEBANG.match(text(path)))


def find_test_code(root: Path) -> tuple[Path, ...]:
    """Return the tests that are written in a programming language, then their data in JSON."""
    named = (path for path in _files(root) if path.parent == root and "test" in path.name)
    found = [path for path in (*_for_tests(root), *named) if path.suffix in _TEST_CODE]
    found.sort(key=lambda path: path.suffix == ".json")
    return tuple(path for path in found if path.stat().st_size < LARGEST_CODE)


def _for_tests(root: Path) -> Iterator[Path]:
    return (path for path in _files(root) if _is_for_tests(root, path))


def _is_for_tests(root: Path, path: Path) -> bool:
    return any(map(_INPUTS.search, path.relative_to(root).parts[:-1]))


def _is_input(path: Path) -> bool:
    return 0 < path.stat().st_size < LARGEST and _BINARY.isdisjoint(text(path))


def named_like(root: Path, name: str) -> Path | None:
    """Return the file of the repository with this name, or a sample of it such as `NAME.example`; None without one."""
    names = {name, *(f"{name}.{word}" for word in _AS_SAMPLE), *(f"{word}.{name}" for word in _AS_SAMPLE)}
    found = (path for path in _files(root) if path.name in names)
    return min(found, key=lambda path: (len(path.parts), path.name != name), default=None)


def _yaml_files(root: Path) -> Iterator[Path]:
    return (path for path in _files(root) if path.suffix in {".yaml", ".yml"})


def _files(root: Path) -> Iterator[Path]:
    """Return the first MOST_FILES files, without hidden folders and folders that tools generate."""
    return itertools.islice(_all_files(root), MOST_FILES)


def _all_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        yield from (path for name in sorted(names) if (path := Path(folder, name)).is_file())


def _is_scenario(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return bool(_AGENTV.search(text)) or all(key.search(text) for key in _NATIVE)
