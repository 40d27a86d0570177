"""Compare the output of the same command in several runs: mask what differs between two runs of the same program.

Two runs of base show what is volatile. Of these forms, the one is used in which they differ least: the text, the text
with the keys of JSON objects sorted, the text with its lines sorted. Clock times near the run, and durations that a
step can have taken, are masked in any case, since two runs may agree on them by chance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tidegate.text.clock import without_clock

_WORD = re.compile(r"[A-Za-z0-9_.+-]+")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\.?")
_HEX = re.compile(r"[0-9a-fA-F]+")
_DIGITS = re.compile(r"\d")
_ID = re.compile(r"([A-Za-z_-]*[-_])([a-z0-9]{4,12})")
_VOLATILE_IN_ORDER = re.compile(r"(?<=[-_])[a-z0-9]{4,12}(?![\w-])|[0-9a-f]{4,}|\d+|\s+", re.IGNORECASE)
SHORTEST_ID = 4  # characters; shorter volatile words, such as durations, may repeat by chance
Names = dict[str, str]


class Printed(NamedTuple):
    """One output: its text, when it was printed (seconds since the epoch), and how many seconds the step took."""

    text: str
    at: float = 0.0
    secs: float = 0.0


class Steady(NamedTuple):
    """The form in which two runs agree, one of them in it, and the shapes of its volatile words, by line and word."""

    form: Callable[[str], str]
    lines: tuple[str, ...]
    volatile: Mapping[tuple[int, int], tuple[str, str]]

    def agrees(self, other: Printed, names: Names) -> bool:
        """Return True if the output differs from the two runs only in what differs between them.

        `names` maps base's ids to head's. An id has to be renamed in the same way everywhere; new ones are added.
        """
        lines = _exactly(self.form(_masked(other)))
        pairs = _differing(self.lines, lines)
        if pairs is None or any(place not in self.volatile for place in pairs):
            return False
        for place, known in self.volatile.items():
            word = _WORD.findall(lines[place[0]])[place[1]]
            if not _fits(word, *known) or not _renamed(known[0], word, names):
                return False
        return True

    def holds(self, part: Printed, *, cut: bool) -> bool:
        """Return True if each line of `part` is one of these, in any order; unless it is cut, it has all of them.

        Agents print a command's two outputs in an order of their own, and cut long ones.
        """
        lines = [_WORD.findall(line) for line in _lines(self.form(_masked(part)))]
        known = [_WORD.findall(line) for line in self.lines if line.strip()]
        if not cut and len(lines) != len(known):
            return False
        numbers = [number for number, line in enumerate(self.lines) if line.strip()]
        every = list(zip(numbers, known, strict=True))
        return all(any(self._is_line(words, number, own) for number, own in every) for words in lines)

    def _is_line(self, words: list[str], number: int, known: list[str]) -> bool:
        if len(words) != len(known):
            return False
        differing = [(self.volatile.get((number, at)), word) for at, word in enumerate(words) if word != known[at]]
        return all(pair is not None and _fits(word, *pair) for pair, word in differing)


def steady(one: Printed, other: Printed) -> Steady | None:
    """Return the form in which two runs of the same program differ least; None if they differ in more than ids."""
    first, second = _masked(one), _masked(other)
    best: Steady | None = None
    for form in (_same_text, *((_as_json,) if _is_json(first) and _is_json(second) else ()), _sorted_lines):
        lines = _exactly(form(first))
        pairs = _differing(lines, _exactly(form(second)))
        if pairs is None or not all(_may_vary(*words) for words in pairs.values()):
            continue
        if best is None or len(pairs) < len(best.volatile):
            best = Steady(form, lines, pairs)
    return best


def new_names(before: Printed, now: Printed) -> Names:
    """Return the generated words of the first output that have another value in the second, as old → new."""
    found = steady(before, now)
    if found is None:
        return {}
    pairs = [(old, new) for old, new in found.volatile.values() if len(old) >= SHORTEST_ID - 1]
    return {old: new for old, new in pairs if _DIGITS.search(old) or _has_id(old, new)}


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return the text with these whole words replaced."""
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text) if names else text


def _masked(printed: Printed) -> str:
    return without_clock(printed.text, printed.at, printed.secs)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in text.split("\n") if line.strip())


