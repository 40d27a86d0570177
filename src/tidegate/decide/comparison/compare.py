"""Compare the runs of base and head, row by row and as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Literal

from tidegate.decide.comparison.judge_change import Scored, with_judge_tests
from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.comparison.one_row import row_of, suite_metrics
from tidegate.decide.comparison.whole_suite import doubts, shows_little, suite_effect, with_power
from tidegate.decide.procedure.observed import Past, kind_of_end
from tidegate.decide.procedure.row_states import GREEN, Conclusion
from tidegate.decide.procedure.rules import LEAST_HISTORY
from tidegate.decide.procedure.steps import State, conclude, observe, start
from tidegate.decide.procedure.suite_gate import history_holds
from tidegate.decide.statistics.rates import fisher_less
from tidegate.model.comparison import Comparison, DefinitionChange, Note, Overuse
from tidegate.model.measurement import PastTrial, Run, TrialResult, by_row, files_of_passes
from tidegate.model.plan import RowKey
from tidegate.model.run_row import RunRow
from tidegate.model.trial_spec import SETUP_KINDS

AnyTrial = PastTrial | TrialResult
Amount = Callable[[AnyTrial], float | None]
_Limit = tuple[Literal["s", "US dollars", "tokens", "trials"], float | None, Callable[[RowTrials], float], int]


def used_by_head(
    head: Run, rows: Mapping[RowKey, RowTrials], shares: Iterable[Iterable[RowKey]] = ()
) -> tuple[Overuse, ...]:
    """Return why head can have ended the budget; nothing if base's trials on both sides would have ended it, too.

    `rows`: those that base has. Of time, only trials apart from a pull request show that: head can keep base waiting.
    `shares`: each shard's rows. A shard has its part of the budget, by number of trials: here, by that of base's rows.
    """
    parts = [[rows[key] for key in keys if key in rows] for keys in shares] or [list(rows.values())]
    asked = sum(map(_asked, rows.values())) or 1
    found: dict[Overuse, None] = {}
    for sides in parts:
        if any(trial.not_measured == "budget" for side in sides for trial in (*side.base, *side.head)):
            found |= dict.fromkeys(_why(head, sides, sum(map(_asked, sides)) / asked))
        found |= dict.fromkeys(_of_judge(sides))
    return tuple(found)


def _why(head: Run, sides: Sequence[RowTrials], part: float) -> Iterator[Overuse]:
    """Yield what base would have used of each limit, as far as that is known, for all trials that were asked for.

    Nothing if it would have exceeded one that can have ended the run.
    """
    found: list[Overuse] = []
    budget = head.budget
    limits: tuple[_Limit, ...] = (
        ("s", 60 * budget.minutes if budget.minutes else None, partial(_mean, _seconds), head.slots),
        ("US dollars", budget.usd, partial(_mean, lambda one: one.metrics.cost_usd), 1),
        ("tokens", budget.tokens, partial(_mean, _tokens), 1),
        ("trials", budget.trials, lambda _: 1.0, 1),
    )
    for name, limit, of_base, share in limits:
        if limit is None:
            continue
        limit = limit if name == "s" else limit * part
        expected = sum(of_base(side) * _asked(side) for side in sides) / share
        if expected > limit and (name != "trials" or _ran(sides) >= limit):
            return
        found.append(Overuse(what=name, base=expected, limit=limit))
    yield from found


def _ran(sides: Sequence[RowTrials]) -> int:
    return sum(one.not_measured != "budget" for side in sides for one in (*side.base, *side.head) if not one.reused)


def _asked(side: RowTrials) -> int:
    """Return how many trials the screening of both sides asked for; further ones are head's doing."""
    return sum(not trial.reused and trial.phase == "screen" for trial in (*side.base, *side.head))


def _mean(of: Amount, side: RowTrials) -> float:
    """Return what a trial of the row used on base, now or before; 0 if that is not known, since it may be nothing."""
    trials: tuple[AnyTrial, ...] = (*side.past, *side.base)
    known = [amount for trial in trials if trial.decides and (amount := of(trial)) is not None]
    return fmean(known) if known else 0.0


def _seconds(trial: AnyTrial) -> float | None:
    return trial.seconds if isinstance(trial, PastTrial) and not trial.beside_head else None


def _tokens(trial: AnyTrial) -> float | None:
    counts = (trial.metrics.tokens_in, trial.metrics.tokens_out)
    return None if counts == (None, None) else sum(one or 0 for one in counts)


