"""Decide the verdict from a comparison and the policy; comment, outputs, status and exit code all follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tidegate.decide.verdict.decision import MOST_EXCLUDED, Decision, blind, is_unproven, may_block, present
from tidegate.decide.verdict.wording import blocking_metrics, reasons, summary
from tidegate.model.comparison import Comparison, DefinitionChange, Row
from tidegate.model.suite import Policy, RowState
from tidegate.model.verdict import Verdict, VerdictReason

_UNCOMPARED: tuple[RowState, ...] = ("added", "not_comparable", "not_measured")


def decide(comparison: Comparison, policy: Policy) -> Verdict:
    """Return the verdict: failed, else not run, else inconclusive, else passed. In advisory mode the exit code is 0."""
    fewer = _checks_less(comparison, policy)
    decision = (
        _failed(comparison, policy, fewer)
        or _not_run(comparison.rows)
        or _undecided(comparison, policy)
        or Decision("passed", "no_regression", 0)
    )
    return Verdict(
        state=decision.state,
        reason=decision.reason,
        exit_code=0 if policy.mode == "advisory" else decision.exit_code,
        summary=summary(comparison, decision, fewer),
        reasons=tuple(reasons(comparison, decision, fewer, policy)),
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


def _checks_less(comparison: Comparison, policy: Policy) -> tuple[DefinitionChange, ...]:
    """Return the changes by which less is checked from the merge on, if a maintainer has to accept these."""
    blocks = policy.rules == "block"
    return tuple(change for change in comparison.definitions if change.effect == "less" and blocks)


def _failed(comparison: Comparison, policy: Policy, fewer: Sequence[DefinitionChange]) -> Decision | None:
    deciding = [row for row in comparison.rows if row.state in policy.block and may_block(row, policy)]
    regressed = [row for row in deciding if row.state == "regressed"]
    if regressed:
        setup = all(row.kind == "setup" for row in regressed)
        return Decision("failed", "setup_regression" if setup else "regression", 1, deciding)
    if comparison.suite.state == "regressed" and "regressed" in policy.block:
        return Decision("failed", "regression", 1, deciding)
    if blocking_metrics(comparison, policy):
        return Decision("failed", "metric", 1, deciding)
    if fewer:
        return Decision("failed", "checks_less", 1, deciding)
    if deciding:
        unconfirmed = any(row.state == "unconfirmed" for row in deciding)
        return Decision("failed", "unconfirmed" if unconfirmed else _why_unmeasured(deciding), 1, deciding)
    return None


def _not_run(rows: Sequence[Row]) -> Decision | None:
    suite = present(rows)
    if not suite:
        return Decision("not_run", "no_scenarios", 3)
    if all(row.state == "not_measured" for row in suite):
        return Decision("not_run", _why_unmeasured(suite), 4, suite)
    return None


def _undecided(comparison: Comparison, policy: Policy) -> Decision | None:
    """Return the first "inconclusive" decision that blocks, else the first that applies, else None."""
    found = [
        decision
        for decision in (
            _inconclusive(comparison, policy),
            _useless(comparison.rows, policy),
            _nothing_compared(comparison.rows),
        )
        if decision is not None
    ]
    return next((decision for decision in found if decision.exit_code), found[0] if found else None)


def _inconclusive(comparison: Comparison, policy: Policy) -> Decision | None:
    """Return "inconclusive" if a row was not compared or not confirmed, or too many trials were left out; else None."""
    by_head = frozenset({"budget", "judge"} if comparison.used_by_head else ())
    unproven = [row for row in comparison.rows if is_unproven(row, by_head)]
    unmeasured = [row for row in comparison.rows if row.state == "not_measured"]
    unconfirmed = [row for row in comparison.rows if row.state == "unconfirmed"]
    thin = comparison.excluded_share > MOST_EXCLUDED
    if not (unproven or unmeasured or unconfirmed or thin):
        return None
    reason: VerdictReason = _why_unmeasured(unmeasured) if unmeasured or thin else "unconfirmed"
    deciding = [*unproven, *(row for row in (*unmeasured, *unconfirmed) if row not in unproven)]
    code = max(_code(unproven, "unproven", policy), _code(deciding, "inconclusive", policy))
    if thin and "inconclusive" in policy.block:
        code = 5
    return Decision("inconclusive", "unproven" if unproven else reason, code, deciding)


def _useless(rows: Sequence[Row], policy: Policy) -> Decision | None:
    """Return "inconclusive" if two thirds of the rows pass on neither side: it would miss most regressions."""
    if not (useless := blind(rows)):
        return None
    code = max(_code(useless, "unproven", policy), _code(useless, "inconclusive", policy))
    return Decision("inconclusive", "nothing_passes", code, useless)


def _nothing_compared(rows: Sequence[Row]) -> Decision | None:
    """Return "inconclusive" if no row has a base to compare with, and head is fine as far as it was measured."""
    suite = present(rows)
    if not all(row.state in _UNCOMPARED for row in suite):
        return None
    return Decision("inconclusive", "nothing_compared", 0, suite)


def _code(rows: Sequence[Row], kind: Literal["unproven", "inconclusive"], policy: Policy) -> int:
    """Return the exit code 5 if the policy blocks this kind of verdict, and a row may block; else 0."""
    return 5 if kind in policy.block and any(may_block(row, policy) for row in rows) else 0


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
