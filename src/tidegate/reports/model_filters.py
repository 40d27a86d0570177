"""Template filters for values of the model: states, counts, failed calls, divergences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, groupby
from typing import Any
from urllib.parse import quote

from tidegate.model.cause import Place
from tidegate.model.comparison import (
    BaseCounts,
    DefinitionChange,
    Divergence,
    Effect,
    Evidence,
    FailedCall,
    HeadCounts,
    Row,
)
from tidegate.model.measurement import Call
from tidegate.model.result import Cost
from tidegate.reports.cause_text import cause_diff, left, says
from tidegate.reports.filters import (
    FILTERS,
    NONE,
    count,
    interval,
    measured,
    money,
    percent,
    points,
    prose,
    to,
    together,
    words,
)
from tidegate.reports.interface_text import counts_text, headlines, sections
from tidegate.reports.view import STATE_SIGNS, VERDICT_SIGNS, CommentView, MetricCell, MetricWarning
from tidegate.text.safe import one_line, visible
from tidegate.text.shorten import MOST_LINE, first_and_last, middle_cut

_SIGNS = dict(chain[tuple[str, str]](VERDICT_SIGNS.items(), STATE_SIGNS.items()))
_MESSAGE_LINES = 6
_ANSWER_LINES = 5
_EQUAL_LINES = 2
_FULL_HASH = re.compile("[0-9a-f]{40}")
_SHORT_HASH = 7  # characters, as git and GitHub show


def sign(state: str) -> str:
    """The sign of a verdict's or row's state, to be shown beside its name."""
    return _SIGNS[state]


def spent(cost: Cost) -> str:
    """Return what the agents cost: `$0.19 for 48 of 84 trials (estimated from tokens)`."""
    known, total = cost.usd_of
    partly = f" for {known} of {count(total, 'trial')}" if cost.usd is not None and known < total else ""
    if not cost.usd_guessed:
        return money(cost.usd) + partly
    share = "" if cost.usd_guessed == known else f" for {cost.usd_guessed} of them"
    return f"{money(cost.usd)}{partly} (estimated from tokens{share})"


def passed(counts: BaseCounts | HeadCounts) -> str:
    """A side's passes and trials: `3/3`; `–` if none was measured."""
    return f"{counts.passes}/{counts.trials}" if counts.trials else NONE


def spread(effect: Effect) -> str:
    """`95% interval −56 to −3`; for a named drop, which looks larger than it is, `a drop of at least 12 points`."""
    low, high = effect.interval
    if effect.confidence <= 0.95:
        return f"{percent(effect.confidence)} interval {interval((low, high))}"
    return f"a drop of at least {points(-high).lstrip('+')}" if high < 0 else "a drop of unknown size"


def console(calls: Sequence[FailedCall]) -> str:
    """Failed calls as in a terminal; the tool's output is indented, so that it cannot look like another call."""
    return "\n".join(line for call, same in groupby(calls) for line in _call_lines(call, sum(1 for _ in same)))


def _call_lines(call: FailedCall, times: int) -> list[str]:
    message = [line for line in visible(call.message).strip().split("\n") if line]
    ended = "no exit code" if call.exit_code is None else f"exit {call.exit_code}"
    again = f", {times} times" if times > 1 else ""
    return [
        f"$ {one_line(call.command)}",
        *(f"  {line}" for line in first_and_last(message, _MESSAGE_LINES)),
        f"  [{ended}{again}]",
    ]


def diff(divergence: Divergence) -> str:
    """The first divergence as a diff: the last common step, then each side's next steps with their output."""
    base, head = list(divergence.base_steps), list(divergence.head_steps)
    lines = [_command(" ", divergence.before)] if divergence.before else []
    while base and head and base[0].command == head[0].command:
        lines += _same(base.pop(0), head.pop(0))
    lines += _rest("-", base) if divergence.base_steps else _summary("-", divergence.base)
    lines += _rest("+", head) if divergence.head_steps else _summary("+", divergence.head)
    return "\n".join(lines)


def _rest(mark: str, steps: Sequence[Call]) -> list[str]:
    return [line for call in steps for line in (_command(mark, call.command), *_answer(mark, call))]


def _summary(mark: str, line: str) -> list[str]:
    return [_command(mark, line) if line else f"{mark} (no further call)"]


def _same(base: Call, head: Call) -> Iterator[str]:
    """Yield a command of both sides, its output as a diff, and how each ended if that differs."""
    yield _command(" ", base.command)
    yield from _changes(_output(base), _output(head))
    ours, theirs = _ending(base), _ending(head)
    yield from _indented(" ", ours) if ours == theirs else [*_indented("-", ours), *_indented("+", theirs)]


