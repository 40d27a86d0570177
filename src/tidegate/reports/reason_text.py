"""The words of a row's reason, and of what would settle the row."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.model.comparison import Counts, Reason, Row
from tidegate.model.run_row import RowReplay
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import SETUP_KINDS, NotMeasured
from tidegate.text.scores import p_text
from tidegate.text.shorten import few

SETUP_WORDS: dict[NotMeasured | None, str] = {
    "setup": "the setup",
    "health_check": "the health check",
    "build": "the build",
    "refused_request": "the agent's request to its model",
}


def reason_text(state: RowState, why: Reason, replay: RowReplay | None = None) -> str:
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
            settle = f"; {_settle(why)}" if state == "unconfirmed" else ""
            return f"at least {why.enough} of {(why.head or (0, 0))[1]} trials pass on head{settle}"
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
    "unused_tool": "a trial on head uses the tool",
    "replaced_files": "the build leaves these files alone",
    "other_program": "both are the same program",
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
    return f"no outcome ({_words(why.cause)}{f': {why.detail}' if why.detail else ''})"


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
    detail = why.detail.removeprefix(f"{why.cause}: ")
    return f"no trial was measured on {' or '.join(why.sides)} ({why.cause}{f': {detail}' if detail else ''})"


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
        return f"regressed in an earlier run, and is not shown to be fixed: {_passes(why)}; this takes {_to_pass(why)}"
    lost = f"; {_what(why)} in {why.lost[0]} more" if why.lost[0] else ""
    return f"{_passes(why)}{lost}{_needs(why)}"


def _one_shot(state: RowState, why: Reason) -> str:
    if state == "improved":
        return _passes(why)
    if state in ("ok", "flaky"):
        return _nothing(state, why)
    return f"{_passes(why)}{_test(why)}" + (f": this may be noise; {_settle(why)}" if state == "unconfirmed" else "")


def _settle(why: Reason) -> str:
    if why.settle is None:
        return "at these rates more than 200 trials per side are needed"
    return f"at these rates {why.settle} trials per side are needed"


def _screened(state: RowState, why: Reason) -> str:
    cut = f"; the {why.ended} ended after {why.done[0]} of {why.done[1]} trials" if why.done else ""
    if state == "improved":
        return _passes(why)
    if state != "unconfirmed":
        return f"{_nothing(state, why)}{cut}"
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


def _replayed(_: Reason, replay: RowReplay | None) -> str:
    assert replay is not None
    return (
        f"{replay.same} recorded sessions of base replay alike on both sides, in all {replay.steps} steps; no agent was"
        f" run (chance that a new session does something that none of them did: {replay.unseen:.0%})"
    )


def _differs(_: Reason, replay: RowReplay | None) -> str:
    assert replay is not None
    assert replay.difference is not None
    gates = f"; in a replay on head fails: {', '.join(replay.failing)}" if replay.failing else ""
    where = f"{replay.differing} of {replay.same + replay.differing} recorded sessions differ on head"
    step = f"at `{replay.difference.step}` ({replay.difference.base} → {replay.difference.head})"
    return f"needs an agent to confirm it: {where}, first {step}{gates}"


def _no_agent(why: Reason, replay: RowReplay | None) -> str:
    if replay is None:
        said = "base has no recorded session of it"
    else:
        said = "a spot check of another row looks worse" if why.doubted else replay.why_run
    return f"no agent may be run ({_words(why.cause)}), and {said}"


_REPLAYED: dict[str, Callable[[Reason, RowReplay | None], str]] = {
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
    "some_lost": lambda why: (
        f"{_what(why)} in {why.lost[0]} of {why.lost[1]} trials on head and never on base; {_passes(why)}"
    ),
    "base_fails": _base_fails,
    "unused_tool": lambda why: (
        f"no trial on head uses the tool under test, but all {why.uses} passing trials on base do"
    ),
    "replaced_files": lambda why: (
        f"head's build replaces files of the commit, which are then not what is tested: {few(why.files)}"
    ),
    "other_program": lambda why: f"head's `path` finds {why.files[0] or 'nothing'}, and {why.files[1]} was tested",
    "mended_at_tip": _mended,
}
