"""Find the words that differ between trials of the same side, so that they do not hide what differs between sides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from tidegate.model.measurement import Call, TrialResult
from tidegate.text.noise import without_noise

_WORD = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")
_ID = re.compile(r"(?=.*[\d-])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*$")
SHORTEST_ID = 4
GENERATED = "<id>"
Words = frozenset[str]


def noisy_words(trials: Sequence[TrialResult]) -> Words:
    """Return the generated words of one row's trials: ids, and what differs between two trials of one side.

    Where two head trials differ, a word that base prints too counts: head may do as base does in some trials only.
    """
    base = [trial.calls for trial in trials if trial.side == "base"]
    head = [trial.calls for trial in trials if trial.side == "head"]
    known = {word for calls in base for call in calls for word in _WORD.findall(call.message)}
    of_base = {word for one, other in pairwise(base) for pair in _unsteady(one, other) for word in pair}
    differing = (pair for one, other in pairwise(head) for pair in _unsteady(one, other))
    of_head = {word for pair in differing if known.isdisjoint(pair) for word in pair}
    return frozenset(of_base | of_head | _reused_ids(trials))


@lru_cache(maxsize=1000)  # the trials of a row make the same calls
def masked(text: str, noise: Words) -> str:
    """Return the text with generated words replaced, so that two texts can be compared."""
    return _WORD.sub(lambda word: GENERATED if word[0] in noise else word[0], without_noise(text))


def _unsteady(one: Sequence[Call], other: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words in which the outputs of the same call differ, if nothing but such words does."""
    for ours, theirs in zip(one, other, strict=False):
        first, second = _WORD.findall(ours.message), _WORD.findall(theirs.message)
        if ours.status == theirs.status and len(first) == len(second):
            for pair in zip(first, second, strict=True):
                if pair[0] != pair[1]:
                    yield pair


def _reused_ids(trials: Sequence[TrialResult]) -> set[str]:
    """Return id-like words that only one trial has, and that its agent uses after the tool has printed them."""
    reused: set[str] = set()
    for trial in trials:
        printed: set[str] = set()
        for call in trial.calls:
            if printed:
                reused |= printed.intersection(_WORD.findall(call.command))
            printed |= {word for word in _WORD.findall(call.message) if _is_id(word)}
    if not reused:  # as in most rows: no need to count all words
        return reused
    seen = Counter(word for trial in trials for word in _words_of(trial))
    return {word for word in reused if seen[word] == 1}


def _words_of(trial: TrialResult) -> set[str]:
    return {word for call in trial.calls for word in _WORD.findall(f"{call.command} {call.message}")}


def _is_id(word: str) -> bool:
    return len(word) >= SHORTEST_ID and _ID.match(word) is not None
