"""Find rows that pass on head only where trials have changed files that gates use."""

from __future__ import annotations

from tidegate.comparison.metric_tests import RowTrials
from tidegate.comparison.unused_tool import MOST_BY_CHANCE
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.procedure.conclusion import Conclusion
from tidegate.statistics.exact import fisher_less
from tidegate.text.shorten import few


def doubting_rewritten(said: Conclusion, trials: RowTrials) -> Conclusion:
    """Return the conclusion; as `unconfirmed` if all passing trials of head changed such files, and none of base's.

    Such a file can be the product of the task: then base's passing trials have changed it, too.
    """
    if said.state not in ("ok", "improved", "flaky", "baseline_changed"):
        return said
    of_base: tuple[PastTrial | TrialResult, ...] = (*trials.past, *trials.base)
    base = [trial.rewritten for trial in of_base if trial.decides == "pass"]
    known = frozenset(name for names in base for name in names)
    head = [set(trial.rewritten) - known for trial in trials.head if trial.decides == "pass"]
    if not (base and head and all(head)):
        return said
    if not said.deterministic and fisher_less(0, len(base), len(head), len(head)) > MOST_BY_CHANCE:
        return said
    files = few(sorted(set().union(*head)))
    reason = f"every passing trial on head has changed files that its gates use, and none of base's has: {files}"
    doubt = {"state": "unconfirmed", "kind": "rewritten", "reason": reason}
    return said.model_copy(update={**doubt, "clears_when": "a trial on head passes and leaves these files alone"})
