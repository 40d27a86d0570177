"""The words of rows' reasons, of what would settle a row, and of the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from tidegate.decide.comparison.metric_tests import Q
from tidegate.decide.comparison.whole_suite import cannot_guard, fails_from_the_start
from tidegate.decide.verdict import MOST_EXCLUDED, Decision, present
from tidegate.model.comparison import Comparison, Overuse, Row
from tidegate.model.result import Verdict
from tidegate.model.run_row import Counts, Reason, ReplayFinding
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import SETUP_KINDS, NotMeasured
from tidegate.reports.interface_text import headlines
from tidegate.reports.replay_text import why_run_text
from tidegate.text.scores import p_text
from tidegate.text.shorten import few

SETUP_WORDS: dict[NotMeasured | None, str] = {
    "setup": "the setup",
    "health_check": "the health check",
    "build": "the build",
    "refused_request": "the agent's request to its model",
}


def reason_text(state: RowState, why: Reason, replay: ReplayFinding | None = None) -> str:
    """Return the sentence. It claims of no row that nothing regressed, only that nothing was detected."""
    if why.code in ("replayed", "replay_differs", "no_agent"):
        return _REPLAYED[why.code](why, replay)
    if why.code in _TESTED:
        return _TESTED[why.code](state, why) + _lost_beside(why)
    return _SENTENCES[why.code](why)


def reason_of(row: Row) -> str:
    """Return the row's sentence, from its reason if it is known."""
    return row.reason if row.why is None else reason_text(row.state, row.why, row.replay)


def clears_text(state: RowState, why: Reason) -> str:
    """Return what would clear the row; '' if nothing special would."""
    match why.code, state:
        case "repeats", "regressed":
            return _to_pass(why) if why.carried else ""
        case "one_shot", "regressed" | "unconfirmed":
            return "its trials pass on head about as often as on base"
        case "screened", "unconfirmed":
            return "its head trials pass again"
        case "pairs", "regressed":
            return "its fresh trials pass on head about as often as on base"
        case "pairs", "unconfirmed":
            return _settle_pairs(why)
        case "lost" | "some_lost", _:
            setup = SETUP_WORDS.get(why.cause)
            return f"{setup} succeeds on head" if setup else "its trials have an outcome on head"
        case "mended_at_tip", _:
            return f"{why.branch} is merged into this branch, and it passes"
        case _:
            return _CLEARS.get(why.code, "")


_CLEARS = {
    "replay_differs": "an agent passes",
    "base_fails": "base passes again, it passes on head, or the history records that base fails",
    "never_passes": "a trial on head passes",
    "unused_tool": "a trial on head uses the tool",
    "replaced_files": "the build leaves these files alone",
    "other_program": "both are the same program",
    "cut_short": "the budget allows all trials",
}


def _of(counts: Counts | None, trials: str = "", where: str = "") -> str:
    passes, number = counts or (0, 0)
    return f"{passes} of {number}{trials} on {where}"


def _passes(why: Reason, fresh: str = "") -> str:
    """Return `passes 0 of 3 trials on head, 2 of 2 on base`."""
    base = f", {_of(why.base, where='base')}" if why.base is not None else ""
    return f"passes {_of(why.head, f'{fresh} trials', 'head')}{base}"


def _test(why: Reason) -> str:
    known = why.p is not None and why.limit is not None
    return f" (p = {p_text(why.p or 0.0)}, limit {p_text(why.limit or 0.0)})" if known else ""


def _nothing(state: RowState, why: Reason) -> str:
    if state == "flaky":
        return f"no regression detected, base itself fails often: {_passes(why)}"
    (head, head_n), (base, base_n) = why.head or (0, 0), why.base or (0, 0)
    if head_n and base_n and not head + base:
        return f"no regression detected; fails on both sides: {_passes(why)}"
    return f"no regression detected: {_passes(why)}"


# --- trials without an outcome


def _what(why: Reason) -> str:
    """Return `the setup fails`, or `no outcome (record lost: the list of calls is empty)`."""
    if why.cause in SETUP_KINDS:
        said = f" ({why.detail})" if why.cause == "refused_request" and why.detail else ""
        return f"{SETUP_WORDS[why.cause]} fails{said}"
    return f"no outcome ({_words(why.cause)}{_detail(why)})"