def _changes(before: list[str], after: list[str]) -> Iterator[str]:
    """Yield the diff of two outputs. Runs of equal lines and long runs of changed lines are shortened."""
    equal_lines = _ANSWER_LINES if before == after else _EQUAL_LINES
    for kind, start, end, fresh, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from _indented(" ", first_and_last(before[start:end], equal_lines))
        else:
            yield from _indented("-", first_and_last(before[start:end], _ANSWER_LINES))
            yield from _indented("+", first_and_last(after[fresh:last], _ANSWER_LINES))


def _command(mark: str, command: str) -> str:
    return f"{mark} $ {middle_cut(one_line(command), MOST_LINE)}"


def _answer(mark: str, call: Call) -> list[str]:
    """Return the tool's output and how the call ended if it failed; [] if there is nothing to show."""
    return _indented(mark, [*first_and_last(_output(call), _ANSWER_LINES), *_ending(call)])


def _output(call: Call) -> list[str]:
    return [middle_cut(line.rstrip(), MOST_LINE) for line in visible(call.message).splitlines() if line.strip()]


def _ending(call: Call) -> list[str]:
    return [] if call.status == "ok" else [f"[{call.ended}]"]


def _indented(mark: str, lines: Sequence[str]) -> list[str]:
    """Return the lines indented, so that none can look like another call."""
    return [f"{mark}     {line}" for line in lines]


def beside(found: Evidence) -> str:
    """The gate's messages on base and on head, as a diff."""
    sides = (("-", found.base_message), ("+", found.message))
    return "\n".join(f"{mark} {line}" for mark, text in sides for line in visible(text).strip().split("\n"))


def place_link(place: Place, view: CommentView) -> str:
    """A line of a file as code, linked if the repository is on GitHub."""
    where = str(FILTERS["code"](place.where, 120))
    sha = view.sides.base.sha if place.side == "base" else view.sides.head.sha
    if not view.links.repository.startswith(("https://", "http://")) or not sha:
        return where
    return f"[{where}]({quote(f'{view.links.repository}/blob/{sha}/{place.path}', safe=':/')}#L{place.line})"


def commit(sha: str, view: CommentView) -> str:
    """A commit's short hash as code, linked if the repository is on GitHub; any other text as code."""
    short = str(FILTERS["code"](sha[:_SHORT_HASH] if _FULL_HASH.fullmatch(sha) else sha, 64))
    if not _FULL_HASH.fullmatch(sha) or not view.links.repository.startswith(("https://", "http://")):
        return short
    return f"[{short}]({quote(f'{view.links.repository}/commit/{sha}', safe=':/')})"


def why_undecided(row: Row) -> str:
    """Why an unconfirmed or flaky row does not count, in words."""
    effect = row.effect
    if row.state == "flaky" or effect is None or effect.p is None or effect.level is None:
        return row.reason
    chance, limit = f"{max(effect.p, 0.001):.1%}", f"{effect.level:.1%}"
    return (
        f"If nothing changed, at most {chance} of comparisons show such a drop. To count, it must be rarer than"
        f" {limit}: all rows share one error budget."
    )


def change_line(change: DefinitionChange) -> str:
    """Return a definition change as one line."""
    said = {"less": "less is checked", "more": "more is checked", "other": "checked otherwise"}[change.effect]
    return " · ".join(filter(None, (said, change.scenario or change.agent or "", change.detail)))


def moved(metric: MetricCell, unit: str) -> str:
    """A metric's values on base and head, or one if they look the same; marked, as `(worse)`, if the change matters."""
    base, head = FILTERS[unit](metric.base), FILTERS[unit](metric.head)
    numbers = together(to(base, head))
    mark = f" ({metric.trend})" if base != head and metric.trend != "same" else ""
    return f"{numbers}{mark}{' ⚠️' if metric.warns else ''}"


def by_row(warnings: Sequence[MetricWarning]) -> list[tuple[Row | None, list[MetricWarning]]]:
    """Consecutive warnings grouped by row; the row is none for warnings of the whole suite."""
    return [(row, list(same)) for row, same in groupby(warnings, key=lambda warning: warning.row)]


PIECES: dict[str, Callable[..., Any]] = {
    made.__name__: made
    for made in (
        beside,
        by_row,
        cause_diff,
        commit,
        console,
        counts_text,
        diff,
        headlines,
        left,
        measured,
        moved,
        passed,
        place_link,
        prose,
        says,
        sections,
        sign,
        spent,
        spread,
        why_undecided,
        words,
    )
}
