"""Find rows that pass on head without a use of the tool under test: they do not show that it works."""

from __future__ import annotations

from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.procedure.steps import Conclusion
from tidegate.decide.statistics.exact import fisher_less
from tidegate.model.measurement import PastTrial, TrialResult

MOST_BY_CHANCE = 0.05  # that agents who use the tool now and then show this difference


def doubting_disuse(said: Conclusion, trials: RowTrials) -> Conclusion:
    """Return the conclusion; as `unconfirmed` if all passing trials of base use the tool, and no trial of head does.

    Only head's passing trials are evidence: an agent that fails may have given up before it used the tool.
    """
    if said.state not in ("ok", "improved", "flaky", "baseline_changed"):
        return said
    of_base: tuple[PastTrial | TrialResult, ...] = (*trials.past, *trials.base)
    base = [uses_of(trial) for trial in of_base if trial.decides == "pass"]
    head = [uses_of(trial) for trial in trials.head if trial.decides is not None]
    passes = sum(trial.decides == "pass" for trial in trials.head)
    if not (base and passes and all(base)) or any(count != 0 for count in head):
        return said
    if not said.deterministic and fisher_less(0, passes, len(base), len(base)) > MOST_BY_CHANCE:
        return said
    reason = f"no trial on head uses the tool under test, but all {len(base)} passing trials on base do"
    doubt = {"state": "unconfirmed", "kind": "unused", "reason": reason, "clears_when": "a trial on head uses the tool"}
    return said.model_copy(update=doubt)


def uses_of(trial: TrialResult | PastTrial) -> int | None:
    """Return how many calls ask the tool to do something; None if the calls are not known."""
    return trial.uses if isinstance(trial, PastTrial) else trial.invocations.uses
