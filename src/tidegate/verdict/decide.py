"""Decide the verdict from a comparison and the policy; comment, outputs, status and exit code all follow from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidegate.comparison.metric_tests import Q, is_worse
from tidegate.comparison.weak_rows import cannot_guard, fails_from_the_start
from tidegate.model.comparison import Comparison, DefinitionChange, Row
from tidegate.model.suite import Policy, RowState
from tidegate.model.verdict import Verdict, VerdictReason, VerdictState

MOST_EXCLUDED = 0.20  # share of a run's trials; with more left out, "no regression" is not evidence (verdict.md)
_NAMED, _LONGEST = 3, 100  # limits for naming rows in the summary: number of rows, total characters
_COMPARED: tuple[RowState, ...] = ("ok", "improved", "flaky", "baseline_changed")
_BAD_NEWS: dict[RowState, str] = {
    "regressed": "regressed",
    "not_measured": "could not be measured",
    "unconfirmed": "may have regressed",
}
_OTHER_NEWS: dict[RowState, str] = {
    "improved": "improved",
    "flaky": "flaky",
    "baseline_changed": "changed on base too",
    "not_comparable": "not comparable",
    "added": "new",
    "removed": "removed",
}


_SUITE_NEWS = {
    "regressed": "the suite as a whole regressed",
    "unconfirmed": "the suite as a whole looks a little worse, not confirmed",
}


class _Decision(NamedTuple):
    state: VerdictState
    reason: VerdictReason
    exit_code: int
    rows: Sequence[Row] = ()  # the rows that led to the decision


def decide(comparison: Comparison, policy: Policy) -> Verdict:
    """Return the verdict: failed, else not run, else inconclusive, else passed. In advisory mode the exit code is 0."""
    weakened = _weakened(comparison, policy)
    decision = (
        _failed(comparison, policy, weakened)
        or _not_run(comparison.rows)
        or _inconclusive(comparison, policy)
        or _useless(comparison.rows, policy)
        or _Decision("passed", "no_regression", 0)
    )
    return Verdict(
        state=decision.state,
        reason=decision.reason,
        exit_code=0 if policy.mode == "advisory" else decision.exit_code,
        summary=_summary(comparison, decision, weakened),
        reasons=tuple(_reasons(comparison, decision, weakened, policy)),
        mode=policy.mode,
        would_block=decision.exit_code != 0,
    )


def nothing_to_do(policy: Policy) -> Verdict:
    """Return the verdict for a pull request that changes nothing an agent could notice; no trial was run."""
    return Verdict(
        state="passed",
        reason="nothing_to_do",
        exit_code=0,
        summary="nothing changed that an agent could notice",
        mode=policy.mode,
    )


def _weakened(comparison: Comparison, policy: Policy) -> tuple[DefinitionChange, ...]:
    """Return the definition changes that fail the job until a maintainer accepts them."""
    blocks = policy.weakened_checks == "block"
    return tuple(change for change in comparison.definitions if change.weakened and blocks)


def _failed(comparison: Comparison, policy: Policy, weakened: Sequence[DefinitionChange]) -> _Decision | None:
    deciding = [row for row in comparison.rows if row.state in policy.block and _may_block(row, policy)]
    regressed = [row for row in deciding if row.state == "regressed"]
    if regressed:
        setup = all(row.kind == "setup" for row in regressed)
        return _Decision("failed", "setup_regression" if setup else "regression", 1, deciding)
    if comparison.suite.state == "regressed" and "regressed" in policy.block:
        return _Decision("failed", "regression", 1, deciding)
    if _blocking_metrics(comparison, policy):
        return _Decision("failed", "metric", 1, deciding)
    if weakened:
        return _Decision("failed", "weakened_check", 1, deciding)
    if deciding:
        unconfirmed = any(row.state == "unconfirmed" for row in deciding)
        return _Decision("failed", "unconfirmed" if unconfirmed else _why_unmeasured(deciding), 1, deciding)
    return None


def _blocking_metrics(comparison: Comparison, policy: Policy) -> list[str]:
    """Describe each metric in `block_metrics` that is significantly worse, by more than the policy allows."""
    return [
        f"{name}: {change.base:.3g} on base, {change.head:.3g} on head (q = {change.q:.2g})"
        for name, margin in policy.block_metrics.items()
        if (change := comparison.suite.metrics.get(name))
        and change.q is not None
        and change.q <= Q
        and is_worse(name, change, margin)
    ]


def _not_run(rows: Sequence[Row]) -> _Decision | None:
    present = [row for row in rows if row.state != "removed"]
    if not present:
        return _Decision("not_run", "no_scenarios", 3)
    if all(row.state == "not_measured" for row in present):
        return _Decision("not_run", _why_unmeasured(present), 4, present)
    return None


def _inconclusive(comparison: Comparison, policy: Policy) -> _Decision | None:
    """Return "inconclusive" if a row is unmeasured or unconfirmed, or if too many trials were left out; else None."""
    unmeasured = [row for row in comparison.rows if row.state == "not_measured"]
    unconfirmed = [row for row in comparison.rows if row.state == "unconfirmed"]
    thin = comparison.excluded_share > MOST_EXCLUDED
    if not (unmeasured or unconfirmed or thin):
        return None
    reason: VerdictReason = _why_unmeasured(unmeasured) if unmeasured or thin else "unconfirmed"
    deciding = [*unmeasured, *unconfirmed]
    matters = thin or any(_may_block(row, policy) for row in deciding)
    return _Decision("inconclusive", reason, 5 if matters and "inconclusive" in policy.block else 0, deciding)


def _useless(rows: Sequence[Row], policy: Policy) -> _Decision | None:
    """Return "inconclusive" if no row passes on either side: such a run cannot show a regression."""
    present = [row for row in rows if row.state != "removed"]
    if not all(map(cannot_guard, present)):
        return None
    code = 5 if "inconclusive" in policy.block and any(_may_block(row, policy) for row in present) else 0
    return _Decision("inconclusive", "nothing_passes", code, present)


def _may_block(row: Row, policy: Policy) -> bool:
    """Return True if the row's purpose is `regression` and the policy names its agent; other rows never block."""
    if row.purpose != "regression":
        return False
    return policy.names(row.agent)


