"""Run × Run → Comparison: what head does otherwise than base, row by row and as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from tidegate.doubts import doubts
from tidegate.evidence import Measured, find_evidence, gate_table, metric_changes
from tidegate.judged import judge_change
from tidegate.metric_tests import RULES, RowTrials, compared_metrics, is_worse
from tidegate.model.comparison import (
    BaseCounts,
    Comparison,
    Counts,
    DefinitionChange,
    Effect,
    HeadCounts,
    Interval,
    MetricChange,
    Row,
    SuiteEffect,
)
from tidegate.model.measurement import PastTrial, Run, RunRow, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.trial import SETUP_KINDS, Phase
from tidegate.procedure import Conclusion, State, conclude, observe, start, suite_finding
from tidegate.statistics.detection import Screening, detection
from tidegate.statistics.passk import pass_at_k, pass_hat_k
from tidegate.statistics.rates import mean_difference, newcombe, wilson
from tidegate.statistics.repeats import BASE_TRIALS, HEAD_TRIALS
from tidegate.statistics.seen import RowSeen
from tidegate.statistics.suite_gate import SuiteFinding

SUITE_CONFIDENCE = 0.90  # of the suite's interval: "unchanged" is a claim of equivalence (verdict.md, States)
Trials = Sequence[TrialResult]
T = TypeVar("T", TrialResult, PastTrial)
OfSides = dict[Literal["base", "head"], float | None]


def compare(base: Run, head: Run, definitions: Sequence[DefinitionChange] = (), *, stored: bool = False) -> Comparison:
    """Compare two runs under head's policy. Pure: whether base was run now or loaded makes no difference.

    `stored`: no trial could have been asked for to confirm what was seen, so the detection table must not promise it.
    """
    base_trials, head_trials = base.as_side("base").trials, head.as_side("head").trials
    past = () if stored else base.history
    state = start(_rows(base, head), head.policy, outcomes_by_row(past), stored=stored)
    state = observe(state, (*base_trials, *head_trials))
    conclusions = conclude(state)
    past_of, base_of, head_of = _by_row(past), _by_row(_in_order(base_trials)), _by_row(_in_order(head_trials))
    sides = [
        RowTrials(past_of[entry.row.key] if entry.history[1] else (), base_of[entry.row.key], head_of[entry.row.key])
        for entry in state.rows
    ]
    metrics = _metrics(sides, conclusions)
    rows = tuple(
        _row(entry.row, said, trials, head, metrics)
        for entry, said, trials in zip(state.rows, conclusions, sides, strict=True)
    )
    return Comparison(
        rows=rows,
        suite=_suite(rows, state).model_copy(update={"metrics": metrics}),
        definitions=(*_green_by_change(head_trials), *definitions, *_changed_since(base, head, definitions)),
        excluded_share=_excluded_share((*base_trials, *head_trials)),
        warnings=(
            *_interrupted(base, head),
            *_warnings(conclusions, stored),
            *doubts(rows, (*base_trials, *head_trials)),
        ),
    )


# --- which rows, which trials


def _rows(base: Run, head: Run) -> tuple[RunRow, ...]:
    """Head's rows, then those that only base has."""
    base_keys, head_keys = {row.key for row in base.rows}, {row.key for row in head.rows}
    tried = {trial.key for trial in base.trials}
    return (
        *(_placed(row, row.key in base_keys, row.key in tried) for row in head.rows),
        *(row.model_copy(update={"presence": "removed"}) for row in base.rows if row.key not in head_keys),
    )


def _placed(row: RunRow, in_base: bool, tried_on_base: bool) -> RunRow:
    """Head's row as it stands in this comparison: a stored run may know it from another one."""
    if row.presence == "both" and not in_base:
        return row.model_copy(update={"presence": "added"})
    if row.presence == "added" and tried_on_base:
        return row.model_copy(update={"presence": "both"})
    return row


def outcomes_by_row(past: Sequence[PastTrial]) -> dict[RowKey, list[bool]]:
    """Whether each of a row's earlier base trials passed, the oldest first."""
    return {key: [trial.decides == "pass" for trial in trials] for key, trials in _by_row(past).items()}


