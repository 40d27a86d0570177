"""What differs between two runs of the same program by chance: hashes, ids, times, durations, temporary paths, ports.

`without_noise` masks what looks like it, `without_clock` times near the run and durations that a step can have taken.
`steady` compares two runs of base: of the text, the text with the keys of JSON objects sorted, and the text with its
lines sorted, the form is used in which they differ least. `noisy_words` and `masked` do so for the calls of a row's
trials, so that what differs between trials of one side does not hide what differs between the sides.
"""

from __future__ import annotations

import json
import re
from calendar import month_abbr, timegm
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol

from tidegate.text.json_keys import unique_keys

NEAR_SECS = 36 * 3600  # a date of today, in any time zone
SHORT_SECS = 120.0  # a time of day without a date
SOONER, LATER = 5.0, 90.0  # a step's clock may be so much behind and ahead of the end of the step
TIME, DURATION = "<time>", "<duration>"
_MONTHS = {name.lower(): number for number, name in enumerate(month_abbr) if name}
_MONTH = "|".join(name for name in month_abbr if name)
_CLOCK = r"(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:[.,]\d+)?)?"
_ZONE = r"(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))"
_ISO = re.compile(rf"\b(?P<y>\d{{4}})[-/]?(?P<mo>[01]\d)[-/]?(?P<d>[0-3]\d)(?:[T _-]?(?:{_CLOCK}|\d{{6}}){_ZONE}?)?\b")
_NAMED = re.compile(
    r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
    rf"(?:(?P<mo>{_MONTH})[a-z]* +(?P<d>\d{{1,2}})|(?P<d2>\d{{1,2}})[ -](?P<mo2>{_MONTH})[a-z]*(?! +\d{{1,2}}\b))"
    rf"(?:,?[ -](?P<y>\d{{4}}))?(?:,? +{_CLOCK})?(?: (?:[AP]M|[A-Z]{{3,4}}|[+-]\d{{4}}))*(?: (?P<y2>\d{{4}}))?\b",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(?<![\w.])(?P<n>\d{10})(?P<ms>\d{3}|\d{6}|\d{9})?(?:\.\d+)?(?![\w])")
_OF_DAY = re.compile(rf"(?i)(?<![\w:.-]){_CLOCK}(?: ?(?P<half>[AP])M)?(?![\w:])")
_TOOK = re.compile(
    r"(?<![\w.])(?P<n>\d+(?:\.\d+)?(?:e-\d+)?)(?P<gap>\s?)(?P<u>ns|µs|us|ms|milliseconds?|s|secs?|seconds?|min|minutes?)\b"
)
_UNITS = {"n": 1e-9, "µ": 1e-6, "u": 1e-6, "s": 1.0}

_WORD = re.compile(r"[A-Za-z0-9_.+-]+")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\.?")
_HEX = re.compile(r"[0-9a-fA-F]+")
_DIGITS = re.compile(r"\d")
_ID = re.compile(r"([A-Za-z_-]*[-_])([a-z0-9]{4,12})")
_VOLATILE_IN_ORDER = re.compile(r"(?<=[-_])[a-z0-9]{4,12}(?![\w-])|[0-9a-f]{4,}|\d+|\s+", re.IGNORECASE)
_ESCAPE, _STRING = re.compile(r"\\.", re.DOTALL), re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BETWEEN = re.compile(r"[:,]\s*|\s+")
_MARKED = "\x1f{}".format  # a control character is never in a string of JSON
_NUMBER_AS_TEXT = re.compile(r'"\\u001f([^"]*)"')
SHORTEST_ID = 4  # characters; shorter volatile words, such as durations, may repeat by chance
Names = dict[str, str]

_KINDS = {
    "uuid": r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    "date": r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?",
    "time": r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b",
    "path": r"(?:/private)?(?:/var)?/tmp/[^\s'\":;,)\]]+|/var/folders/[^\s'\":;,)\]]+",
    "address": r"\b0x[0-9a-f]{4,}\b",
    "hash": r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b",
    "duration": r"\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|secs|seconds|min)\b",
    "port": r"(?<=localhost:)\d{2,5}\b|(?<=127\.0\.0\.1:)\d{2,5}\b|(?<=port )\d{2,5}\b",
    "process": r"(?<=pid )\d+|(?<=pid=)\d+",
}
_NOISE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _KINDS.items()), re.IGNORECASE)


# Dates, times, versions, ids, temporary paths: equal in two runs of today, but not for good.
VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d|\d\d?:\d\d|\d+\.\d+\.\d+|(?<![\d.])\d{9,}|\b(?=[a-z]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b"
    r"|/tmp|/root|/home|\b20[2-9]\d\b"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}[ ,.]+\d"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|\d(?:\.\d+)? ?(?:ms|s|sec|secs|seconds)\b|\b(?:v|version )\d"
)


