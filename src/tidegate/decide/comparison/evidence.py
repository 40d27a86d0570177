"""Evidence for one row: a trial that shows the change, the first divergence, and its metrics and gates."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tidegate.decide.causes.divergence import closest, divergence
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.model.comparison import Evidence, FailedCall, GateCounts, MetricChange
from tidegate.model.measurement import Call, GateResult, Metrics, PastTrial, TrialResult
from tidegate.model.revision import Revision
from tidegate.model.run_row import Counts
from tidegate.model.trial_spec import is_inside
from tidegate.text.noise import noisy_words

MOST_CALLS = 3
Trials = Sequence[TrialResult]
Measured = Sequence[TrialResult | PastTrial]


def find_evidence(conclusion: Conclusion, base: Trials, head: Trials, revision: Revision) -> Evidence | None:
    """Return the evidence for a row that regressed, is unconfirmed or improved; None if no trial shows it.

    `trial` is a head trial. Gate, message and calls are those that fail on head; for an improved row, those that
    failed on base.
    """
    if conclusion.state not in ("regressed", "unconfirmed", "improved"):
        return None
    improved = conclusion.state == "improved"
    shows = next(filter(_unmeasured if conclusion.kind != "outcome" else _passed if improved else _failed, head), None)
    if shows is None:
        return None
    noise = noisy_words((*base, *head))
    likely = filter(_failed if improved else _passed, base)
    other = closest(shows, likely, noise) or closest(shows, filter(_measured, base), noise)
    failing = other if improved and other is not None else shows
    gate = _failed_gate(failing)
    alike = other.calls if other is not None and not improved else ()
    calls = _failed_calls(failing.calls, alike)
    return Evidence(
        trial=shows.id,
        gate=gate.label if gate else None,
        message=gate.message if gate else failing.reason,
        base_message=_same_gate(other, gate) if gate and other is not None and not (calls or improved) else "",
        calls=calls,
        divergence=divergence(other.calls, shows.calls, noise) if other and _measured(shows) else None,
        reproduce=_reproduce(conclusion, revision),
    )


def _passed(trial: TrialResult) -> bool:
    return trial.decides == "pass"


def _failed(trial: TrialResult) -> bool:
    return trial.decides == "fail"


def _measured(trial: TrialResult) -> bool:
    return trial.decides is not None


def _unmeasured(trial: TrialResult) -> bool:
    return trial.decides is None and is_inside(trial.not_measured)


def _failed_gate(trial: TrialResult) -> GateResult | None:
    """Return the first required gate that the trial failed."""
    return next((gate for gate in trial.gates if gate.required and not gate.passed), None)


def _same_gate(trial: TrialResult, gate: GateResult) -> str:
    """Return the message of the same gate in this trial, if it passed here; else ''."""
    same = (one for one in trial.gates if (one.type, one.label) == (gate.type, gate.label))
    return next((one.message for one in same if one.passed), "")


def _failed_calls(calls: Iterable[Call], alike: Iterable[Call]) -> tuple[FailedCall, ...]:
    """Return the first few failed calls without duplicates, which repeated attempts of an agent would add.

    Those that end `alike` on base are left out.
    """
    known = {(call.command, call.status, call.exit_code) for call in alike}
    failed = dict.fromkeys(
        FailedCall(command=call.command, exit_code=call.exit_code, message=call.message)
        for call in calls
        if call.status in ("error", "timeout") and (call.command, call.status, call.exit_code) not in known
    )
    return tuple(failed)[:MOST_CALLS]


def _reproduce(conclusion: Conclusion, revision: Revision) -> str:
    """Return the command that runs this row again; for the working tree, without `--rev`.

    The hash is not abbreviated: a pull request's test merge is in no clone, and git fetches full hashes only.
    """
    if not revision.sha and not revision.dirty:
        return ""  # results imported from another tool: the commit is unknown
    rev = () if revision.dirty else ("--rev", revision.sha)
    key = conclusion.key
    return shlex.join(["tidegate", "run", *rev, "--scenario", key.scenario, "--agent", key.agent])


# --- metrics and gates


def metric_changes(base: Measured, head: Measured) -> dict[str, MetricChange]:
    """Return every metric's mean on both sides, over the measured trials that have it."""
    before, after = _means(base), _means(head)
    return {name: _metric(before.get(name), after.get(name)) for name in Metrics.model_fields}


_UNKNOWN = MetricChange(base=None, head=None)


def _metric(before: float | None, after: float | None) -> MetricChange:
    if before is None and after is None:
        return _UNKNOWN
    effect = after - before if before is not None and after is not None else None
    return MetricChange(base=before, head=after, effect=effect)


def _means(trials: Measured) -> dict[str, float]:
    """Return the means over the measured trials that have the metric. True counts as 1, False as 0."""
    found: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.decides is not None:
            for name, value in vars(trial.metrics).items():
                if value is not None:
                    found[name].append(float(value))
    return {name: sum(values) / len(values) for name, values in found.items()}


def gate_table(base: Trials, head: Trials) -> tuple[GateCounts, ...]:
    """Return passes and trials of every gate on both sides; gates with the same label are matched by their order."""
    before, after = _gate_counts(base), _gate_counts(head)
    return tuple(
        GateCounts(gate=place[0], base=before.get(place, (0, 0)), head=after.get(place, (0, 0)))
        for place in (after | before)
    )


def _gate_counts(trials: Trials) -> dict[tuple[str, int], Counts]:
    counts: dict[tuple[str, int], Counts] = {}
    for trial in trials:
        seen: dict[str, int] = {}
        for gate in trial.gates:
            place = gate.label, seen.get(gate.label, 0)
            seen[gate.label] = place[1] + 1
            passes, n = counts.get(place, (0, 0))
            counts[place] = passes + gate.passed, n + 1
    return counts
