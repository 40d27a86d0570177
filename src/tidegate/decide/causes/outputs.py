"""Causes in what a call or a file says, although it ends as on base: a JSON key, words, a line."""

from __future__ import annotations

import re
from functools import partial
from typing import Literal

from tidegate.decide.causes.seen import Found, Pair, Seen, comparable_reads, made_the_same_calls
from tidegate.decide.surface.parts import parsed
from tidegate.model.measurement import Call, GateResult
from tidegate.text.first_difference import first_difference
from tidegate.text.noise import Words, masked

_CUT = "…"


def json_key(seen: Seen) -> Found | None:
    """A key that base's JSON has and head's has not, in a call's output or in what a failed check reads."""
    pair = _same_end(seen)
    reads = (Pair(read.base, read.head) for read in comparable_reads(seen.row))
    for one in (*((pair,) if pair else ()), *reads):
        gone = _missing(one.base, one.head) if one.head.status == "ok" else ()
        if gone:
            new = _missing(one.head, one.base)
            return Found("json_key", (one.head.command,), gone[:5], new if len(gone) == len(new) == 1 else ())
    for gate in _newly_failed(seen):
        if gate.type == "command_json_path" and gate.missing:
            return Found("json_key", (gate.label,), gate.missing)
    return None


def missing_words(seen: Seen) -> Found | None:
    """Words that a check finds in base's output and not in head's."""
    for gate in _newly_failed(seen):
        if gate.missing:
            return Found("words", (gate.label,), gate.missing)
    return None


def _newly_failed(seen: Seen) -> list[GateResult]:
    """Return the gates that every failed trial of head fails alike, and that every trial of base passes."""
    if not (seen.head and seen.base):
        return []
    passed = [{gate.label for gate in trial.gates if gate.passed} for trial in seen.base]
    missed = [{(gate.label, gate.missing) for gate in trial.gates if not gate.passed} for trial in seen.head]
    return [
        gate
        for gate in seen.head[0].gates
        if all((gate.label, gate.missing) in gates for gates in missed) and all(gate.label in gates for gates in passed)
    ]


def output(seen: Seen) -> Found | None:
    """A call that ends alike on both sides and prints something else. The lines that differ first are shown."""
    pair = _same_end(seen)
    if pair is None or pair.head.status not in ("ok", "error"):
        return None
    return _lines("output", pair, seen.noise)


def file(seen: Seen) -> Found | None:
    """A file that head's agent left otherwise than base's, or that a failed check reads, by the same calls."""
    found = seen.row.evidence
    if found is None or not made_the_same_calls(found.divergence):
        return None
    for read in comparable_reads(seen.row):
        ended = read.base.exit_code == read.head.exit_code
        if ended and masked(read.base.message, seen.noise) != masked(read.head.message, seen.noise):
            return _lines("file" if read.is_file else "output", Pair(read.base, read.head), seen.noise)
    for one in found.files:
        base, head = (next((line[1:].strip() for line in one.lines if line.startswith(sign)), "") for sign in "-+")
        if base or head:
            return Found("file", (one.path,), base=base, head=head, clues=_telling(head, base))
    return None


def _same_end(seen: Seen) -> Pair | None:
    pair = seen.pair
    return pair if pair and (pair.base.status, pair.base.exit_code) == (pair.head.status, pair.head.exit_code) else None


def _objects(call: Call) -> dict[str, dict[str, None]]:
    """Return the keys of all objects that it prints as JSON, or as lines of JSON, by their path: `.tasks[]`.

    None if anything else is printed too: what was cut shows no missing key.
    """
    found: dict[str, dict[str, None]] = {}
    todo = [("", value) for value in parsed(call.message) or ()]
    while todo:
        path, value = todo.pop()
        if isinstance(value, dict):
            found.setdefault(path, {}).update(dict.fromkeys(value))
            todo += [(f"{path}.{key}", inner) for key, inner in value.items()]
        elif isinstance(value, list):
            todo += [(f"{path}[]", inner) for inner in value]
    return found


def _missing(base: Call, head: Call) -> tuple[str, ...]:
    """Return the keys that only base's objects have. Of a list that is empty on head, none is known to be gone."""
    ours, theirs = _objects(base), _objects(head)
    there = {key for keys in theirs.values() for key in keys}
    gone = (key for path, keys in ours.items() if theirs.get(path) for key in keys if key not in there)
    return tuple(dict.fromkeys(gone))


def _lines(kind: Literal["output", "file"], pair: Pair, noise: Words) -> Found:
    base, head = first_difference(pair.base.message, pair.head.message, partial(masked, noise=noise))
    return Found(kind, (pair.head.command,), base=base, head=head, clues=_telling(head, base))


def _telling(head: str, base: str) -> tuple[str, ...]:
    """Return what the diff has: the lines themselves, then the words that only one has, head's first."""
    ours, theirs = re.findall(r"\w{3,}", base), re.findall(r"\w{3,}", head)
    lines = tuple(line for line in (head, base) if " " in line and not line.endswith(_CUT))
    words = (*(word for word in theirs if word not in ours), *(word for word in ours if word not in theirs))
    return (*lines, *words[:6])
