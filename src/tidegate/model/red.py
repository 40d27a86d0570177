"""Names of what makes a verdict red: an acceptance covers those that the comment showed, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.model.comparison import DefinitionChange, Row, SuiteEffect
from tidegate.model.marker import REGRESSED
from tidegate.model.surface import Interface

_RED = frozenset({"regressed", "unconfirmed", "not_measured", "not_comparable", "baseline_changed"})


def red_names(
    rows: Iterable[Row],
    suite: SuiteEffect,
    metrics: Iterable[str],
    definitions: Iterable[DefinitionChange],
    interfaces: Iterable[Interface],
) -> Iterator[str]:
    """Yield the name of each."""
    for row in rows:
        if row.state in _RED:
            yield f"{row.key}{REGRESSED if row.state == 'regressed' else ''}"
    if suite.state == "regressed":
        yield "the suite as a whole"
    yield from metrics
    for change in definitions:
        yield f"{change.scenario or ''} × {change.agent or ''}, {change.effect} checked: {change.detail}"
    for one in interfaces:
        yield from (f"{one.tool}: {change.part}: {change.detail}" for change in one.breaking)
        if one.limit:
            base, head = one.total
            yield f"{one.tool}: {head - base} more tokens"
        if one.why:
            yield f"{one.tool}: its interface was not compared"
