"""Template filters: they escape data for Markdown, and format numbers.

Everything that an agent, a scenario or a pull request wrote must pass `cell`, `code` or `fenced`.
GitHub finds mentions, issues and addresses in the rendered text, where a backslash has no effect. So a zero-width
space breaks them up.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tidegate.text.safe import one_line, visible
from tidegate.text.scores import p_text, score_text
from tidegate.text.shorten import first_and_last, middle_cut, shortened

if TYPE_CHECKING:
    from tidegate.model.comparison import Interval

NONE = "–"  # shown for a missing number
_APART = "&#8203;"  # zero-width space

_ENTITIES = {"&": "&amp;", "<": "&lt;", "|": "&#124;", "$": "&#36;"}
_MARKUP = re.compile(
    r"(?P<issue>\#(?=\d))"
    r"|(?P<number>^\d{1,9}(?=[.)]))"  # a list
    r"|(?P<entity>[&<|$])"  # a backslash would be read differently inside a table or a formula
    r"|(?P<apart>@|(?<![^\W_])GH(?=-\d)|(?<![^\W_])www(?=\.)|:(?=//)|:(?=[\w+-]+:))"
    r"|(?P<escaped>[\\*\[\]~`]|^[-+=>\#]|(?<![^\W_])_|_(?![^\W_]))"
    r"|(?P<sha>(?<![0-9A-Za-z])(?=[0-9]*[a-f])[0-9a-f]{7,}(?![0-9A-Za-z]))",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*(?:\n|$)|```(?:sh\b)?", re.MULTILINE)


def cell(text: str, limit: int = 120) -> str:
    """Text escaped for one line of Markdown or one table cell, of at most `limit` visible characters."""
    return _MARKUP.sub(_escaped, shortened(one_line(text), limit))


def _escaped(match: re.Match[str]) -> str:
    found = match[0]
    match match.lastgroup:
        case "number":
            return f"{found}\\"
        case "entity":
            return _ENTITIES[found]
        case "issue":
            return f"\\#{_APART}"
        case "apart":
            return found + _APART
        case "sha":  # GitHub links seven or more hex digits as a commit, so break them into six
            return _APART.join(found[start : start + 6] for start in range(0, len(found), 6))
        case _:
            return f"\\{found}"


def code(text: str, limit: int = 200) -> str:
    """Text as an inline code span, for lines but not for table cells; '' for empty text."""
    line = shortened(one_line(text), limit)
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}" if line else ""


def summary_code(text: str, limit: int = 120) -> str:
    """Text for `<code>` in a `<summary>`, where Markdown has no effect: escaped for HTML, on one line."""
    return html.escape(shortened(one_line(text), limit), quote=False)


def fenced(text: str, language: str = "", lines: int = 20, width: int = 320) -> str:
    """Text as a code block of at most `lines` lines, the first and the last, of `width` characters each.

    A longer line keeps its start and end. The number of omitted lines is shown in their place. `language` must not be
    data.
    """
    shown = [middle_cut(line, width) for line in visible(text).strip("\n").split("\n")]
    body = "\n".join(first_and_last(shown, lines))
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def unfenced(text: str) -> str:
    """Text without the fences of its code blocks."""
    return _FENCE.sub("", text).strip()


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def percent(rate: float | None) -> str:
    """A rate from 0 to 1 as a percentage: 0.425 → `42%`, 0.999 → `>99%`; `100%` and `0%` only if exact."""
    if rate is None:
        return NONE
    rounded = f"{rate * 100:.0f}%"
    if rounded in ("0%", "100%") and rate not in (0, 1):
        return "<1%" if rate < 0.5 else ">99%"
    return rounded


def signed(number: float | None, digits: int = 0) -> str:
    """A number with its sign: 2 → `+2`, −1.5 → `−2`, with one digit `−1.5`; 0 has no sign."""
    if number is None:
        return NONE
    rounded = round(number, digits)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return f"{sign}{abs(rounded):,.{digits}f}"


def points(difference: float | None) -> str:
    """A difference of rates as percentage points: 0.12 → `+12 points`."""
    if difference is None:
        return NONE
    amount = signed(difference * 100)
    return f"{amount} point" if amount in ("+1", "−1") else f"{amount} points"


def interval(ends: Interval) -> str:
    """An interval of a difference of rates, in percentage points: `−56 to −3`."""
    return f"{signed(ends[0] * 100)} to {signed(ends[1] * 100)}"


def number(value: float | None) -> str:
    """A count, or a mean of counts: 3 → `3`, 3.25 → `3.2`, 12345 → `12,345`."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 100 else f"{value:,.1f}"


