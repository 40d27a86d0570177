"""Files that a call lacks: from the repository, or samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from tidegate.agents.invocations.shell_grammar import shell_lines
from tidegate.authoring.samples import kind_of, sample
from tidegate.authoring.survey import named_like

LARGEST_NAMED, LARGEST_FILE, MOST_FILES = 1_000_000, 200_000, 20  # characters of a file, and in a folder
FILE = re.compile(r"[\w./~+-]*\w\.[A-Za-z]\w{0,8}")
FOLDER = re.compile(r"(?:path|dir|folder|src)\w*/?|.+/")
_TOLD = re.compile(rf"(?<![\w/.])\.\w[\w.-]*\w|{FILE.pattern}")
_WORD = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*/?")


def told_words(printed: str, repo: Path) -> list[str]:
    """Return the files of the repository that an error names."""
    return [word for word in _TOLD.findall(printed) if named_like(repo, PurePosixPath(word).name)]


def input_words(line: str, binary: str) -> list[str]:
    """Return the words of a line that may name a file or folder that it reads."""
    reads = [pair for one in shell_lines(line, binary) for pair in zip(("", *one.words), one.words, strict=False)]
    found = (word.strip("\"'") for before, word in reads if not re.fullmatch(r"-o|--?out(put)?\S*", before))
    files = dict.fromkeys(re.split("=@?|^@", word)[-1] for word in found)
    return [word for word in files if _WORD.fullmatch(word) and not word.startswith("-")]


def read(path: Path) -> str:
    """Return the file as a text, in which surrogates stand for bytes that are not UTF-8; empty if it is none."""
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""


def content_of(repo: Path, word: str, number: int, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files for this word: the repository's, or one that ends alike, else samples; a word without a suffix is
    a folder. `known`: files, among them some of the repository.
    """
    here, known = repo / word, [*known]
    if here.is_dir():
        for path in sorted(here.rglob("*"))[:MOST_FILES]:
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_FILE:
                yield path.relative_to(repo).as_posix(), read(path)
    elif found := here if here.is_file() else named_like(repo, PurePosixPath(word).name):
        yield word, read(found)[:LARGEST_NAMED]
    elif not kind_of(word) and (likes := [path for path in map(repo.joinpath, known) if _ends_alike(path, word)]):
        yield word, read(likes[number % len(likes)])
    elif FILE.fullmatch(word) or kind_of(word):
        yield word, sample(word, number)
    else:
        kinds = [*dict.fromkeys(kind for kind in map(kind_of, known) if kind)] or [".txt"]
        folder = word.rstrip("/")
        yield from ((f"{folder}/sample{kind}", sample(kind)) for kind in kinds)
        yield f"{folder}/inner/other{kinds[0]}", sample(kinds[0], 1)
        yield from ((f"{folder}/{name}{kinds[0]}", sample(kinds[0])) for name in ("copy", "inner/the copy"))
        yield from ((f"{folder}/{name}{kinds[0]}", sample(kinds[0], 1)) for name in (".hidden", "Upper Case"))
        yield f"{folder}/empty{kinds[0]}", ""
        yield f"{folder}/odd #1 & 100%{kinds[0]}", sample(kinds[0])[:1].ljust(1024, "\n")
        yield f"{folder}/large.txt", sample(".txt") * 20


def _ends_alike(path: Path, word: str) -> bool:
    suffix = PurePosixPath(word).suffix.lower()
    return suffix != "" and path.suffix.lower() == suffix and path.is_file()


def would_clash(name: str, other: str) -> bool:
    """Return True if one of these files would be a folder for the other."""
    return f"{name}/".startswith(f"{other}/") or f"{other}/".startswith(f"{name}/")
