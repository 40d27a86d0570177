"""Gates for what a draft's call leaves, that fail without the call; and for keys of JSON output. Pure."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from tidegate.authoring.observed_gates import LONGEST, VOLATILE, tells
from tidegate.authoring.scenario_text import changes
from tidegate.surface.parts import parsed

_MOST_LINES = 5
_FEWEST = 6  # letters and digits of a part of a line


def key_gate(command: str, output: str, key: str) -> Iterator[dict[str, Any]]:
    """Yield a gate for a key of a command's JSON output, if possible where its value is not empty."""
    places = [*_places(parsed(output) or [], key)]
    for path, value in sorted(places, key=lambda place: not place[1])[:1]:
        gate = {"type": "command_json_path", "command": command, "path": path, "assertion": _assertion(value)}
        yield gate | {"description": f"`{command}` has the key {key}"}


def read_gate(reads: Sequence[str], seen: Sequence[Sequence[str]], values: Sequence[str]) -> dict[str, Any] | None:
    """Return a gate for what a read prints each time after the call, and not without it; None if there is nothing.

    `seen`: what the reads print after the call, after a second one, and without it.
    """
    found = []
    for read, ours, again, plain in zip(reads, *seen, strict=True):
        if line := new_text(ours, again, plain, values):
            what = {"type": "command_output_contains", "command": read, "substring": line}
            found.append(what | {"description": f"`{read}` shows “{line}”"})
    return min(found, key=lambda gate: _rank(gate["substring"], values), default=None)


def file_gate(diffs: Sequence[str], values: Sequence[str]) -> dict[str, Any] | None:
    """Return a gate for what the call leaves in files; None if there is nothing. `diffs`: as in `read_gate`.

    A file whose name differs from trial to trial is searched for in its folder.
    """
    ours, again, plain = ({path: "\n".join(added) for path, _, added in changes(diff)} for diff in diffs)
    known = "\n".join(plain.values())
    found = list[tuple[str, dict[str, Any]]]()
    for path, text in ours.items():
        if path in again:
            if line := new_text(text, again[path], plain.get(path, ""), values):
                found.append((line, {"type": "file_contains", "path": path, "substring": line}))
            continue
        folder = posixpath.dirname(path)
        others = "\n".join(other for name, other in again.items() if posixpath.dirname(name) == folder)
        if folder and (line := new_text(text, others, known, values)):
            gate = {"type": "command_succeeds", "command": f"grep -rqF -e {shlex.quote(line)} {shlex.quote(folder)}"}
            found.append((line, gate | {"description": f"a file in {folder} has “{line}”"}))
    return min(found, key=lambda one: _rank(one[0], values), default=("", None))[1]


def output_gate(file: str, printed: Sequence[str], values: Sequence[str]) -> dict[str, Any] | None:
    """Return a gate for the file that keeps what the call prints: all of it where only something is missing in it.

    `printed`: as in `read_gate`.
    """
    ours, again, plain = printed
    if line := new_text(ours, again, plain, values):
        return {"type": "file_contains", "path": file, "substring": line, "description": f"{file} has “{line}”"}
    lines = ours.splitlines()
    lasting = all(tells(line) or not line.strip(" {}[](),") for line in lines)
    if ours != again or ours == plain or not 0 < len(lines) <= _MOST_LINES or not lasting or not ours.strip():
        return None
    pattern = rf"\A{re.escape(ours.strip())}\s*\Z".replace("\\ ", " ").replace("\\\n", r"\n")
    return {"type": "file_matches", "path": file, "pattern": pattern, "description": f"{file} has these lines alone"}


def new_text(ours: str, again: str, plain: str, values: Sequence[str]) -> str:
    """Return a line, or a part of one, that both texts have and `plain` lacks; '' if there is none.

    A line with one of the values comes first.
    """
    others = [line.strip() for line in again.splitlines()]
    found = []
    for line in (line.strip() for line in ours.splitlines()):
        shared = line if line in others else max((_shared(line, other) for other in others), key=len, default="")
        found += [part for part in _lasting(shared) if part not in plain]
    return min(found, key=lambda part: _rank(part, values), default="")


def _rank(text: str, values: Sequence[str]) -> tuple[bool, int]:
    return not any(len(value) > 2 and value in text for value in values), -len(text)


def _shared(line: str, other: str) -> str:
    """Return the longest run of whole words that two lines share."""
    ours, theirs = line.split(), other.split()
    found = SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match()
    shared = re.search(r"\s+".join(map(re.escape, ours[found.a : found.a + found.size])), line)
    return shared[0] if shared and shared[0] in other else ""


def _lasting(line: str) -> Iterable[str]:
    """Return the line, or its parts between what will be another one tomorrow, such as a date."""
    if tells(line):
        return [line]
    parts = (part.strip() for part in VOLATILE.split(line))
    return [part for part in parts if len(part) <= LONGEST and tells(part) and sum(map(str.isalnum, part)) >= _FEWEST]


def _places(values: Sequence[Any], key: str, path: str = "$") -> Iterator[tuple[str, Any]]:
    """Yield JSON paths of the key with its values. Of JSON line by line, there is no path."""
    if len(values) != 1:
        return
    value = values[0]
    if isinstance(value, dict):
        for name, inner in value.items():
            own = f"{path}.{name}" if name.isidentifier() else f'{path}["{name}"]'
            if name == key:
                yield own, inner
            yield from _places([inner], key, own)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places([inner], key, f"{path}[{number}]")


def _assertion(value: Any) -> str:
    """Return what holds for the value: its size for a list or an object, else that it is equal if that will last."""
    text = json.dumps(value)
    if isinstance(value, list | dict):
        return "exists" if value else "len == 0"
    return "exists" if VOLATILE.search(text) else f"equals {text}"
