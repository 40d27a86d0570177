"""What a valid suite could do better: said by `tidegate check`, never an error."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from tidegate.model.plan import Plan
from tidegate.model.suite import Suite
from tidegate.procedure import screening_trials
from tidegate.statistics.detection import Screening, can_confirm
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
    """Other rows: too few trials for even the largest drop to be told from chance, as long as there is no history."""
    alpha = suite.policy.alpha
    for row in plan.rows:
        counts = row.scenario.trials.over(suite.trials)
        if row.deterministic or counts.max is None:
            continue
        screening = screening_trials(counts, suite.policy)
        enough = next(n for n in count(screening) if can_confirm(Screening(screening, False, n), alpha))
        if counts.max < enough:
            yield (
                f"{row.scenario.file}: with trials.max {counts.max} no regression of {row.key.agent} can be confirmed "
                f"without history; that takes {enough} trials on head"
            )