def _of_judge(sides: Sequence[RowTrials]) -> Iterator[Overuse]:
    """Yield the judge's use if its limit ended, and base's trials alone would have cost less than was paid.

    Those of an unchanged head may cost nothing: equal questions are asked once.
    """
    if not any(trial.not_measured == "judge" for side in sides for trial in side.head):
        return
    expected = sum(_mean(_of_judging, side) * len(side.base) for side in sides)
    used = sum(_of_judging(trial) or 0 for side in sides for trial in (*side.base, *side.head))
    if expected < used:
        yield Overuse(what="judge", base=expected, limit=used)


def _of_judging(trial: AnyTrial) -> float | None:
    use = trial.judge_use if isinstance(trial, TrialResult) else None
    return use.usd if use is not None and use.calls else None


MOST_BY_CHANCE = 1 / 6  # as with 2 trials a side; that agents who use the tool now and then show this difference
Trials = Sequence[TrialResult]
NEWEST = 5  # trials of the history that show whether base is known to fail


def compare(
    base: Run,
    head: Run,
    definitions: Sequence[DefinitionChange] = (),
    *,
    stored: bool = False,
    shares: Iterable[Iterable[RowKey]] = (),
) -> Comparison:
    """Return the comparison of two runs under head's policy. Pure: each run may be new or loaded from disk.

    `stored`: both runs are from disk, so no trials could be run to confirm a difference; the detection table allows
    for that. `shares`: the rows of each shard, in the merge.
    """
    base_trials, head_trials = base.as_side("base").trials, head.as_side("head").trials
    past = () if stored else base.history
    state = start(_rows(base, head), head.policy, past_by_row(past), stored=stored)
    state = observe(state, (*base_trials, *head_trials))
    head_trials = tuple(one for entry in state.rows for one in entry.of("head"))
    sides = _sides(state, past, base_trials, head_trials)
    found = zip(conclude(state), sides, strict=True)
    conclusions = tuple(doubting_passes(conclusion, trials, head.replaced) for conclusion, trials in found)
    holds = history_holds(state.played.report.rows)
    metrics = suite_metrics(sides) if holds else {}
    every = zip(state.rows, conclusions, sides, strict=True)
    rows = tuple(row_of(entry.row, one, trials, head, metrics, holds=holds) for entry, one, trials in every)
    rows = with_power(tuple(with_judge_tests(rows, list(_scored(sides, holds)))), state)
    return Comparison(
        rows=rows,
        suite=suite_effect(rows, state, holds=holds).model_copy(update={"metrics": metrics}),
        definitions=(*definitions, *_changed_since(base, head, definitions)),
        excluded_share=_excluded_share((*base_trials, *head_trials)),
        used_by_head=used_by_head(head, _rows_of_base(state, sides), shares),
        notes=(
            *(Note(code="interrupted", ref=run.revision.ref) for run in (base, head) if run.interrupted),
            *([Note(code="stored")] if stored else []),
            *(Note(code="demoted", rows=(one.key,)) for one in conclusions if one.demoted),
            *doubts(rows, (*base_trials, *head_trials)),
            *shows_little(rows, state.rows, head.policy.alpha),
        ),
    )


# --- rows and trials


def _sides(state: State, past: Sequence[PastTrial], base: Trials, head: Trials) -> list[RowTrials]:
    """Return the trials of each row, in order; those of the history only where it is used."""
    past_of, base_of, head_of = by_row(past), by_row(_in_order(base)), by_row(_in_order(head))
    keys = [(entry.row.key, entry.history[1] > 0) for entry in state.rows]
    return [RowTrials(past_of[key] if known else (), base_of[key], head_of[key]) for key, known in keys]


def _rows_of_base(state: State, sides: Sequence[RowTrials]) -> dict[RowKey, RowTrials]:
    """Return the trials of the rows that base has."""
    every = zip(state.rows, sides, strict=True)
    return {entry.row.key: side for entry, side in every if entry.row.presence != "added"}


def _scored(sides: Sequence[RowTrials], holds: bool) -> Iterator[tuple[Scored, Scored]]:
    """Yield the trials of each row whose scores are compared: head's, and base's with its history if that holds."""
    for past, base, head in sides:
        yield head, (*past, *base) if holds else base


def _rows(base: Run, head: Run) -> tuple[RunRow, ...]:
    """Return head's rows, then the rows that only base has, marked as removed."""
    base_keys, head_keys = {row.key for row in base.rows}, {row.key for row in head.rows}
    tried = {trial.key for trial in base.trials}
    return (
        *(_placed(_replayed_against(row, base), row.key in base_keys, row.key in tried) for row in head.rows),
        *(row.model_copy(update={"presence": "removed"}) for row in base.rows if row.key not in head_keys),
    )


def _replayed_against(row: RunRow, base: Run) -> RunRow:
    """Return the row without what replays show, if they compared head with another commit than this base."""
    known = row.replay is None or row.replay.base == base.revision.sha
    return row if known else row.model_copy(update={"replay": None})


