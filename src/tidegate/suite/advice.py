"""What a valid suite could do better: said by `tidegate check`, never an error."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.model.plan import Plan
from tidegate.model.suite import Suite
from tidegate.procedure import screening_trials
from tidegate.statistics.exact import fisher_less
from tidegate.statistics.one_shot import MOST_TRIALS, Pair, trials_to_settle
from tidegate.statistics.repeats import HEAD_TRIALS

ENOUGH_CASES = 20  # regression scenarios


def advice(suite: Suite, plan: Plan) -> tuple[str, ...]:
    """One sentence for each thing worth a thought, in the order of the suite."""
    return (*_without_gates(suite), *_few_cases(suite), *_few_repeats(suite, plan), *_few_trials(suite, plan))


def _without_gates(suite: Suite) -> Iterator[str]:
    for scenario in suite.scenarios:
        if not any(gate.required for gate in scenario.gates):
            what = "no required gate" if scenario.gates else "no gate"
            yield f"{scenario.file}: {what}, so every trial passes whatever the agent does"


def _few_cases(suite: Suite) -> Iterator[str]:
    cases = sum(scenario.purpose == "regression" for scenario in suite.scenarios)
    if cases < ENOUGH_CASES:
        yield f"only {cases} of the scenarios are regression cases; with fewer than {ENOUGH_CASES} much goes unseen"


def _few_repeats(suite: Suite, plan: Plan) -> Iterator[str]:
    """Deterministic rows: a flip that may not be repeated is never confirmed."""
    for row in plan.rows:
        most = row.scenario.trials.max or suite.trials.max
        if row.deterministic and most is not None and most < HEAD_TRIALS:
            yield (
                f"{row.scenario.file}: with trials.max {most} a regression of {row.key.agent} stays unconfirmed; "
                f"it takes {HEAD_TRIALS} trials on head"
            )


def _few_trials(suite: Suite, plan: Plan) -> Iterator[str]:
    """Other rows: too few trials for even the largest drop to be told from chance."""
    rows = [row for row in plan.rows if not row.deterministic]
    if not rows:
        return
    limit = suite.policy.alpha / len(rows)
    needed = trials_to_settle(Pair(head_pass=0, head_n=1, base_pass=1, base_n=1), limit) or MOST_TRIALS
    for row in rows:
        counts = row.scenario.trials.over(suite.trials)
        base = screening_trials(counts, suite.policy)
        head = min(base, counts.max or base)
        if fisher_less(0, head, base, base) > limit:
            yield (
                f"{row.scenario.file}: {head} head and {base} base trials of {row.key.agent} cannot confirm any "
                f"regression; `trials: {{min: {needed}}}` can"
            )
