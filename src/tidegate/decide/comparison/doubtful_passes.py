"""Find rows that pass on head in a way that does not show that the tool under test works there."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.procedure.row_states import GREEN, Conclusion
from tidegate.decide.statistics.exact import fisher_less
from tidegate.model.measurement import PastTrial, TrialResult

MOST_BY_CHANCE = 0.05  # that agents who use the tool now and then show this difference


def doubting_passes(conclusion: Conclusion, trials: RowTrials, replaced: Sequence[str] = ()) -> Conclusion:
    """Return the conclusion; as `unconfirmed` if head does not use the tool, or not the files that base has.

    `replaced`: files of the commit that head's build has replaced, so that the commit is not what was tested.
    """
    if conclusion.state not in (*GREEN, "baseline_changed"):
        return conclusion
    if uses := _only_base_uses(conclusion, trials):
        return conclusion.doubted("unused_tool", "unused", uses=uses)
    if replaced:
        return conclusion.doubted("replaced_files", "rewritten", files=tuple(replaced))
    if files := next((trial.untested for trial in trials.head if trial.untested), None):
        return conclusion.doubted("other_program", "rewritten", files=files)
    return conclusion


def _only_base_uses(conclusion: Conclusion, trials: RowTrials) -> int:
    """Return base's passing trials if all of them use the tool, and no trial of head does; else 0.

    Only head's passing trials are evidence: an agent that fails may have given up before it used the tool.
    """
    base = [uses_of(trial) for trial in _of_base(trials) if trial.decides == "pass"]
    head = [uses_of(trial) for trial in trials.head if trial.decides is not None]
    passes = sum(trial.decides == "pass" for trial in trials.head)
    if not (base and passes and all(base)) or any(count != 0 for count in head):
        return 0
    chance = 0.0 if conclusion.deterministic else fisher_less(0, passes, len(base), len(base))
    return len(base) if chance <= MOST_BY_CHANCE else 0


def _of_base(trials: RowTrials) -> tuple[PastTrial | TrialResult, ...]:
    return *trials.past, *trials.base


def uses_of(trial: TrialResult | PastTrial) -> int | None:
    """Return how many calls ask the tool to do something; None if the calls are not known."""
    return trial.uses if isinstance(trial, PastTrial) else trial.invocations.uses