def _exactly(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n"))


def _same_text(text: str) -> str:
    return text


def _is_json(text: str) -> bool:
    return _as_json(text) != text


def _as_json(text: str) -> str:
    """Return the text with the keys of its JSON objects sorted: of the whole text, or of each line that is JSON."""
    if (whole := _json(text)) is not None:
        return whole
    return "\n".join(_json(line) or line for line in text.split("\n"))


def _json(text: str) -> str | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        parsed = json.loads(text, object_pairs_hook=_without_duplicates)
        return json.dumps(parsed, indent=1, sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object. Raises ValueError if a key occurs twice: parsers disagree on which of them counts."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _sorted_lines(text: str) -> str:
    """Return the text with its lines in an order that ids and numbers have no part in."""
    return "\n".join(sorted(_exactly(text), key=lambda line: (_VOLATILE_IN_ORDER.sub("#", line), line)))


def _differing(one: tuple[str, ...], other: tuple[str, ...]) -> dict[tuple[int, int], tuple[str, str]] | None:
    """Return the words that differ, by line and word; None if more than words differs."""
    if len(one) != len(other):
        return None
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for number, (ours, theirs) in enumerate(zip(one, other, strict=True)):
        if ours == theirs:
            continue
        first, second = _WORD.findall(ours), _WORD.findall(theirs)
        if len(first) != len(second) or list(_between(ours)) != list(_between(theirs)):
            return None
        found |= {(number, place): (a, b) for place, (a, b) in enumerate(zip(first, second, strict=True)) if a != b}
    return found


def _between(line: str) -> Iterator[str]:
    """Yield what stands between the words."""
    yield from _WORD.split(line)


def _may_vary(one: str, other: str) -> bool:
    """Return True if two words can be the same generated value in two runs: a number, an id, a temporary name."""
    if bool(_DIGITS.search(one)) and bool(_DIGITS.search(other)):
        return True
    if len(one) != len(other) or len(one) < SHORTEST_ID:
        return False
    if _has_id(one, other) or one[:3] == other[:3] == "tmp":
        return True
    return bool(_DIGITS.search(one + other)) or (_is_mixed(one) and _is_mixed(other))


def _is_mixed(word: str) -> bool:
    return re.search(r"[a-z]", word) is not None and re.search(r"\w[A-Z]", word) is not None


def _fits(word: str, one: str, other: str) -> bool:
    """Return True if the word looks like the two: the same kinds of characters, and as long."""
    if _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other):
        return _NUMBER.fullmatch(word) is not None and _kinds(word) <= _kinds(one + other)
    if len(one) == len(other) != len(word):
        return False
    if _has_id(one, other):
        return _ID.fullmatch(word) is not None and _fixed_part(one, other, word)
    if not min(len(one), len(other)) - 3 <= len(word) <= max(len(one), len(other)) + 3:
        return False
    if _HEX.fullmatch(one) and _HEX.fullmatch(other) and not _HEX.fullmatch(word):
        return False
    if one.startswith("tmp") and other.startswith("tmp"):
        return word.startswith("tmp")
    if _DIGITS.search(one) and _DIGITS.search(other) and not _DIGITS.search(word):
        return False
    return _fixed_part(one, other, word) and _kinds(word) <= _kinds(one + other)


def _has_id(one: str, other: str) -> bool:
    """Return True if both are a prefix and an id of small letters and digits, as `fix-k3v9`; an id may lack digits."""
    ids = _ID.fullmatch(one), _ID.fullmatch(other)
    if ids[0] is None or ids[1] is None or len(one) != len(other) or ids[0][1] != ids[1][1]:
        return False
    return not (_HEX.fullmatch(ids[0][2]) and _HEX.fullmatch(ids[1][2]))


def _fixed_part(one: str, other: str, word: str) -> bool:
    """Return True if the word begins as both do, as far as a dash: `task-` of `task-8f` and `task-3c`."""
    shared = re.match(r"[A-Za-z_-]*[-_]", one)
    return shared is None or not other.startswith(shared[0]) or word.startswith(shared[0])


def _kinds(word: str) -> set[str]:
    return {"digit" if c.isdigit() else "lower" if c.islower() else "upper" if c.isupper() else c for c in word}


def _renamed(base: str, head: str, names: Names) -> bool:
    """Return True if the id is renamed as before, and no other id is renamed to the same."""
    if len(base) < SHORTEST_ID or _NUMBER.fullmatch(base):
        return True
    if base in names:
        return names[base] == head
    if head in names.values():
        return False
    names[base] = head
    return True