def without_noise(text: str) -> str:
    """Return the text with each noisy part replaced by its kind: `saved in 0.3 s` → `saved in <duration>`."""
    return _NOISE.sub(lambda found: f"<{found.lastgroup}>", text)


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
    for form in (_as_json if _is_json(first) and _is_json(second) else _same_text, _sorted_lines):
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


def without_digits(text: str) -> str:
    """Return the text without its words that have a digit: what of it stays the same where dates and ids do not."""
    return re.sub(r"\w*\d\w*", "", text)


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return the text with these whole words replaced."""
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text) if names else text


def _masked(printed: Printed) -> str:
    """Return the text without what differs by the clock. Of times, the form stays, the day, and whether they are now:
    `2026-11-28` is not `28 Nov`, and not yesterday.
    """
    return without_clock(printed.text, printed.at, printed.secs, mark=_time_of_form)


def _time_of_form(time: str, near: str) -> str:
    form = re.sub(r"\d", "9", re.sub(r"[A-Za-z]{2,}", "a", re.sub(r"\s+", " ", time)))  # 99:99 is not a time
    return f"{TIME[:-1]} {form} {near}>"


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
    """Return JSON with its keys sorted. Numbers and escapes stay as written; spaces are counted."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    as_written = _ESCAPE.sub(lambda found: ("\\\\" if found[0][1] in '"\\' else "\\") + found[0], text)
    try:
        parsed = json.loads(as_written, object_pairs_hook=unique_keys, parse_int=_MARKED, parse_float=_MARKED)
        ordered = json.dumps(parsed, indent=1, sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    spaces = Counter(_BETWEEN.findall(_STRING.sub('""', text.strip())))
    return "\n".join((_NUMBER_AS_TEXT.sub(r"\1", ordered), repr(sorted(spaces.items()))))


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
        if len(first) != len(second) or _WORD.split(ours) != _WORD.split(theirs):
            return None
        found |= {(number, place): (a, b) for place, (a, b) in enumerate(zip(first, second, strict=True)) if a != b}
    return found


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
    """Return True if the word looks like the two: the same kinds of characters, and as long; numbers about as long."""
    near = min(len(one), len(other)) - 3 <= len(word) <= max(len(one), len(other)) + 3
    if _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other):
        return near and _NUMBER.fullmatch(word) is not None and _kinds(word) <= _kinds(one + other)
    if len(one) == len(other) != len(word):
        return False
    if _has_id(one, other):
        return _ID.fullmatch(word) is not None and _fixed_part(one, other, word)
    if not near:
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
    """Return True if the word is renamed as before, and no other word is renamed to the same; short numbers may be."""
    if len(base) < SHORTEST_ID and _NUMBER.fullmatch(base):
        return True
    if base in names:
        return names[base] == head
    if head in names.values():
        return False
    names[base] = head
    return True


def without_clock(
    text: str, at: float, secs: float, near_secs: float = NEAR_SECS, mark: Callable[[str, str], str] = lambda *_: TIME
) -> str:
    """Return the text with these masked. `at`: when it was printed (seconds since the epoch); 0 leaves times alone.

    `mark` returns what stands for a time: for its text, and for its day, such as `-1` for yesterday, or `+0 now`.
    """

    def masked(found: re.Match[str], when: float | None, most: float, is_now: bool = False) -> str:
        if when is None or abs(when - at) >= most:
            return found[0]
        return mark(found[0], f"{when // 86_400 - at // 86_400:+.0f}{' now' if is_now else ''}")

    def of_clock(found: re.Match[str]) -> str:
        return masked(found, at, NEAR_SECS, is_now=True) if _is_now(found, at, secs) else found[0]

    def of_date(found: re.Match[str], when: float | None) -> str:
        has_clock = found["h"] is not None
        return masked(found, when, near_secs, is_now=has_clock and _is_now(found, at, secs))

    def of_epoch(found: re.Match[str]) -> str:
        when = float(found["n"])
        return masked(found, when, NEAR_SECS, is_now=-LATER <= at - when <= secs + SOONER)

    if at:
        text = _ISO.sub(lambda found: of_date(found, _of_iso(found)), text)
        text = _NAMED.sub(lambda found: of_date(found, _of_named(found, at)), text)
        text = _EPOCH.sub(of_epoch, text)
        text = _OF_DAY.sub(of_clock, text)
    return _TOOK.sub(lambda found: DURATION if _took(found) <= secs + 0.05 else found[0], text)