def _why_unmeasured(rows: Sequence[Row]) -> VerdictReason:
    """Return the most useful reason why rows were not measured: one that a person can act on comes first."""
    words = {row.not_measured for row in rows if row.state == "not_measured"}
    if words == {"missing_agent"}:
        return "unusable_agent"
    if words == {"secret"}:
        return "fork_without_key"
    if "cancelled" in words:
        return "cancelled"
    return "budget" if "budget" in words else "infrastructure"


# --- wording


def _summary(comparison: Comparison, decision: _Decision, weakened: Sequence[DefinitionChange]) -> str:
    """Return the verdict's summary in one line."""
    rows, states = comparison.rows, Counter(row.state for row in comparison.rows)
    if decision.reason == "no_scenarios":
        return "there is no scenario to run"
    if decision.state == "not_run":
        return f"none of {_things(len(rows) - states['removed'], rows)} could be measured"
    parts = [f"{_number(len(weakened), 'definition')} weakened"] if decision.reason == "weakened_check" else []
    if decision.reason == "metric":
        parts.append("a metric got worse by more than the policy allows")
    if (suite := comparison.suite.state) in ("regressed", "unconfirmed"):
        parts.append(_SUITE_NEWS[suite])
    if decision.reason == "nothing_passes":
        return f"of {_things(len(decision.rows), rows)} none passes on either side, so nothing could have regressed"
    parts += _bad_news(rows, states, "nothing regressed by itself" if suite in _SUITE_NEWS else "nothing regressed")
    if comparison.excluded_share > MOST_EXCLUDED:
        parts.append(_left_out(comparison))
    if states["regressed"] and decision.reason not in ("regression", "setup_regression"):
        parts.append("by the policy that does not block")
    parts += [f"{states[state]} {words}" for state, words in _OTHER_NEWS.items() if states[state]]
    parts += _opinions(rows)
    if useless := sum(map(cannot_guard, rows)):
        parts.append(f"{useless} passing on neither side")
    if failing := sum(map(fails_from_the_start, rows)):
        parts.append(f"{failing} new that no trial passes")
    return "; ".join(parts)


def _opinions(rows: Sequence[Row]) -> list[str]:
    """Count the rows that the judge rates lower or could not judge; these counts do not affect the verdict."""
    judged = [row.judge for row in rows if row.judge]
    lower, unknown = (
        sum(one.warns for one in judged),
        sum(bool(one.base.not_judged + one.head.not_judged) for one in judged),
    )
    news = ((lower, "rated lower by the judge"), (unknown, "that the judge could not judge"))
    return [f"{count} {words}" for count, words in news if count]


def _bad_news(rows: Sequence[Row], states: Mapping[RowState, int], quietly: str) -> list[str]:
    """Return what went wrong, worst first. `quietly` says that nothing did, and counts only rows that were compared."""
    total = _things(len(rows) - states["removed"], rows)
    news = [(states[state], words + _named(rows, state)) for state, words in _BAD_NEWS.items() if states[state]]
    parts = [
        f"{count} {words}" if place else f"{count} of {total} {words}" for place, (count, words) in enumerate(news)
    ]
    quiet = sum(states[state] for state in _COMPARED)
    if not states["regressed"] and quiet:
        parts.append(f"{quietly} in {'the others' if parts else _things(quiet, rows)}")
    return parts or ["nothing to compare with"]


def _named(rows: Sequence[Row], state: RowState) -> str:
    """Return the names of regressed rows, as ` (add, list)`; '' for other states, or if they are many or long."""
    names = [_name(row, rows) for row in rows if row.state == state]
    text = ", ".join(names)
    return f" ({text})" if state == "regressed" and len(names) <= _NAMED and len(text) <= _LONGEST else ""


def _name(row: Row, rows: Sequence[Row]) -> str:
    return row.scenario if _one_agent(rows) else f"{row.scenario} × {row.agent}"


def _reasons(
    comparison: Comparison, decision: _Decision, weakened: Sequence[DefinitionChange], policy: Policy
) -> Iterator[str]:
    """Yield a sentence for each row, definition change and metric that led to the decision."""
    for row in decision.rows:
        yield f"{_name(row, comparison.rows)}: {row.reason}"
    if decision.state == "failed":
        for change in weakened:
            yield f"{change.scenario or 'suite'}: {change.kind.replace('_', ' ')}: {change.detail}"
        yield from _blocking_metrics(comparison, policy)
    elif comparison.excluded_share > MOST_EXCLUDED:
        yield _left_out(comparison)


def _left_out(comparison: Comparison) -> str:
    return f"{comparison.excluded_share:.0%} of the trials had to be left out"


def _things(count: int, rows: Sequence[Row]) -> str:
    """Return `4 scenarios`, or `4 scenario × agent rows` if the run has more than one agent."""
    return _number(count, "scenario" if _one_agent(rows) else "scenario × agent row")


def _one_agent(rows: Sequence[Row]) -> bool:
    return len({row.agent for row in rows}) <= 1


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
