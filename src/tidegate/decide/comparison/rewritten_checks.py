"""Find rows that pass on head only where trials changed files of the template, or the build those of the commit."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.comparison.unused_tool import MOST_BY_CHANCE
from tidegate.decide.procedure.conclusion import Conclusion
from tidegate.decide.statistics.exact import fisher_less
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.text.shorten import few


def doubting_rewritten(said: Conclusion, trials: RowTrials, replaced: Sequence[str] = ()) -> Conclusion:
    """Return the conclusion; as `unconfirmed` if all passing trials of head changed such files, and none of base's.

    Such a file can be the product of the task: then base's passing trials have changed it, too. `replaced`: files of
    the commit that head's build has replaced, so that the commit is not what was tested.
    """
    if said.state not in ("ok", "improved", "flaky", "baseline_changed"):
        return said
    if replaced:
        reason = f"head's build replaces files of the commit, which are then not what is tested: {few(replaced)}"
        return _doubted(said, reason, "the build leaves these files alone")
    of_base: tuple[PastTrial | TrialResult, ...] = (*trials.past, *trials.base)
    base = [trial.rewritten for trial in of_base if trial.decides == "pass"]
    known = frozenset(name for names in base for name in names)
    head = [set(trial.rewritten) - known for trial in trials.head if trial.decides == "pass"]
    if not (base and head and all(head)):
        return said
    if not said.deterministic and fisher_less(0, len(base), len(head), len(head)) > MOST_BY_CHANCE:
        return said
    files = few(sorted(set().union(*head)))
    reason = f"every passing trial on head has changed files of its template, and none of base's has: {files}"
    return _doubted(said, reason, "a trial on head passes and leaves these files alone")


def _doubted(said: Conclusion, reason: str, clears: str) -> Conclusion:
    doubt = {"state": "unconfirmed", "kind": "rewritten", "reason": reason, "clears_when": clears}
    return said.model_copy(update=doubt)