def _detail(why: Reason) -> str:
    """Return what follows the cause, which the trial's reason may begin with."""
    detail = why.detail.removeprefix(f"{why.cause}: ")
    return f": {detail}" if detail else ""


def _words(cause: NotMeasured | None) -> str:
    return (cause or "unfinished").replace("_", " ")


def _lost_beside(why: Reason) -> str:
    """Return how many of head's trials count as failed, as they have no outcome."""
    number, total = why.lost
    if not number or why.code == "repeats":
        return ""
    return f"; {_what(why)} in {number} of {total} trials on head, which count as failed"


def _lost(why: Reason) -> str:
    number, total = why.lost
    base = (why.base or (0, 0))[1]
    return f"{_what(why)} in {number} of {total} trials on head, in 0 of {base} on base{_needs(why)}"


def _unmeasured(why: Reason) -> str:
    if why.cause == "unfinished" and not why.detail:
        return "not tried: the run ended before"
    return f"no trial was measured on {' or '.join(why.sides)} ({why.cause}{_detail(why)})"


# --- what decided


def _needs(why: Reason) -> str:
    """Return why a flip is not confirmed; '' if it is."""
    if why.needs is None:
        return ""
    head, base = why.needs
    rule = f"; not confirmed: that takes {head} such trials on head and {base} on base"
    return f"{rule}, but trials.max allows {why.most} on head" if why.most is not None and why.most < head else rule


def _to_pass(why: Reason) -> str:
    return f"at least {why.enough} of its trials pass on head"


def _repeats(state: RowState, why: Reason) -> str:
    if state == "ok":
        return f"{_nothing(state, why)}{_needs(why)}"
    if why.carried:
        measured = (why.head or (0, 0))[1] and (why.base or (0, 0))[1]
        shown = f"{_passes(why)}; this takes {_to_pass(why)}" if measured else "no trial was measured on a side"
        return f"regressed in an earlier run, and is not shown to be fixed: {shown}"
    lost = f"; {_what(why)} in {why.lost[0]} more" if why.lost[0] else ""
    return f"{_passes(why)}{lost}{_needs(why)}"


def _one_shot(state: RowState, why: Reason) -> str:
    if state == "improved":
        return _passes(why)
    if state in ("ok", "flaky"):
        return _nothing(state, why)
    return f"{_passes(why)}{_test(why)}" + (
        ": this may be noise; more trials may settle it" if state == "unconfirmed" else ""
    )


def _screened(state: RowState, why: Reason) -> str:
    cut = f"; the {why.ended} ended after {why.done[0]} of {why.done[1]} trials" if why.done else ""
    if state == "improved":
        return _passes(why)
    if state != "unconfirmed":
        return f"{_nothing(state, why)}{cut}"
    if why.done and not why.ended:
        return f"looks worse: {_passes(why)}; {why.done[0]} of {why.done[1]} trials on head were measured"
    if cut:
        return f"looks worse: {_passes(why)}{cut}"
    return f"{_passes(why)}: looks worse, but the {why.ended} ended before it was confirmed"


def _pairs(state: RowState, why: Reason) -> str:
    numbers = f"{_passes(why, ' fresh')}{_test(why)}"
    if why.carried:
        return f"regressed at an earlier push, and is not shown to be fixed: {numbers}"
    if state == "regressed":
        return f"{numbers}, verified in a second batch"
    if state == "ok":
        return f"no regression detected: looked worse at first, but not on fresh trials: {numbers}"
    again = ", but the second batch does not show it again" if why.reached else ": this may be noise"
    return f"{numbers}{again}; {_settle_pairs(why)}"


def _settle_pairs(why: Reason) -> str:
    if why.ended:
        return "the budget ended before it was confirmed; raise `budget`, or run again to go on"
    if why.enough is not None:
        return f"trials.max ended the test; set it to at least {why.enough} for this scenario"
    return "more trials of it may settle it: push again, or run `tidegate run` on both sides"


