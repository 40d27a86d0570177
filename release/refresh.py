"""`refresh.py DIGEST DAY`: the image is built from this digest of its base, and from Debian's archive of this day."""

from __future__ import annotations

import re
import sys
from pathlib import Path

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
DAY = re.compile(r"20\d{6}T\d{6}Z")
_BASE = re.compile(r"^(ARG BASE=[^@\n]+)(?:@sha256:[0-9a-f]{64})?$", re.MULTILINE)
_SNAPSHOT = re.compile(r"^ARG SNAPSHOT=\S*$", re.MULTILINE)


def refreshed(dockerfile: str, digest: str, day: str) -> str:
    """Return the Dockerfile with both filled in. Raises ValueError if they or the Dockerfile are not as expected."""
    if DIGEST.fullmatch(digest) is None or DAY.fullmatch(day) is None:
        raise ValueError(f"not a digest and a day: {digest!r} {day!r}")
    text, bases = _BASE.subn(rf"\1@{digest}", dockerfile)
    text, days = _SNAPSHOT.subn(f"ARG SNAPSHOT={day}", text)
    if (bases, days) != (1, 1):
        raise ValueError("the Dockerfile has no single line `ARG BASE=…` or `ARG SNAPSHOT=…`")
    return text


if __name__ == "__main__":
    path = Path("Dockerfile")
    path.write_text(refreshed(path.read_text(encoding="utf-8"), *sys.argv[1:]), encoding="utf-8")
