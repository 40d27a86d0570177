"""Decides which command lines of a document are examples that a reader can run as they are shown."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from tidegate.agents.instructions import PLAIN_PROGRAMS, Block, Example

# Words in capitals that are real values.
_IN_CAPITALS = "GET POST PUT PATCH DELETE HEAD DEBUG INFO WARN WARNING ERROR ASCII JSON CSV TSV XML YAML UTC"
_VALUES = frozenset(_IN_CAPITALS.split())
_CAPITALS = re.compile(r"""(?:--?[\w-]+=)?([A-Z][A-Z_-]+)(?:["'].*|=[A-Z_]+)?""", re.DOTALL)
_OPTIONAL = re.compile(r"\[[-\w<][^\]]*(\]+(\.\.\.)?\]*)?$|.*\w\.\.\.\]*$")
_ALTERNATIVES = re.compile(r"[\w\])]\|[\w\[(<-]")
_SAMPLE = re.compile(r"/?path/to/|\byour[-_]|\{[A-Za-z_ -]+\}$", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*|[@*1-9])")
_OF_ENVIRONMENT = frozenset({"HOME", "PWD", "USER", "PATH", "TMPDIR", "SHELL", "LANG", "TERM"})
_OUTSIDE = re.compile(r"/(bin|boot|dev|etc|home|lib|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var|Users)(/|$)")
_HOME_BIN = re.compile(r"(?:~|\$HOME|\$\{HOME\})/(?:\.local/)?bin\b")
_NULL = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/")
_ADDRESS = re.compile(r"(https?|ftp|ssh|git|wss?)://|[\w.-]+\.(com|org|net)$|\d+\.\d+\.\d+\.\d+$")
_OUTPUT_OPTION = re.compile(r"-o|--?out(put)?([-_]\w+)?")
_FILE = re.compile(
    r"[\w./~+-]*\w\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|xml|html?|js|ts|py|rb|go|rs|c|h|cc|cpp|java|kt|sh|sql"
    r"|db|sqlite3?|log|pdf|png|jpe?g|gif|svg|zip|tar|gz|tgz|bz2|xz|bin|dat|out|pem|key|crt|diff|patch|tex|css|bib)"
)


def synopsis(line: Example, block: Block) -> str | None:
    """Return why the line describes calls instead of being one; None if it is one."""
    unquoted = [word for word in line.words if word[:1] not in "\"'"]
    if any(_OPTIONAL.match(word) for word in unquoted):
        return "it has optional arguments in brackets"
    if _ALTERNATIVES.search(re.sub(r"""(["']).*?\1""", "", line.text, flags=re.DOTALL)):
        return "it has alternatives (`a|b`)"
    if capitals := [word for word in (*line.programs[:1], *unquoted) if _stands_for_value(word)]:
        return f"`{capitals[0]}` stands for a value"
    if any(_SAMPLE.search(word) for word in line.words):
        return "it holds a placeholder"
    text = "\n".join(other.text for other in block.lines)
    used = {name for word in line.words if word[:1] != "'" for name in _VARIABLE.findall(word)}
    unset = sorted(
        name for name in used - _OF_ENVIRONMENT if not re.search(rf"\b{re.escape(name)}\b(?=\+?=| in\b)", text)
    )
    return f"no line sets `${unset[0]}`" if unset and "read " not in text else None


def foreign(line: Example, target: str) -> str | None:
    """Return why the line is not about the tool alone; None if it is, or if it only prepares files for it."""
    own = PurePosixPath(target).name
    programs = [PurePosixPath(program).name for program in line.programs]
    if others := [name for name in programs if name != own and name not in PLAIN_PROGRAMS]:
        return f"it also needs `{others[0]}`" if line.calls else f"it does not call {own}"
    if not line.calls and (folder := _HOME_BIN.search(line.text)):
        return f"it installs into {folder[0]}, which is not on PATH here"
    if "git" in programs and not {"clone", "fetch", "pull", "push", "rm", "status"}.isdisjoint(line.words):
        return f"it does not call {own}"
    if "sudo" in programs:
        return "it needs `sudo`"
    bare = [word.strip("\"'") for word in line.words]
    if outside := [word for word in bare if _OUTSIDE.match(word) and not word.startswith(_NULL)]:
        return f"it reads {outside[0]}, outside of the workspace"
    if addresses := [word for word in bare if _ADDRESS.match(word)]:
        return f"it needs {addresses[0]}"
    return None


def unfinished(block: Block, target: str) -> str | None:
    """Return why the block's calls belong to a longer procedure: a line of it runs other programs."""
    own = PurePosixPath(target).name
    programs = (PurePosixPath(name).name for line in block.lines if not line.calls for name in line.programs)
    other = next((name for name in programs if name != own and name not in PLAIN_PROGRAMS), None)
    return f"its block also needs `{other}`" if other else None


def missing_file(line: Example, workspace: Path, made: Collection[str]) -> str | None:
    """Return why the line cannot work: a file that it names is neither in the workspace nor written by the line.

    `made`: texts of the earlier lines, which may have changed to another folder or write the file.
    """
    for before, word in zip(("", *line.words), line.words, strict=False):
        name = word.strip("\"'")
        if not _FILE.fullmatch(name) or _OUTPUT_OPTION.fullmatch(before):
            continue
        if not (workspace / name).exists() and not any("cd " in text or name in text for text in made):
            return f"{name} is not in the workspace"
    return None


def _stands_for_value(word: str) -> bool:
    found = _CAPITALS.fullmatch(word)
    return found is not None and found[1] not in _VALUES