def _by_row(trials: Sequence[T]) -> defaultdict[RowKey, list[T]]:
    by_row: defaultdict[RowKey, list[T]] = defaultdict(list)
    for trial in trials:
        by_row[trial.key].append(trial)
    return by_row


def _in_order(trials: Trials) -> list[TrialResult]:
    return sorted(trials, key=lambda trial: trial.index)


def _green_by_change(trials: Trials) -> Iterator[DefinitionChange]:
    """Scenarios that pass only because they were changed."""
    for scenario in dict.fromkeys(trial.scenario for trial in trials if trial.only_by_change):
        own = [trial for trial in trials if trial.scenario == scenario and trial.decides is not None]
        count = sum(trial.only_by_change for trial in own)
        detail = f"passes only because the scenario was changed: {count} of {len(own)} trials on head"
        yield DefinitionChange(scenario=scenario, kind="changed", detail=detail, loosened=True)


def _changed_since(base: Run, head: Run, known: Sequence[DefinitionChange]) -> Iterator[DefinitionChange]:
    """Scenarios whose definition is not the same in both runs, unless the change is known already."""
    before = {row.key: row.definition for row in base.rows}
    named = {change.scenario for change in known}
    for row in head.rows:
        if row.scenario not in named and before.get(row.key, row.definition) != row.definition:
            named.add(row.scenario)
            yield DefinitionChange(
                scenario=row.scenario, kind="changed", detail="the two runs used different definitions of it"
            )


def _excluded_share(trials: Trials) -> float:
    """Trials without an outcome for a reason that is neither side's doing."""
    excluded = sum(trial.decides is None and trial.not_measured not in SETUP_KINDS for trial in trials)
    return excluded / len(trials) if trials else 0.0


def _interrupted(*runs: Run) -> Iterator[str]:
    for run in runs:
        if run.interrupted:
            yield f"the run of {run.revision.ref} was interrupted: only the trials that had finished are compared"


def _warnings(conclusions: Sequence[Conclusion], stored: bool) -> Iterator[str]:
    if stored:
        yield "a one-shot comparison of stored runs: no trial could be asked for to confirm what was seen"
    for said in conclusions:
        yield from (f"{said.key.scenario} × {said.key.agent}: {warning}" for warning in said.warnings)


# --- one row


def _row(row: RunRow, said: Conclusion, trials: RowTrials, run: Run, metrics: Mapping[str, MetricChange]) -> Row:
    past, base, head = trials
    return Row(
        scenario=row.scenario,
        agent=row.agent,
        state=said.state,
        reason=said.reason,
        kind=said.kind,
        not_measured=said.not_measured,
        purpose=row.purpose,
        source=row.source,
        deterministic=said.deterministic,
        one_shot=said.one_shot,
        fingerprint=row.fingerprint,
        base=_base_counts(base, _counts(past)),
        head=_head_counts(head),
        effect=_effect(said, base, head),
        **_pass_rates(_in_phases(base, "screen"), _in_phases(head, "screen")),
        metrics=_row_metrics(metric_changes((*past, *base), head), metrics),
        gates=gate_table(base, head),
        judge=judge_change(
            base, head, [pair for pair in run.pairs if (pair.scenario, pair.agent) == (row.scenario, row.agent)]
        ),
        evidence=find_evidence(said, base, head, run.revision),
    )


def _counts(trials: Measured) -> Counts:
    """Passes and trials, of the measured ones."""
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
    (head_pass, head_n), (base_pass, base_n) = said.compared or (_counts(head), _counts(base))
    if not (base_n and head_n):
        return None
    return Effect(
        difference=head_pass / head_n - base_pass / base_n,
        interval=newcombe(head_pass, head_n, base_pass, base_n),
        p=said.p,
        level=said.level,
    )