def count(amount: int | None, one: str, many: str | None = None) -> str:
    """An amount with its noun: `1 row`, `12,345 rows`, `– rows` if it is not known."""
    shown = NONE if amount is None else f"{amount:,}"
    return f"{shown} {one if amount == 1 else many or one + 's'}"


def to(base: str, head: str) -> str:
    """Two values as `5% → 40%`; a single one if they look the same."""
    return head if base == head else f"{base} → {head}"


def together(text: str) -> str:
    """Text with non-breaking spaces, so that a narrow table does not wrap it."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def seconds(duration: float | None) -> str:
    """A duration: `0.04 s`, `4.2 s`, `42 s`, `2 min 5 s`, `1 h 2 min`."""
    if duration is None:
        return NONE
    if duration < 59.5:
        if duration == 0:
            return "0 s"
        digits = 2 if duration < 0.095 else 1 if duration < 9.95 else 0
        return f"{duration:.{digits}f} s"
    minutes, rest = divmod(round(duration), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def money(usd: float | None) -> str:
    """US dollars: `$1.25`, `<$0.01`; `not reported` for None."""
    if usd is None:
        return "not reported"
    return "<$0.01" if 0 < usd < 0.005 else f"${usd:,.2f}"


def probability(p: float | None) -> str:
    """A p-value or its limit with two significant digits: `0.05`, `1.9e-7`."""
    return NONE if p is None else p_text(p)


def times_in_ten(p: float) -> str:
    """A probability in words: `every time`, `7 times in 10`."""
    times = round(p * 10)
    match times:
        case 10:
            return "every time" if p >= 0.995 else "nearly every time"
        case 0:
            return "less than once in 20"
        case _:
            return f"{count(times, 'time')} in 10"


def score(value: float | None) -> str:
    """A score from 0 to 1: `0.82`, and `0.825` if that is all of it."""
    return NONE if value is None else score_text(value)


@lru_cache(maxsize=4096, typed=True)  # most trials have the same counts
def measured(value: float | None, metric: str) -> str:
    """A metric's value in its unit."""
    match metric.rsplit("_", 1)[-1]:
        case "rate" | "ratio" | "efficiency" | "completed":
            return percent(value)
        case "score":
            return score(value)
        case "s":
            return seconds(value)
        case "usd":
            return NONE if value is None else money(value)
        case _:
            return number(value)


def words(name: str) -> str:
    """A name of the model with spaces: `not_run` → `not run`."""
    return name.replace("_", " ")


def prose(text: str, limit: int = 400) -> str:
    """A sentence with data between backticks, as Markdown: the data is code, the rest is escaped."""
    pieces = shortened(one_line(text), limit).split("`")
    return "".join(code(piece) if place % 2 else _spaced(piece) for place, piece in enumerate(pieces))


def _spaced(piece: str) -> str:
    """Return the text escaped, with the single spaces at its ends, which `cell` drops."""
    escaped = cell(piece, len(piece) + 1)
    return f"{' ' * piece.startswith(' ')}{escaped}{' ' * (piece.endswith(' ') and bool(escaped))}"


FILTERS: dict[str, Callable[..., Any]] = {
    made.__name__: made
    for made in (
        cell,
        code,
        count,
        fenced,
        money,
        number,
        percent,
        points,
        probability,
        score,
        seconds,
        signed,
        summary_code,
        times_in_ten,
        to,
        together,
        unfenced,
    )
}
