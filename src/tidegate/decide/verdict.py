"""Decide on a comparison, by the policy; comment, outputs, status and exit code all follow from that."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Literal

from tidegate.decide.comparison.metric_tests import Q, is_worse
from tidegate.decide.comparison.whole_suite import cannot_guard
from tidegate.model.comparison import Comparison, DefinitionChange, Row, SuiteEffect
from tidegate.model.red import red_names
from tidegate.model.result import VerdictReason, VerdictState
from tidegate.model.suite import ContextTokens, Policy, RowState
from tidegate.model.surface import Interface
from tidegate.model.trial_spec import is_inside
from tidegate.model.value import Value

MOST_EXCLUDED = 0.20  # share of a run's trials; with more left out, "no regression" is not evidence (verdict.md)
_UNCOMPARED: tuple[RowState, ...] = ("added", "not_comparable", "not_measured")


class Decision(Value):
    """A verdict before it is worded. `code` is the exit code in blocking mode.

    `rows`, `fewer` and `metrics` led to it: rows, changes to what is checked, and metrics that got worse; so did
    those of the `interfaces` that block. `red` names all that would block on its own.
    """

    state: VerdictState
    reason: VerdictReason
    code: int = 0
    rows: tuple[Row, ...] = ()
    fewer: tuple[DefinitionChange, ...] = ()
    metrics: tuple[str, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    red: tuple[str, ...] = ()
    mode: Literal["blocking", "advisory"] = "blocking"

    @property
    def would_block(self) -> bool:
        """True if blocking mode ends with an exit code other than 0."""
        return self.code != 0

    @property
    def exit_code(self) -> int:
        """The exit code: 0 in advisory mode."""
        return 0 if self.mode == "advisory" else self.code


def decide(comparison: Comparison, policy: Policy) -> Decision:
    """Return the decision: failed, else not run, else inconclusive, else passed."""
    fewer, metrics = _checks_less(comparison, policy), _blocking_metrics(comparison, policy)
    unknown = _unknown_metrics(comparison, policy)
    interfaces = tuple(_judged(one, policy) for one in comparison.interfaces)
    comparison = comparison.model_copy(update={"interfaces": interfaces})
    decision = (
        _failed(comparison, policy, fewer, metrics)
        or _not_run(comparison.rows)
        or _undecided(comparison, policy, unknown)
        or Decision(state="passed", reason="no_regression")
    )
    worse = (*metrics, *unknown)
    red = tuple(_red(comparison, policy, fewer, worse)) if decision.code else ()
    found = {"fewer": fewer, "metrics": worse, "interfaces": interfaces, "red": red}
    return decision.model_copy(update={**found, "mode": policy.mode})


def nothing_to_do(policy: Policy) -> Decision:
    """Return the decision on a pull request that changes nothing an agent could notice; no trial was run."""
    return Decision(state="passed", reason="nothing_to_do", mode=policy.mode)


def _blocking_metrics(comparison: Comparison, policy: Policy) -> tuple[str, ...]:
    """Return each metric in `block_metrics` that is significantly worse, by more than the policy allows."""
    return tuple(
        name
        for name, margin in policy.block_metrics.items()
        if (change := comparison.suite.metrics.get(name))
        and change.q is not None
        and change.q <= Q
        and is_worse(name, change, margin)
    )


def _unknown_metrics(comparison: Comparison, policy: Policy) -> tuple[str, ...]:
    """Return each metric in `block_metrics` that head lacks in so many trials that it may be worse than allowed."""
    changes = ((name, margin, comparison.suite.metrics.get(name)) for name, margin in policy.block_metrics.items())
    found = ((name, margin, one, one.worst) for name, margin, one in changes if one is not None and one.missing)
    return tuple(
        name
        for name, margin, one, worst in found
        if worst is None or is_worse(name, one.model_copy(update={"effect": worst}), margin)
    )


def _judged(one: Interface, policy: Policy) -> Interface:
    """Return the interface with what of it the policy blocks. A list that is already too long on base may stay so."""
    limits, (base, head) = policy.context_tokens, one.total
    over = ""
    if limits.max is not None and head > max(limits.max, base):
        over = f"at most {limits.max:,}"
    elif limits.max_increase is not None and head - base > limits.max_increase:
        over = f"at most {limits.max_increase:,} more than on base"
    strict = policy.interface == "block"
    unseen = one.by_head and (strict or limits != ContextTokens())
    return one.model_copy(update={"limit": over, "blocks": bool(over) or unseen or (strict and bool(one.breaking))})


def _decided(state: VerdictState, reason: VerdictReason, code: int, rows: Iterable[Row] = ()) -> Decision:
    return Decision(state=state, reason=reason, code=code, rows=tuple(rows))


def _checks_less(comparison: Comparison, policy: Policy) -> tuple[DefinitionChange, ...]:
    """Return the changes by which less may be checked from the merge on, if a maintainer has to accept these."""
    blocks = policy.rules == "block"
    return tuple(change for change in comparison.definitions if change.effect != "more" and blocks)


def _failed(
    comparison: Comparison, policy: Policy, fewer: Sequence[DefinitionChange], metrics: Sequence[str]
) -> Decision | None:
    deciding = [row for row in comparison.rows if row.state in policy.block and may_block(row, policy)]
    regressed = [row for row in deciding if row.state == "regressed"]
    if regressed:
        setup = all(row.kind == "setup" for row in regressed)
        return _decided("failed", "setup_regression" if setup else "regression", 1, deciding)
    if comparison.suite.state == "regressed" and "regressed" in policy.block:
        return _decided("failed", "regression", 1, deciding)
    if metrics:
        return _decided("failed", "metric", 1, deciding)
    if fewer:
        return _decided("failed", "checks_less", 1, deciding)
    if any(one.blocks and not one.why for one in comparison.interfaces):
        return _decided("failed", "interface", 1, deciding)
    if deciding:
        unconfirmed = any(row.state == "unconfirmed" for row in deciding)
        return _decided("failed", "unconfirmed" if unconfirmed else _why_unmeasured(deciding), 1, deciding)
    return None


def _red(
    comparison: Comparison, policy: Policy, fewer: Sequence[DefinitionChange], metrics: Sequence[str]
) -> Iterator[str]:
    """Yield the name of all that would block without the rest: an acceptance must not hide what was never shown."""
    rows = [row for row in comparison.rows if _blocks(row, policy, _by_head(comparison))]
    suite = comparison.suite if "regressed" in policy.block else SuiteEffect()
    yield from red_names(rows, suite, metrics, fewer, (one for one in comparison.interfaces if one.blocks))
    whole = _not_run(comparison.rows), _useless(comparison.rows, policy)
    yield from (decision.reason for decision in whole if decision and decision.code)
    if comparison.excluded_share > MOST_EXCLUDED and "inconclusive" in policy.block:
        yield "trials left out"


def _blocks(row: Row, policy: Policy, by_head: Container[str | None]) -> bool:
    """Return True if the policy blocks the row for its state, or for what is not known of it."""
    unproven = is_unproven(row, by_head)
    inconclusive = unproven or row.state in ("not_measured", "unconfirmed")
    kinds = {row.state, "unproven" * unproven, "inconclusive" * inconclusive}
    return may_block(row, policy) and not kinds.isdisjoint(policy.block)


def _by_head(comparison: Comparison) -> frozenset[str]:
    """Return the outside causes that can be head's doing in this run."""
    return frozenset({"budget", "judge"} if comparison.used_by_head else ())


