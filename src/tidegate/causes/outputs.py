"""Causes in what a call prints, although it ends as on base: a JSON key, the format, an error text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial

from tidegate.causes.seen import Found, Pair, Seen, command_line
from tidegate.comparison.noise import Words, masked
from tidegate.model.measurement import TrialResult
from tidegate.text.first_difference import first_difference

_KEY = re.compile(r'"([^"\\]{1,60})"\s*:')
_GATE_KEY = re.compile(r"^`(?P<path>[^`]+)` is missing(?: or null)? in the output$")
_LAST_KEY = re.compile(r"([A-Za-z_][\w-]*)\W*$")
_CUT = "…"
_LACKS = re.compile(r"^the output (?:lacks|does not list) (?P<words>`.*`)(?: and (?P<more>\d+) more)?")
_WORD = re.compile(r"`([^`]+)`")


def json_key(seen: Seen) -> Found | None:
    """A key that base's JSON has and head's has not, in a call's output or in what a gate reads."""
    pair = _same_end(seen)
    if pair and pair.head.status == "ok" and _is_json(pair.base.message) and _is_json(pair.head.message):
        gone = _missing(pair.base.message, pair.head.message)
        if gone:
            new = _missing(pair.head.message, pair.base.message)
            renamed = len(gone) == len(new) == 1
            has = f"has the key `{new[0]}` instead of" if renamed else "no longer has the key"
            says = f"the JSON output of `{command_line(pair.head)}` {has} `{gone[0]}`"
            return Found("json_key", says, (gone[0],))
    return next(_missing_for_gates(seen), None)


def missing_words(seen: Seen) -> Found | None:
    """Words that a check finds in base's output and not in head's."""
    for gate in seen.head[0].gates if seen.head else ():
        lacks = _LACKS.match(gate.message) if gate.type == "command_output_words" and not gate.passed else None
        here = all(_says(trial, gate.label, gate.message) for trial in seen.head)
        there = any(_fails(trial, gate.label) for trial in seen.base)
        if lacks and seen.base and here and not there:
            read = gate.label.replace("`", "'")
            gone = _WORD.findall(lacks["words"])
            total = len(gone) + int(lacks["more"] or 0)
            says = f"the check `{read}` no longer finds {_some(gone, total)}"
            return Found("output", says, tuple(gone))
    return None


def _some(words: Sequence[str], total: int) -> str:
    """Return at most three of the words, and how many more there are in total."""
    shown = [f"`{word}`" for word in words[:3]]
    last = f"{total - 3} more" if total > 3 else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last


def _fails(trial: TrialResult, label: str) -> bool:
    return any(gate.label == label and not gate.passed for gate in trial.gates)


def output(seen: Seen) -> Found | None:
    """A call that succeeds on both sides and prints something else. The lines that differ first are shown."""
    pair = _same_end(seen)
    if pair is None or pair.head.status != "ok" or not pair.base.message:
        return None
    base, head = _first_different(pair, seen.noise)
    if not (head or base):
        says = f"`{command_line(pair.head)}` prints other blank lines"
    elif not head:
        says = f"`{command_line(pair.head)}` no longer prints `{base}`"
    elif not base:
        says = f"`{command_line(pair.head)}` now prints `{head}` in addition"
    else:
        says = f"`{command_line(pair.head)}` prints `{head}` instead of `{base}`"
    return Found("output", says, _telling(head, base))


def error_text(seen: Seen) -> Found | None:
    """A call that fails alike on both sides, with another message."""
    pair = _same_end(seen)
    if pair is None or pair.head.status != "error" or not (pair.base.message and pair.head.message):
        return None
    base, head = _first_different(pair, seen.noise)
    says = f"the error message of `{command_line(pair.head)}` is `{head or '(empty)'}` instead of `{base or '(empty)'}`"
    return Found("error_text", says, _telling(head, base))


def _same_end(seen: Seen) -> Pair | None:
    pair = seen.pair
    return pair if pair and (pair.base.status, pair.base.exit_code) == (pair.head.status, pair.head.exit_code) else None


def _is_json(text: str) -> bool:
    """Return True if the whole text is JSON, or lines of JSON. What was cut shows no missing key."""
    try:
        json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        return len(lines) > 1 and _CUT not in text and all(line.strip()[:1] == "{" for line in lines)
    return text.strip()[:1] in "{["


def _missing(base: str, head: str) -> list[str]:
    there = set(_KEY.findall(head))
    return [key for key in dict.fromkeys(_KEY.findall(base)) if key not in there]


def _missing_for_gates(seen: Seen) -> Iterator[Found]:
    """Yield the key of a JSONPath gate that every failed trial of head misses and base's trials find."""
    for gate in seen.head[0].gates if seen.head else ():
        found = _GATE_KEY.match(gate.message) if gate.type == "command_json_path" and not gate.passed else None
        key = _LAST_KEY.search(found["path"]) if found else None
        here = all(_says(trial, gate.label, gate.message) for trial in seen.head)
        there = any(_says(trial, gate.label, gate.message) for trial in seen.base)
        if key and seen.base and here and not there:
            read = gate.label.replace("`", "'")
            says = f"the key `{key[1]}` is missing from the JSON that the check `{read}` reads"
            yield Found("json_key", says, (key[1],))


def _says(trial: TrialResult, label: str, message: str) -> bool:
    return any((gate.label, gate.message) == (label, message) for gate in trial.gates)


def _first_different(pair: Pair, noise: Words) -> tuple[str, str]:
    """Return the lines in which the outputs first differ, as a sentence shows them."""
    base, head = first_difference(pair.base.message, pair.head.message, partial(masked, noise=noise))
    return _shown(base), _shown(head)


def _shown(line: str) -> str:
    line = line.replace("`", "'")
    return line if len(line) <= 80 else f"{line[:79]}…"


def _telling(head: str, base: str) -> tuple[str, ...]:
    """Return what the diff has: the lines themselves, then the words that only one has, head's first."""
    ours, theirs = re.findall(r"\w{3,}", base), re.findall(r"\w{3,}", head)
    lines = tuple(line for line in (head, base) if " " in line and not line.endswith(_CUT))
    words = (*(word for word in theirs if word not in ours), *(word for word in ours if word not in theirs))
    return (*lines, *words[:6])
