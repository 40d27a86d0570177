"""Mask the clock in a text: times near the moment when it was printed, and durations that its step can have taken."""

from __future__ import annotations

import re
from calendar import month_abbr, timegm
from collections.abc import Callable

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
_OF_DAY = re.compile(rf"(?<![\w:.-]){_CLOCK}(?![\w:])")
_TOOK = re.compile(
    r"(?<![\w.])(?P<n>\d+(?:\.\d+)?(?:e-\d+)?)(?P<gap>\s?)(?P<u>ns|µs|us|ms|milliseconds?|s|secs?|seconds?|min|minutes?)\b"
)
_UNITS = {"n": 1e-9, "µ": 1e-6, "u": 1e-6, "s": 1.0}


def without_clock(text: str, at: float, secs: float) -> str:
    """Return the text with these masked. `at`: when it was printed (seconds since the epoch); 0 leaves times alone."""
    if at:
        text = _ISO.sub(_if_near(at, _of_iso), text)
        text = _NAMED.sub(_if_near(at, _of_named), text)
        text = _EPOCH.sub(lambda found: TIME if abs(float(found["n"]) - at) < NEAR_SECS else found[0], text)
        text = _OF_DAY.sub(lambda found: TIME if _is_now(found, at, secs) else found[0], text)
    return _TOOK.sub(lambda found: DURATION if _took(found) <= secs + 0.05 else found[0], text)


def _if_near(at: float, read: Callable[[re.Match[str], float], float | None]) -> Callable[[re.Match[str]], str]:
    def masked(found: re.Match[str]) -> str:
        when = read(found, at)
        return TIME if when is not None and abs(when - at) < NEAR_SECS else found[0]

    return masked


def _of_iso(found: re.Match[str], _: float) -> float | None:
    return _noon(int(found["y"]), int(found["mo"]), int(found["d"]))


def _of_named(found: re.Match[str], at: float) -> float | None:
    month, day = _MONTHS[(found["mo"] or found["mo2"]).lower()], int(found["d"] or found["d2"])
    year = found["y"] or found["y2"]
    years = [int(year)] if year else [1970 + int(at // 31_556_952), 1971 + int(at // 31_556_952)]
    times = [when for one in years if (when := _noon(one, month, day)) is not None]
    return min(times, key=lambda when: abs(when - at), default=None)


def _noon(year: int, month: int, day: int) -> float | None:
    return float(timegm((year, month, day, 12, 0, 0))) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _is_now(found: re.Match[str], at: float, secs: float) -> bool:
    """Return True if the time of day is now in a time zone: they differ by quarters of an hour."""
    said = int(found["h"]) * 3600 + int(found["m"]) * 60 + int(found["s"] or 0)
    if found["s"] is None:
        return -SHORT_SECS <= (said - at + 43_200) % 86_400 - 43_200 <= SHORT_SECS
    behind = (at - said + LATER) % 900 - LATER
    return -SOONER <= behind <= secs + SOONER


def _took(found: re.Match[str]) -> float:
    unit = found["u"]
    one = 60.0 if unit.startswith("min") else 1e-3 if unit.startswith(("ms", "mill")) else _UNITS[unit[0]]
    return float(found["n"]) * one
