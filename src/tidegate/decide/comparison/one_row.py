"""Build one row of a comparison: counts, effect, metrics and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.decide.comparison.evidence import Measured, find_evidence, gate_table, metric_changes
from tidegate.decide.comparison.judge_change import judge_change
from tidegate.decide.comparison.metric_tests import RowTrials, compared_metrics, is_worse
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.statistics.rates import newcombe, wilson
from tidegate.model.comparison import BaseCounts, Effect, HeadCounts, Interval, MetricChange, Row
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.run_row import Counts, RunRow
from tidegate.model.suite import RULES
from tidegate.model.trial_spec import Phase

# A row is named because its drop looked large, so that the drop is smaller on average than it looks. Where rows with
# a drop of 20 points are named, this interval covers that drop in 99 % of cases, one of 95 % in 20 to 70 %.
NAMED_CONFIDENCE = 0.999
Trials = Sequence[TrialResult]


def row_of(
    row: RunRow, said: Conclusion, trials: RowTrials, run: Run, metrics: Mapping[str, MetricChange], *, holds: bool
) -> Row:
    """Return the row. `holds`: base's fresh trials do not contradict the history."""
    past, base, head = trials
    return Row(
        scenario=row.scenario,
        agent=row.agent,
        state=said.state,
        why=said.why,
        kind=said.kind,
        not_measured=said.not_measured,
        purpose=row.purpose,
        task=row.task,
        source=row.source,
        deterministic=said.deterministic,
        can_fail=row.can_fail,
        one_shot=said.one_shot,
        fingerprint=row.fingerprint,
        base=_base_counts(base, _counts(past)),
        head=_head_counts(head),
        effect=_effect(said, base, head),
        metrics=_row_metrics(trials, metrics),
        gates=gate_table(base, head),
        judge=judge_change(base, head, past if holds else ()),
        evidence=find_evidence(said, base, head, run.revision),
        replay=row.replay,
    )


def _counts(trials: Measured) -> Counts:
    """Return passes and number of the measured trials."""
    decided = [trial.decides for trial in trials if trial.decides is not None]
    return decided.count("pass"), len(decided)


def _in_phases(trials: Trials, *phases: Phase) -> list[TrialResult]:
    return [trial for trial in trials if trial.phase in phases]


def _interval(counts: Counts) -> Interval | None:
    return wilson(*counts) if counts[1] else None


def _base_counts(trials: Trials, history: Counts) -> BaseCounts:
    fresh, measured = _counts(trials)
    passes, total = fresh + history[0], measured + history[1]
    return BaseCounts(
        passes=passes,
        trials=total,
        history=history,
        screen=_counts(_in_phases(trials, "screen")),
        fresh=_counts(_in_phases(trials, "confirm", "verify")),
        not_measured=len(trials) - measured,
        interval=_interval((passes, total)),
    )


def _head_counts(trials: Trials) -> HeadCounts:
    passes, measured = _counts(trials)
    return HeadCounts(
        passes=passes,
        trials=measured,
        screen=_counts(_in_phases(trials, "screen", "history")),
        confirm=_counts(_in_phases(trials, "confirm", "verify")),
        not_measured=len(trials) - measured,
        interval=_interval((passes, measured)),
    )


def _effect(said: Conclusion, base: Trials, head: Trials) -> Effect | None:
    (head_pass, head_n), (base_pass, base_n) = said.why.head or (0, 0), said.why.base or (0, 0)
    if not (base_n and head_n):
        (head_pass, head_n), (base_pass, base_n) = _counts(head), _counts(base)
    if not (base_n and head_n):
        return None
    named = said.state == "regressed" and not said.deterministic
    confidence = NAMED_CONFIDENCE if named else 0.95
    return Effect(
        difference=head_pass / head_n - base_pass / base_n,
        interval=newcombe(head_pass, head_n, base_pass, base_n, confidence),
        confidence=confidence,
        p=said.why.p,
        level=said.why.limit,
    )


# --- metrics


def suite_metrics(sides: Sequence[RowTrials]) -> dict[str, MetricChange]:
    """Return the metrics over the suite, from screening trials only: later ones are run because these look bad."""
    return compared_metrics(
        [RowTrials(past, _in_phases(base, "screen"), _in_phases(head, "screen")) for past, base, head in sides]
    )


def _row_metrics(trials: RowTrials, suite: Mapping[str, MetricChange]) -> dict[str, MetricChange]:
    """Return the row's means with the suite's q. A metric warns if the suite's does and the row changed as much."""
    own = metric_changes((*trials.past, *trials.base), trials.head)
    return {name: _judged(name, change, suite[name]) if name in suite else change for name, change in own.items()}


def _judged(name: str, own: MetricChange, suite: MetricChange) -> MetricChange:
    ratio = own.head / own.base if own.head is not None and own.base else None
    shown = own.model_copy(update={"effect": ratio}) if suite.scale == "ratio" else own
    warns = suite.warns and is_worse(name, shown, RULES[name].margin)
    return own.model_copy(update={"q": suite.q, "warns": warns})
