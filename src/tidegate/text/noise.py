"""Mask what differs between two runs of the same program: hashes, ids, times, durations, temporary paths, ports."""

from __future__ import annotations

import re

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


def without_noise(text: str) -> str:
    """Return the text with each noisy part replaced by its kind: `saved in 0.3 s` → `saved in <duration>`."""
    return _NOISE.sub(lambda found: f"<{found.lastgroup}>", text)
