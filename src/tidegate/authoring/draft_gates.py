"""Gates that can see what a mutant changes: lines that differ, and keys of JSON output. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tidegate.authoring.observed_gates import tells
from tidegate.surface.parts import parsed


def key_gate(command: str, output: str, key: str) -> Iterator[dict[str, Any]]:
    """Yield a gate for a key of a command's JSON output, if possible where its value is not empty."""
    places = [*_places(parsed(output) or [], key)]
    for path, value in sorted(places, key=lambda place: not place[1])[:1]:
        gate = {"type": "command_json_path", "command": command, "path": path, "assertion": _assertion(value)}
        yield gate | {"description": f"`{command}` has the key {key}"}


def differences(
    reads: Sequence[str], seen: tuple[Sequence[str], Sequence[str], Sequence[str]], values: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield a gate for what a read prints each time after the call, and not without it: a line, or one of its values.

    `seen`: what the reads print after the call, after a second one, and without it.
    """
    for read, ours, again, plain in zip(reads, *seen, strict=True):
        lines = [line.strip() for line in ours.splitlines()]
        known = {line.strip() for line in plain.splitlines()}
        others = {line.strip() for line in again.splitlines()}
        new = [line for line in lines if line in others and line not in known and tells(line)]
        new = new or [one for one in values if len(one) > 2 and one in ours and one in again and one not in plain]
        if new:
            substring = max(new, key=len)
            what = {"type": "command_output_contains", "command": read, "substring": substring}
            yield what | {"description": f"`{read}` shows {substring}"}


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
    """Return what holds for the value: its size for a list or an object, else that it is equal."""
    if value is None or (isinstance(value, list | dict) and not value):
        return "len == 0" if value is not None else "exists"
    return "exists" if isinstance(value, list | dict) else f"equals {json.dumps(value)}"
