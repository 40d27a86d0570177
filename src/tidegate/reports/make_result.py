"""Build the `Result`, from which every report is made, out of comparison, decision and runs, and put it into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from tidegate import __version__
from tidegate.decide.trust import agreement, not_judged, panel_agreement
from tidegate.decide.verdict import Decision
from tidegate.model.agent import FREE
from tidegate.model.comparison import Comparison, DefinitionChange, Row
from tidegate.model.judge_result import JudgeInfo, JudgeReport
from tidegate.model.measurement import AgentInfo, Run, TrialResult
from tidegate.model.result import BaseSide, Cost, HeadSide, Result, Sides, TrialTotals
from tidegate.model.suite import Budget
from tidegate.reports.notes_text import notes_text, trials_text
from tidegate.reports.replay_text import left_out_text, why_run_text
from tidegate.reports.verdict_text import clears_text, reason_of, verdict_of

NO_BUDGET = Budget(minutes=None)


def make_result(
    comparison: Comparison,
    decision: Decision,
    base: Run,
    head: Run,
    *,
    warnings: Iterable[str] = (),
    budget: Budget = NO_BUDGET,
) -> Result:
    """Return the complete result of a comparison. `budget` is the budget that the run was held to."""
    trials = (*base.trials, *head.trials)
    paid = tuple(trial for trial in trials if not trial.reused and not _never_begun(trial))
    seconds = max(base.seconds, head.seconds)
    judge = _judge(head.judge or base.judge, trials)
    return Result(
        tidegate_version=__version__,
        verdict=verdict_of(comparison, decision),
        sides=Sides(
            base=_base_side(comparison, base),
            head=HeadSide(
                sha=head.revision.sha,
                ref=head.revision.ref,
                origin="reused" if _reused(head) else "run",
                tree=head.revision.tree,
                tested_at=head.started_at,
            ),
        ),
        rows=tuple(map(_worded, comparison.rows)),
        suite=comparison.suite,
        definitions=tuple(map(_with_detail, comparison.definitions)),
        interfaces=decision.interfaces,
        agents={**base.agents, **head.agents},
        judge=judge,
        diagnosis=head.diagnosis,
        warnings=(*notes_text(comparison.notes), *trials_text(trials), *warnings),
        cost=_cost(paid, judge, seconds, budget).model_copy(update=_known_costs(paid, {**base.agents, **head.agents})),
        confinement=head.confinement,
        trials=trials,
    )


def _worded(row: Row) -> Row:
    """Return the row with its reason in words, and what would clear it."""
    if row.replay is not None:
        words = {"left_out": tuple(map(left_out_text, row.replay.unusable)), "why_run": why_run_text(row.replay)}
        row = row.model_copy(update={"replay": row.replay.model_copy(update=words)})
    if row.why is None:
        return row
    clears = {"clears_when": clears_text(row.state, row.why)}
    evidence = row.evidence and row.evidence.model_copy(update=clears)
    return row.model_copy(update={"reason": reason_of(row), "evidence": evidence})


def _with_detail(change: DefinitionChange) -> DefinitionChange:
    detail = change.detail or "the two runs used different definitions of it"
    return change.model_copy(update={"detail": detail})


def _base_side(comparison: Comparison, base: Run) -> BaseSide:
    history = sum(row.base.history[1] for row in comparison.rows)
    origin: Literal["run", "history", "reused"] = "run"
    if not base.trials and history:
        origin = "history"
    elif _reused(base):
        origin = "reused"
    return BaseSide(sha=base.revision.sha, ref=base.revision.ref, origin=origin, history_trials=history)


def _never_begun(trial: TrialResult) -> bool:
    """Return True if the trial is not known to have cost anything: no budget or key was left, or its shard is lost."""
    return trial.not_measured in ("budget", "auth", "lost_shard") and trial.end is None


def _reused(run: Run) -> bool:
    """Return True if all trials of the run come from an earlier run of the same test."""
    return bool(run.trials) and all(trial.reused for trial in run.trials)


def _judge(judge: JudgeInfo | None, trials: Sequence[TrialResult]) -> JudgeReport | None:
    if judge is None:
        return None
    uses = [trial.judge_use for trial in trials if trial.judge_use]
    tokens_in, tokens_out = _sum(use.tokens_in for use in uses), _sum(use.tokens_out for use in uses)
    return JudgeReport(
        judge=judge,
        judged=sum(trial.metrics.judge_score is not None for trial in trials),
        not_judged=sum(not_judged(trial) != "" for trial in trials),
        calls=sum(use.calls for use in uses),
        cached=sum(use.cached for use in uses),
        tokens_in=None if tokens_in is None else int(tokens_in),
        tokens_out=None if tokens_out is None else int(tokens_out),
        usd=_sum(use.usd for use in uses),
        agreement=agreement(trials),
        panel_agreement=panel_agreement(trials),
    )


def _cost(trials: tuple[TrialResult, ...], judge: JudgeReport | None, seconds: float, budget: Budget) -> Cost:
    """Return the cost of the agents. The judge's cost is reported elsewhere but counts towards `budget_used`."""
    usd = _sum(trial.metrics.cost_usd for trial in trials)
    tokens_in = _sum(trial.metrics.tokens_in for trial in trials)
    tokens_out = _sum(trial.metrics.tokens_out for trial in trials)
    base = sum(trial.side == "base" for trial in trials)
    judge_usd, *judge_tokens = (judge.usd, judge.tokens_in, judge.tokens_out) if judge else (None,)
    shares = [
        used / limit
        for used, limit in (
            (_sum((usd, judge_usd)), budget.usd),
            (_sum((tokens_in, tokens_out, *judge_tokens)), budget.tokens),
            (seconds / 60, budget.minutes),
            (len(trials), budget.trials),
        )
        if used is not None and limit is not None
    ]
    return Cost(
        usd=usd,
        tokens_in=None if tokens_in is None else int(tokens_in),
        tokens_out=None if tokens_out is None else int(tokens_out),
        tokens_guessed=any(trial.tokens_guessed for trial in trials),
        trials=TrialTotals(base=base, head=len(trials) - base),
        seconds=round(seconds, 1),
        budget_used=round(max(shares), 3) if shares else None,
    )


def _known_costs(trials: Sequence[TrialResult], agents: Mapping[str, AgentInfo]) -> dict[str, Any]:
    """Return of how many trials the cost is known, and guessed; those of agents that ask no model do not count."""
    free = {name for name, agent in agents.items() if agent.type in FREE}
    asking = [trial for trial in trials if trial.agent not in free]
    known = [trial for trial in asking if trial.metrics.cost_usd is not None]
    return {"usd_of": (len(known), len(asking)), "usd_guessed": sum(trial.cost_guessed for trial in known)}


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum of the reported values; None, not 0, if none was reported."""
    reported = [value for value in values if value is not None]
    return sum(reported) if reported else None