def _base_fails(why: Reason) -> str:
    base, past, head = ("{} of {}".format(*(counts or (0, 0))) for counts in (why.base, why.past, why.head))
    return (
        f"base passes {base} trials in this run, but {past} in its history, and head passes {head}: unknown whether"
        " head is worse, as something that it left behind may make base fail"
    )


def _mended(why: Reason) -> str:
    passes, trials = why.tip
    there = f"passes in {passes} of {trials} trials at the tip of {why.branch}"
    there = there if passes else f"not tried at {why.branch}"
    return f"passes in no trial on head and none at the merge base; {there}: merge {why.branch} into this branch"


# --- rows for which no agent was run


def _replayed(_: Reason, replay: ReplayFinding | None) -> str:
    assert replay is not None
    return (
        f"{replay.same} recorded sessions of base replay alike on both sides, in all {replay.steps} steps; no agent was"
        f" run (chance that a new session does something that none of them did: {replay.unseen:.0%})"
    )


def _differs(_: Reason, replay: ReplayFinding | None) -> str:
    assert replay is not None
    assert replay.difference is not None
    gates = f"; in a replay on head fails: {', '.join(replay.failing)}" if replay.failing else ""
    where = f"{replay.differing} of {replay.same + replay.differing} recorded sessions differ on head"
    step = f"at `{replay.difference.step}` ({replay.difference.base} → {replay.difference.head})"
    return f"needs an agent to confirm it: {where}, first {step}{gates}"


def _no_agent(why: Reason, replay: ReplayFinding | None) -> str:
    if replay is None:
        said = "base has no recorded session of it"
    else:
        said = "a spot check of another row looks worse" if why.doubted else why_run_text(replay)
    return f"no agent may be run ({_words(why.cause)}), and {said}"


_REPLAYED: dict[str, Callable[[Reason, ReplayFinding | None], str]] = {
    "replayed": _replayed,
    "replay_differs": _differs,
    "no_agent": _no_agent,
}
_TESTED: dict[str, Callable[[RowState, Reason], str]] = {
    "repeats": _repeats,
    "one_shot": _one_shot,
    "screened": _screened,
    "pairs": _pairs,
}
_SENTENCES: dict[str, Callable[[Reason], str]] = {
    "removed": lambda why: "is no longer in the suite",
    "added": lambda why: f"new in the suite; {_passes(why)}",
    "lost": _lost,
    "base_lost": lambda why: f"{_what(why)} on base alone, so there is nothing to compare with; {_passes(why)}",
    "unmeasured": _unmeasured,
    "key_refused": lambda why: "the agent's key was refused ({}) in {} of {} trials".format(why.detail, *why.lost),
    "some_lost": lambda why: "{} in {} of {} trials on head and {} on base; {}".format(
        _what(why), *why.lost, "less often" if why.cause in ("outage", "judge") else "never", _passes(why)
    ),
    "base_fails": _base_fails,
    "never_passes": lambda why: f"{_passes(why)}: what head does may make base fail now and then, too",
    "unused_tool": lambda why: (
        f"no trial on head uses the tool under test, but all {why.uses} passing trials on base do"
    ),
    "replaced_files": lambda why: (
        f"head's build replaces files of the commit, which are then not what is tested: {few(why.files)}"
    ),
    "other_program": lambda why: f"head's `path` finds {why.files[0] or 'nothing'}, and {why.files[1]} was tested",
    "cut_short": lambda why: f"the budget ended before all of its trials; {_passes(why)}",
    "mended_at_tip": _mended,
}


_NAMED, _LONGEST = 3, 100  # limits for naming rows in the summary: number of rows, total characters
_COMPARED: tuple[RowState, ...] = ("ok", "improved", "flaky", "baseline_changed")
_BAD_NEWS: dict[str, str] = {
    "regressed": "regressed",
    "not_measured": "could not be measured",
    "unconfirmed": "may have regressed",
    "base_fails": "failed on base, too, although its history passes",
}
_OTHER_NEWS: dict[RowState, str] = {
    "improved": "improved",
    "flaky": "flaky",
    "baseline_changed": "changed on base too",
    "not_comparable": "not comparable",
    "added": "new",
    "removed": "removed",
    "unchanged": "unchanged by replay",
}