def _not_run(rows: Sequence[Row]) -> Decision | None:
    suite = present(rows)
    if not suite:
        return _decided("not_run", "no_scenarios", 3)
    if all(row.state == "not_measured" for row in suite):
        return _decided("not_run", _why_unmeasured(suite), 4, suite)
    return None


def _undecided(comparison: Comparison, policy: Policy, unknown: Sequence[str]) -> Decision | None:
    """Return the first "inconclusive" decision that blocks, else the first that applies, else None."""
    found = [
        decision
        for decision in (
            _inconclusive(comparison, policy),
            _unseen(unknown or any(one.blocks for one in comparison.interfaces), policy),
            _useless(comparison.rows, policy),
            _nothing_compared(comparison.rows),
        )
        if decision is not None
    ]
    return next((decision for decision in found if decision.code), found[0] if found else None)


def _inconclusive(comparison: Comparison, policy: Policy) -> Decision | None:
    """Return "inconclusive" if a row was not compared or not confirmed, or too many trials were left out; else None."""
    unproven = [row for row in comparison.rows if is_unproven(row, _by_head(comparison))]
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
    return _decided("inconclusive", "unproven" if unproven else reason, code, deciding)


def _unseen(hidden: object, policy: Policy) -> Decision | None:
    """Return "inconclusive" if head keeps something hidden that the policy blocks: of an interface, or a metric."""
    return _decided("inconclusive", "unproven", 5 if "unproven" in policy.block else 0) if hidden else None


def _useless(rows: Sequence[Row], policy: Policy) -> Decision | None:
    """Return "inconclusive" if two thirds of the rows pass on neither side: it would miss most regressions."""
    if not (useless := blind(rows)):
        return None
    code = max(_code(useless, "unproven", policy), _code(useless, "inconclusive", policy))
    return _decided("inconclusive", "nothing_passes", code, useless)


def _nothing_compared(rows: Sequence[Row]) -> Decision | None:
    """Return "inconclusive" if no row has a base to compare with, and head is fine as far as it was measured."""
    suite = present(rows)
    if not all(row.state in _UNCOMPARED for row in suite):
        return None
    return _decided("inconclusive", "nothing_compared", 0, suite)


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


def may_block(row: Row, policy: Policy) -> bool:
    """Return True if the row's purpose is `regression` and the policy names its agent; other rows never block."""
    return row.purpose == "regression" and policy.names(row.agent)


def is_unproven(row: Row, by_head: Container[str | None] = ()) -> bool:
    """Return True if it is unknown whether head is worse, and what the pull request does can be the reason for that.

    Otherwise a broken tool could choose an outcome that does not fail the job. `by_head`: outside causes that can be
    head's doing in this run, since it can have used up the budget.
    """
    head = row.head
    failed_every_trial = head.passes == 0 and head.trials > 0
    match row.state:
        case "not_measured":
            inside = is_inside(row.not_measured) or row.not_measured == "auth"  # head can ask for what is forbidden
            unconfirmed = row.not_measured == "budget" and failed_every_trial
            return inside or unconfirmed or row.not_measured in by_head
        case "not_comparable":
            return head.passes < head.trials
        case "unconfirmed" if row.kind in ("unused", "rewritten"):
            return True
        case "unconfirmed" if row.kind == "cut_short":
            return "budget" in by_head or failed_every_trial
        case "baseline_changed":
            return True
        case "unconfirmed" if row.kind != "outcome":
            alone = row.deterministic and row.base.passes > 0  # no test says how often that is chance
            return alone or head.not_measured > head.trials
        case "unconfirmed":
            return failed_every_trial and not row.one_shot
        case _:
            return False


def present(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that head's suite has."""
    return [row for row in rows if row.state != "removed"]


def blind(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that pass on neither side, if they are two thirds or more of those that both sides have."""
    suite = [row for row in present(rows) if row.state != "added"]
    found = [row for row in suite if cannot_guard(row)]
    return found if 3 * len(found) >= 2 * len(suite) else []
