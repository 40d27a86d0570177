"""Build the `Result`, from which every report is made, out of comparison, verdict and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from tidegate import __version__
from tidegate.decide.comparison.judgements import agreement, not_judged, panel_agreement
from tidegate.decide.verdict.refused_hosts import refused_hosts
from tidegate.model.agent import FREE
from tidegate.model.comparison import Comparison
from tidegate.model.judge_result import JudgeInfo, JudgeReport
from tidegate.model.measurement import AgentInfo, Run, TrialResult
from tidegate.model.result import BaseSide, Cost, HeadSide, Result, Sides, TrialTotals
from tidegate.model.suite import Budget
from tidegate.model.verdict import Verdict

NO_BUDGET = Budget(minutes=None)


def make_result(
    comparison: Comparison,
    verdict: Verdict,
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
        verdict=verdict,
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
        rows=comparison.rows,
        suite=comparison.suite,
        definitions=comparison.definitions,
        agents={**base.agents, **head.agents},
        judge=judge,
        diagnosis=head.diagnosis,
        warnings=(*comparison.warnings, *_of_trials(trials), *warnings),
        cost=_cost(paid, judge, seconds, budget).model_copy(update=_known_costs(paid, {**base.agents, **head.agents})),
        confinement=head.confinement,
        trials=trials,
    )


def _base_side(comparison: Comparison, base: Run) -> BaseSide:
    history = sum(row.base.history[1] for row in comparison.rows)
    origin: Literal["run", "history", "reused"] = "run"
    if not base.trials and history:
        origin = "history"
    elif _reused(base):
        origin = "reused"
    return BaseSide(sha=base.revision.sha, ref=base.revision.ref, origin=origin, history_trials=history)


def _of_trials(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield the warnings about what trials lacked."""
    yield from _not_reached(trials)
    yield from _approximate(trials)
    yield from refused_hosts(trials)


def _not_reached(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield a warning with the number and estimated price of the trials that the budget left out."""
    left = sum(trial.not_measured == "budget" for trial in trials)
    costs = [trial.metrics.cost_usd for trial in trials if trial.outcome and trial.metrics.cost_usd is not None]
    if left:
        price = f", about ${left * sum(costs) / len(costs):.2f}" if costs else ""
        yield f"the budget was used up; what it left without an outcome would take {left} more trials{price}"


def _approximate(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield a warning for each row whose calls were not recorded but read from text."""
    counted = Counter(trial.key for trial in trials if trial.invocations.approximate)
    for row, count in counted.items():
        some = f"in {count} trial{'s' if count > 1 else ''}"
        yield f"{row.scenario} × {row.agent}: the calls of the tool are approximate {some}: read from the agent's text"


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