_SUITE_NEWS = {
    "regressed": "the suite as a whole regressed",
    "unconfirmed": "the suite as a whole looks a little worse, not confirmed",
}


def verdict_of(comparison: Comparison, decision: Decision) -> Verdict:
    """Return the verdict, with all that it says."""
    summary = _summary(comparison, decision)
    overuse, rows, fewer, metrics, left_out = _reasons(comparison, decision)
    interfaces = [said for one in decision.interfaces if one.blocks for said in headlines(one)]
    warned = [name for name in decision.metrics if comparison.suite.metrics[name].warns]
    own = [text for name, text in metrics.items() if name not in warned]
    return Verdict(
        state=decision.state,
        reason=decision.reason,
        exit_code=decision.exit_code,
        summary=summary,
        reasons=(*overuse, *rows, *fewer, *metrics.values(), *interfaces, *left_out),
        own_reasons=tuple(text for text in (*overuse, *own, *left_out) if text not in summary),
        mode=decision.mode,
        would_block=decision.would_block,
        red=decision.red,
    )


def _summary(comparison: Comparison, decision: Decision) -> str:
    """Return the verdict's summary in one line."""
    rows = comparison.rows
    states = Counter[str]("base_fails" if row.kind == "base_fails" else row.state for row in rows)
    if (nothing := _nothing_run(decision, rows)) is not None:
        return nothing
    blocked = {
        "checks_less": f"{_number(len(decision.fewer), 'change')} to what is checked",
        "interface": "the tool's interface or its docs changed in a way that the policy blocks",
        "metric": "a metric got worse by more than the policy allows",
    }
    parts = [said for reason, said in blocked.items() if reason == decision.reason]
    if (suite := comparison.suite.state) in ("regressed", "unconfirmed"):
        parts.append(_SUITE_NEWS[suite])
    if decision.reason == "nothing_passes":
        return _nothing_passes(len(decision.rows), rows)
    parts += _bad_news(rows, states, "no single row regressed" if suite in _SUITE_NEWS else "nothing regressed")
    if comparison.excluded_share > MOST_EXCLUDED:
        parts.append(_left_out(comparison))
    if states["regressed"] and decision.reason not in ("regression", "setup_regression"):
        parts.append("not blocked by the policy")
    parts += _cannot_fail(rows)
    parts += [f"{states[state]} {words}" for state, words in _OTHER_NEWS.items() if states[state]]
    parts += _opinions(rows)
    if useless := sum(map(cannot_guard, rows)):
        parts.append(f"{useless} passing on neither side")
    if failing := sum(map(fails_from_the_start, rows)):
        parts.append(f"{failing} new that no trial passes")
    return "; ".join(parts)


def _nothing_run(decision: Decision, rows: Sequence[Row]) -> str | None:
    """Return the summary of a run in which nothing was measured; None of any other."""
    if decision.reason == "nothing_to_do":
        return "nothing changed that an agent could notice"
    if decision.reason == "no_scenarios":
        return "there is no scenario to run"
    return f"none of {_things(len(present(rows)), rows)} could be measured" if decision.state == "not_run" else None


def _nothing_passes(count: int, rows: Sequence[Row]) -> str:
    suite = len(present(rows))
    if count == suite:
        return f"none of {_things(count, rows)} passes on either side, so none can show a regression"
    return f"{count} of {_things(suite, rows)} pass on neither side, so these cannot show a regression"


def _cannot_fail(rows: Sequence[Row]) -> list[str]:
    """Report rows without a required check: they pass whatever the agent does."""
    suite = present(rows)
    count = sum(not row.can_fail for row in suite)
    if count == len(suite) > 0:
        return ["no scenario has a required check, so none can fail"]
    have = "has" if count == 1 else "have"
    return [f"{count} of {_things(len(suite), rows)} {have} no required check and cannot fail"] if count else []