def _pass_rates(base: Trials, head: Trials) -> dict[Literal["pass_at_k", "pass_hat_k"], dict[str, OfSides]]:
    """pass@k and pass^k for k = 1 and for k = n, of screening trials: those that were added later were chosen."""
    counts: dict[Literal["base", "head"], Counts] = {"base": _counts(base), "head": _counts(head)}
    most = max(n for _, n in counts.values())
    at: dict[str, OfSides] = {}
    hat: dict[str, OfSides] = {}
    for k in sorted({1, most}) if most else ():
        at[str(k)] = {side: pass_at_k(c, n, k) if k <= n else None for side, (c, n) in counts.items()}
        hat[str(k)] = {side: pass_hat_k(c, n, k) if k <= n else None for side, (c, n) in counts.items()}
    return {"pass_at_k": at, "pass_hat_k": hat}


# --- metrics


def _metrics(sides: Sequence[RowTrials], conclusions: Sequence[Conclusion]) -> dict[str, MetricChange]:
    """The metrics over the suite: of screening trials, since later ones were chosen; none where base has moved."""
    if any(said.base_moved for said in conclusions):
        return {}
    return compared_metrics(
        [RowTrials(past, _in_phases(base, "screen"), _in_phases(head, "screen")) for past, base, head in sides]
    )


def _row_metrics(own: dict[str, MetricChange], suite: Mapping[str, MetricChange]) -> dict[str, MetricChange]:
    """The row's own means, with what the test over the suite says; a row warns if it changed as the suite did."""
    return {name: _judged(name, change, suite[name]) if name in suite else change for name, change in own.items()}


def _judged(name: str, own: MetricChange, suite: MetricChange) -> MetricChange:
    ratio = own.head / own.base if own.head is not None and own.base else None
    shown = own.model_copy(update={"effect": ratio}) if suite.scale == "ratio" else own
    warns = suite.warns and is_worse(name, shown, RULES[name].margin)
    return own.model_copy(update={"q": suite.q, "warns": warns})


# --- the suite


def _suite(rows: Sequence[Row], state: State) -> SuiteEffect:
    """Means over the rows that were measured on both sides; a deterministic row has no chance error of its own."""
    both = [(row, entry) for row, entry in zip(rows, state.rows, strict=True) if row.base.trials and row.head.trials]
    if not both:
        return SuiteEffect()
    difference, interval = mean_difference([_difference(row) for row, _ in both])
    finding = suite_finding(state)
    return SuiteEffect(
        base_rate=sum(row.base.passes / row.base.trials for row, _ in both) / len(both),
        head_rate=sum(row.head.passes / row.head.trials for row, _ in both) / len(both),
        difference=difference,
        interval=interval,
        detection=_detection(both, state),
        state=_suite_state(finding),
        p=finding and (finding.midp if finding.p is None else finding.p),
        level=finding and finding.level,
    )


def _suite_state(finding: SuiteFinding | None) -> Literal["ok", "suspicious", "regressed"] | None:
    if finding is None:
        return None
    if finding.regressed:
        return "regressed"
    return "suspicious" if finding.hit and finding.p is None else "ok"


def _detection(both: Sequence[tuple[Row, RowSeen]], state: State) -> dict[str, float]:
    """Flaky rows, and those that the run's end cut short, are left out: nothing of theirs would have been named."""
    steady = [(row, entry) for row, entry in both if row.state != "flaky" and not entry.cut_short]
    return detection(
        tested=[(row.head.trials, row.base.trials) for row, _ in steady if row.one_shot],
        repeated=[_would_confirm(row, entry, state.stored) for row, entry in steady if row.deterministic],
        screened=[
            Screening(row.head.screen[1], entry.history[1] > 0, entry.most)
            for row, entry in steady
            if not (row.one_shot or row.deterministic)
        ],
        alpha=state.policy.alpha,
    )


def _difference(row: Row) -> tuple[float, Interval]:
    counts = row.head.passes, row.head.trials, row.base.passes, row.base.trials
    difference = row.head.passes / row.head.trials - row.base.passes / row.base.trials
    return difference, (difference, difference) if row.deterministic else newcombe(*counts, SUITE_CONFIDENCE)


def _would_confirm(row: Row, entry: RowSeen, stored: bool) -> bool:
    """Whether a scenario that had stopped working would have been confirmed."""
    if stored:
        return row.head.trials >= HEAD_TRIALS and row.base.trials >= BASE_TRIALS
    return entry.confirmable
