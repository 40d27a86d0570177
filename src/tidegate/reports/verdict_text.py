"""The verdict in words: the summary in one line, and a sentence for each thing that led to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tidegate.decide.comparison.weak_rows import cannot_guard, fails_from_the_start
from tidegate.decide.verdict.decide import MOST_EXCLUDED, Decision, present
from tidegate.model.comparison import Comparison, Overuse, Row
from tidegate.model.result import Verdict
from tidegate.model.suite import RowState
from tidegate.reports.reason_text import reason_of

_NAMED, _LONGEST = 3, 100  # limits for naming rows in the summary: number of rows, total characters
_COMPARED: tuple[RowState, ...] = ("ok", "improved", "flaky", "baseline_changed")
_BAD_NEWS: dict[str, str] = {
    "regressed": "regressed",
    "not_measured": "could not be measured",
    "unconfirmed": "may have regressed",
    "base_fails": "failed on base, too, although its history passes",
}
_OTHER_NEWS: dict[RowState, str] = {
    "improved": "improved",
    "flaky": "flaky",
    "baseline_changed": "changed on base too",
    "not_comparable": "not comparable",
    "added": "new",
    "removed": "removed",
    "unchanged": "unchanged by replay",
}


_SUITE_NEWS = {
    "regressed": "the suite as a whole regressed",
    "unconfirmed": "the suite as a whole looks a little worse, not confirmed",
}


def verdict_of(comparison: Comparison, decision: Decision) -> Verdict:
    """Return the verdict, with all that it says."""
    summary = _summary(comparison, decision)
    overuse, rows, fewer, metrics, left_out = _reasons(comparison, decision)
    warned = [name for name in decision.metrics if comparison.suite.metrics[name].warns]
    own = [text for name, text in metrics.items() if name not in warned]
    return Verdict(
        state=decision.state,
        reason=decision.reason,
        exit_code=decision.exit_code,
        summary=summary,
        reasons=(*overuse, *rows, *fewer, *metrics.values(), *left_out),
        own_reasons=tuple(text for text in (*overuse, *own, *left_out) if text not in summary),
        mode=decision.mode,
        would_block=decision.would_block,
    )


def _summary(comparison: Comparison, decision: Decision) -> str:
    """Return the verdict's summary in one line."""
    rows = comparison.rows
    states = Counter[str]("base_fails" if row.kind == "base_fails" else row.state for row in rows)
    if (nothing := _nothing_run(decision, rows)) is not None:
        return nothing
    parts: list[str] = []
    if decision.reason == "checks_less":
        parts.append(f"{_number(len(decision.fewer), 'change')} by which less is checked")
    if decision.reason == "metric":
        parts.append("a metric got worse by more than the policy allows")
    if (suite := comparison.suite.state) in ("regressed", "unconfirmed"):
        parts.append(_SUITE_NEWS[suite])
    if decision.reason == "nothing_passes":
        return _nothing_passes(len(decision.rows), rows)
    parts += _bad_news(rows, states, "no single row regressed" if suite in _SUITE_NEWS else "nothing regressed")
    if comparison.excluded_share > MOST_EXCLUDED:
        parts.append(_left_out(comparison))
    if states["regressed"] and decision.reason not in ("regression", "setup_regression"):
        parts.append("not blocked by the policy")
    parts += _cannot_fail(rows)
    parts += [f"{states[state]} {words}" for state, words in _OTHER_NEWS.items() if states[state]]
    parts += _opinions(rows)
    if useless := sum(map(cannot_guard, rows)):
        parts.append(f"{useless} passing on neither side")
    if failing := sum(map(fails_from_the_start, rows)):
        parts.append(f"{failing} new that no trial passes")
    return "; ".join(parts)


def _nothing_run(decision: Decision, rows: Sequence[Row]) -> str | None:
    """Return the summary of a run in which nothing was measured; None of any other."""
    if decision.reason == "nothing_to_do":
        return "nothing changed that an agent could notice"
    if decision.reason == "no_scenarios":
        return "there is no scenario to run"
    return f"none of {_things(len(present(rows)), rows)} could be measured" if decision.state == "not_run" else None


def _nothing_passes(count: int, rows: Sequence[Row]) -> str:
    suite = len(present(rows))
    if count == suite:
        return f"none of {_things(count, rows)} passes on either side, so none can show a regression"
    return f"{count} of {_things(suite, rows)} pass on neither side, so these cannot show a regression"