def _opinions(rows: Sequence[Row]) -> list[str]:
    """Count the rows that the judge rates lower or could not judge; these counts do not affect the verdict."""
    judged = [row.judge for row in rows if row.judge]
    lower, unknown = (
        sum(one.warns for one in judged),
        sum(bool(one.base.not_judged + one.head.not_judged) for one in judged),
    )
    news = ((lower, "rated lower by the judge"), (unknown, "that the judge could not judge"))
    return [f"{count} {words}" for count, words in news if count]


def _bad_news(rows: Sequence[Row], states: Mapping[str, int], quietly: str) -> list[str]:
    """Return what went wrong, worst first. `quietly` says that nothing did, and counts only rows that were compared."""
    number = len(rows) - states["removed"]
    news = [(states[state], words + _named(rows, state)) for state, words in _BAD_NEWS.items() if states[state]]
    parts = [f"{count} {words}" for count, words in news]
    if news:
        count, words = news[0]
        parts[0] = f"{'the only scenario' if number == 1 else f'{count} of {_things(number, rows)}'} {words}"
    quiet = sum(states[state] for state in _COMPARED)
    if not states["regressed"] and quiet:
        parts.append(f"{quietly} in {'the others' if parts else _things(quiet, rows)}")
    return parts or ["nothing to compare with"]


def _named(rows: Sequence[Row], state: str) -> str:
    """Return the names of regressed rows, as ` (add, list)`; '' for other states, or if they are many or long."""
    names = [_name(row, rows) for row in rows if row.state == state]
    text = ", ".join(names)
    return f" ({text})" if state == "regressed" and len(names) <= _NAMED and len(text) <= _LONGEST else ""


def _name(row: Row, rows: Sequence[Row]) -> str:
    return row.scenario if _one_agent(rows) else str(row.key)


def _reasons(
    comparison: Comparison, decision: Decision
) -> tuple[list[str], list[str], list[str], dict[str, str], list[str]]:
    """Return a sentence for each use of the budget, row, definition change and metric that led to the decision."""
    by_head = decision.reason == "unproven" and any(
        row.kind == "cut_short" or row.not_measured in ("budget", "judge") for row in decision.rows
    )
    overuse = [*map(overuse_text, comparison.used_by_head)] if by_head else []
    rows = [f"{_name(row, comparison.rows)}: {reason_of(row)}" for row in decision.rows]
    if decision.state == "failed":
        fewer = [f"{change.scenario or change.agent or 'suite'}: {change.detail}" for change in decision.fewer]
        return overuse, rows, fewer, {name: _metric(comparison, name) for name in decision.metrics}, []
    left_out = [_left_out(comparison)] if comparison.excluded_share > MOST_EXCLUDED else []
    return overuse, rows, [], {name: _metric(comparison, name) for name in decision.metrics}, left_out


def overuse_text(use: Overuse) -> str:
    """Return of what head used so much more than base."""
    base, limit = (f"{amount:,.{0 if amount >= 100 else 2}f}".removesuffix(".00") for amount in (use.base, use.limit))
    if use.what == "judge":
        return f"the judge costs ${base} for base's trials, and it cost ${limit} in all"
    if use.what == "s" and not use.base:
        return f"no history of base shows that base takes the budget's {limit} s, too"
    return f"at base's rate, as far as it is known, all trials take {base} of the budget's {limit} {use.what}"


def _metric(comparison: Comparison, name: str) -> str:
    change = comparison.suite.metrics[name]
    if change.missing and (change.q is None or change.q > Q):
        return f"{name}: no value in {_number(change.missing, 'trial')} of head; base's have one"
    return f"{name}: {change.base:.3g} on base, {change.head:.3g} on head (q = {change.q:.2g})"


def _left_out(comparison: Comparison) -> str:
    return f"{comparison.excluded_share:.0%} of the trials could not be measured"


def _things(count: int, rows: Sequence[Row]) -> str:
    """Return `4 scenarios`, or `4 scenario × agent rows` if the run has more than one agent."""
    return _number(count, "scenario" if _one_agent(rows) else "scenario × agent row")


def _one_agent(rows: Sequence[Row]) -> bool:
    return len({row.agent for row in rows}) <= 1


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