def _of_iso(found: re.Match[str]) -> float | None:
    return _noon(int(found["y"]), int(found["mo"]), int(found["d"]))


def _of_named(found: re.Match[str], at: float) -> float | None:
    month, day = _MONTHS[(found["mo"] or found["mo2"]).lower()], int(found["d"] or found["d2"])
    year = found["y"] or found["y2"]
    years = [int(year)] if year else [1970 + int(at // 31_556_952), 1971 + int(at // 31_556_952)]
    times = [when for one in years if (when := _noon(one, month, day)) is not None]
    return min(times, key=lambda when: abs(when - at), default=None)


def _noon(year: int, month: int, day: int) -> float | None:
    return float(timegm((year, month, day, 12, 0, 0))) if year and 1 <= month <= 12 and 1 <= day <= 31 else None


def _is_now(found: re.Match[str], at: float, secs: float) -> bool:
    """Return True if the time of day is now in a time zone: they differ by quarters of an hour."""
    half = found.groupdict().get("half")
    hour = int(found["h"]) % 12 + 12 * (half in "Pp") if half else int(found["h"])
    said = hour * 3600 + int(found["m"]) * 60 + int(found["s"] or 0)
    if found["s"] is None:
        return -SHORT_SECS <= (said - at + 43_200) % 86_400 - 43_200 <= SHORT_SECS
    behind = (at - said + LATER) % 900 - LATER
    return -SOONER <= behind <= secs + SOONER


def _took(found: re.Match[str]) -> float:
    unit = found["u"]
    one = 60.0 if unit.startswith("min") else 1e-3 if unit.startswith(("ms", "mill")) else _UNITS[unit[0]]
    return float(found["n"]) * one


class CallSeen(Protocol):
    """A call of the tool, as reports show it."""

    @property
    def command(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def status(self) -> str: ...


class TrialSeen(Protocol):
    """A trial of one side with its calls."""

    @property
    def side(self) -> str: ...
    @property
    def calls(self) -> Sequence[CallSeen]: ...


_NOISY_WORD = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")
_GENERATED_ID = re.compile(r"(?=.*[\d-])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*$")
GENERATED = "<id>"
Words = frozenset[str]


def noisy_words(trials: Sequence[TrialSeen]) -> Words:
    """Return the generated words of one row's trials: ids, and what differs between two trials of one side.

    Where two head trials differ, a word that base prints too counts: head may do as base does in some trials only.
    """
    base = [trial.calls for trial in trials if trial.side == "base"]
    head = [trial.calls for trial in trials if trial.side == "head"]
    known = {word for calls in base for call in calls for word in _NOISY_WORD.findall(call.message)}
    of_base = {word for one, other in pairwise(base) for pair in _unsteady(one, other) for word in pair}
    differing = (pair for one, other in pairwise(head) for pair in _unsteady(one, other))
    of_head = {word for pair in differing if known.isdisjoint(pair) for word in pair}
    return frozenset(of_base | of_head | _reused_ids(trials))


@lru_cache(maxsize=1000)  # the trials of a row make the same calls
def masked(text: str, noise: Words) -> str:
    """Return the text with generated words replaced, so that two texts can be compared."""
    return _NOISY_WORD.sub(lambda word: GENERATED if word[0] in noise else word[0], without_noise(text))


def _unsteady(one: Sequence[CallSeen], other: Sequence[CallSeen]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words in which the outputs of the same call differ, if nothing but such words does."""
    for ours, theirs in zip(one, other, strict=False):
        first, second = _NOISY_WORD.findall(ours.message), _NOISY_WORD.findall(theirs.message)
        if ours.status == theirs.status and len(first) == len(second):
            for pair in zip(first, second, strict=True):
                if pair[0] != pair[1]:
                    yield pair


def _reused_ids(trials: Sequence[TrialSeen]) -> set[str]:
    """Return id-like words that only one trial has, and that its agent uses after the tool has printed them."""
    reused: set[str] = set()
    for trial in trials:
        printed: set[str] = set()
        for call in trial.calls:
            if printed:
                reused |= printed.intersection(_NOISY_WORD.findall(call.command))
            printed |= {word for word in _NOISY_WORD.findall(call.message) if _is_id(word)}
    if not reused:  # as in most rows: no need to count all words
        return reused
    seen = Counter(word for trial in trials for word in _words_of(trial))
    return {word for word in reused if seen[word] == 1}


def _words_of(trial: TrialSeen) -> set[str]:
    return {word for call in trial.calls for word in _NOISY_WORD.findall(f"{call.command} {call.message}")}


def _is_id(word: str) -> bool:
    return len(word) >= SHORTEST_ID and _GENERATED_ID.match(word) is not None