def _cannot_fail(rows: Sequence[Row]) -> list[str]:
    """Report rows without a required check: they pass whatever the agent does."""
    suite = present(rows)
    count = sum(not row.can_fail for row in suite)
    if count == len(suite) > 0:
        return ["no scenario has a required check, so none can fail"]
    have = "has" if count == 1 else "have"
    return [f"{count} of {_things(len(suite), rows)} {have} no required check and cannot fail"] if count else []


def _opinions(rows: Sequence[Row]) -> list[str]:
    """Count the rows that the judge rates lower or could not judge; these counts do not affect the verdict."""
    judged = [row.judge for row in rows if row.judge]
    lower, unknown = (
        sum(one.warns for one in judged),
        sum(bool(one.base.not_judged + one.head.not_judged) for one in judged),
    )
    news = ((lower, "rated lower by the judge"), (unknown, "that the judge could not judge"))
    return [f"{count} {words}" for count, words in news if count]


def _bad_news(rows: Sequence[Row], states: Mapping[str, int], quietly: str) -> list[str]:
    """Return what went wrong, worst first. `quietly` says that nothing did, and counts only rows that were compared."""
    number = len(rows) - states["removed"]
    news = [(states[state], words + _named(rows, state)) for state, words in _BAD_NEWS.items() if states[state]]
    parts = [f"{count} {words}" for count, words in news]
    if news:
        count, words = news[0]
        parts[0] = f"{'the only scenario' if number == 1 else f'{count} of {_things(number, rows)}'} {words}"
    quiet = sum(states[state] for state in _COMPARED)
    if not states["regressed"] and quiet:
        parts.append(f"{quietly} in {'the others' if parts else _things(quiet, rows)}")
    return parts or ["nothing to compare with"]


def _named(rows: Sequence[Row], state: str) -> str:
    """Return the names of regressed rows, as ` (add, list)`; '' for other states, or if they are many or long."""
    names = [_name(row, rows) for row in rows if row.state == state]
    text = ", ".join(names)
    return f" ({text})" if state == "regressed" and len(names) <= _NAMED and len(text) <= _LONGEST else ""


def _name(row: Row, rows: Sequence[Row]) -> str:
    return row.scenario if _one_agent(rows) else str(row.key)


def _reasons(
    comparison: Comparison, decision: Decision
) -> tuple[list[str], list[str], list[str], dict[str, str], list[str]]:
    """Return a sentence for each use of the budget, row, definition change and metric that led to the decision."""
    by_head = decision.reason == "unproven" and any(row.not_measured in ("budget", "judge") for row in decision.rows)
    overuse = [*map(overuse_text, comparison.used_by_head)] if by_head else []
    rows = [f"{_name(row, comparison.rows)}: {reason_of(row)}" for row in decision.rows]
    if decision.state == "failed":
        fewer = [f"{change.scenario or change.agent or 'suite'}: {change.detail}" for change in decision.fewer]
        return overuse, rows, fewer, {name: _metric(comparison, name) for name in decision.metrics}, []
    return overuse, rows, [], {}, [_left_out(comparison)] if comparison.excluded_share > MOST_EXCLUDED else []


def overuse_text(use: Overuse) -> str:
    """Return of what head used so much more than base."""
    if use.what == "judge":
        return f"the judge read {use.limit:,.0f} tokens for a trial of head, and {use.base:,.0f} for one of base"
    return f"at base's rate, all trials take {use.base:,.3g} of the budget's {use.limit:,.3g} {use.what}"


def _metric(comparison: Comparison, name: str) -> str:
    change = comparison.suite.metrics[name]
    return f"{name}: {change.base:.3g} on base, {change.head:.3g} on head (q = {change.q:.2g})"


def _left_out(comparison: Comparison) -> str:
    return f"{comparison.excluded_share:.0%} of the trials could not be measured"


def _things(count: int, rows: Sequence[Row]) -> str:
    """Return `4 scenarios`, or `4 scenario × agent rows` if the run has more than one agent."""
    return _number(count, "scenario" if _one_agent(rows) else "scenario × agent row")


def _one_agent(rows: Sequence[Row]) -> bool:
    return len({row.agent for row in rows}) <= 1


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