def _placed(row: RunRow, in_base: bool, tried_on_base: bool) -> RunRow:
    """Return head's row with its presence in this comparison; a stored run may have been compared with another base."""
    if row.presence == "both" and not in_base:
        return row.model_copy(update={"presence": "added"})
    if row.presence == "added" and tried_on_base:
        return row.model_copy(update={"presence": "both"})
    return row


def past_by_row(past: Iterable[PastTrial]) -> dict[RowKey, Past]:
    """Return what base's earlier trials, oldest first, show of each row."""
    return {key: _past(trials) for key, trials in by_row(past).items()}


def _past(trials: Sequence[PastTrial]) -> Past:
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for trial in trials:
        seen[trial.sha].add(trial.decides)
    unsteady = any(len(outcomes) > 1 for outcomes in seen.values())
    apart = _passed(trial for trial in trials if not trial.beside_head)
    enough = apart if len(apart) >= LEAST_HISTORY else _passed(trials)
    newest = _passed(trial for trial in trials if trial.decides == "pass" or not trial.beside_head)
    files = files_of_passes([trial for trial in trials if trial.decides == "pass"])
    faults = frozenset(why for trial in trials for why in trial.faults)
    ends = frozenset(kind_of_end(trial.end) for trial in trials if trial.decides == "pass" and trial.end)
    return Past(_passed(trials), unsteady, (sum(enough), len(enough)), newest[-NEWEST:], files, faults, ends)


def _passed(trials: Iterable[PastTrial]) -> tuple[bool, ...]:
    return tuple(trial.decides == "pass" for trial in trials)


def _in_order(trials: Trials) -> list[TrialResult]:
    return sorted(trials, key=lambda trial: trial.index)


def _changed_since(base: Run, head: Run, known: Sequence[DefinitionChange]) -> Iterator[DefinitionChange]:
    """Yield scenarios whose definition differs between the runs, unless `known` has a change of them."""
    before = {row.key: row.definition for row in base.rows}
    named = {change.scenario for change in known}
    for row in head.rows:
        if row.scenario not in named and before.get(row.key, row.definition) != row.definition:
            named.add(row.scenario)
            yield DefinitionChange(scenario=row.scenario, effect="other")


def _excluded_share(trials: Trials) -> float:
    """Return the share of trials, 0..1, without an outcome; failed setups do not count, since a side caused them."""
    excluded = sum(trial.decides is None and trial.not_measured not in SETUP_KINDS for trial in trials)
    return excluded / len(trials) if trials else 0.0


def doubting_passes(conclusion: Conclusion, trials: RowTrials, replaced: Sequence[str] = ()) -> Conclusion:
    """Return the conclusion; as `unconfirmed` if head does not use the tool, or not base's files, or was cut short.

    `replaced`: files of the commit that head's build has replaced, so that the commit is not what was tested.
    """
    if conclusion.state not in (*GREEN, "baseline_changed", "unconfirmed"):
        return conclusion
    if uses := _only_base_uses(conclusion, trials):
        return conclusion.doubted("unused_tool", "unused", uses=uses)
    if replaced:
        return conclusion.doubted("replaced_files", "rewritten", files=tuple(replaced))
    if files := next((trial.untested for trial in trials.head if trial.untested), None):
        return conclusion.doubted("other_program", "rewritten", files=files)
    if conclusion.kind == "outcome" and any(one.not_measured == "budget" for one in (*trials.base, *trials.head)):
        return conclusion.doubted("cut_short", "cut_short")
    return conclusion


def _only_base_uses(conclusion: Conclusion, trials: RowTrials) -> int:
    """Return base's passing trials if all of them use the tool, and no trial of head does; else 0.

    Only head's passing trials are evidence: an agent that fails may have given up before it used the tool.
    """
    base = [_uses_of(trial) for trial in _of_base(trials) if trial.decides == "pass"]
    head = [_uses_of(trial) for trial in trials.head if trial.decides is not None]
    passes = sum(trial.decides == "pass" for trial in trials.head)
    if not (base and passes and all(base)) or any(count != 0 for count in head):
        return 0
    chance = 0.0 if conclusion.deterministic else fisher_less(0, passes, len(base), len(base))
    return len(base) if chance <= MOST_BY_CHANCE else 0


def _of_base(trials: RowTrials) -> tuple[PastTrial | TrialResult, ...]:
    return *trials.past, *trials.base


def _uses_of(trial: TrialResult | PastTrial) -> int | None:
    """Return how many calls ask the tool to do something; None if the calls are not known."""
    return trial.uses if isinstance(trial, PastTrial) else trial.invocations.uses
