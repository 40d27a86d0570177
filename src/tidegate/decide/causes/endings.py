"""Causes in how a step or a call ends: it fails to start, waits, hangs, crashes, exits otherwise or takes longer."""

from __future__ import annotations

import re
import signal
from collections import defaultdict
from collections.abc import Iterable

from tidegate.decide.causes.refused_names import names_option
from tidegate.decide.causes.seen import Found, Seen, options
from tidegate.model.measurement import Call, TrialResult
from tidegate.text.noise import masked
from tidegate.text.shorten import error_line

_PROMPT = re.compile(
    r"\[y(?:es)?/n(?:o)?\]|\(y(?:es)?/n(?:o)?\)|password(?: for [^:\n]*)?:|press (?:enter|return|any key)"
    r"|EOF when reading a line|EOFError|not a (?:tty|terminal)|Aborted!|are you sure",
    re.IGNORECASE,
)
CRASH = re.compile(  # an interpreter's last message: at the start of a line, or after its stack trace, which is cut out
    r"(?:^|(?<=[^:]\s))(?:\w+\.)*[A-Z]\w*(?:Error|Exception)(?:: [^\n]*|$)"
    r"|(?:^|\s)panic: [^\n]*|^thread '.*' panicked at[^\n]*|Traceback \(most recent call last\)"
    r"|Exception in thread [^\n]*|[Ss]egmentation fault",
    re.MULTILINE,
)
_USAGE = re.compile(r"(?i)^\s*usage\b")
_QUOTED = re.compile(r"['\"]([\w./-]{2,40})['\"]")
SIGNALLED = 128  # a shell adds the signal's number
_NAMES = re.compile(r"['\"`]([\w./-]{2,60})['\"`]|([\w./-]+\.[a-z]{1,4})(?=[:,( ]|$)")
_REPORT = re.compile(r"^.* failed \(exit \d+\): ")
_STEPS = {"build": "the build", "setup": "the setup", "health_check": "the health check"}
# How many times as long head's fastest takes as base's slowest, and how many seconds more: by the samples of each side.
_SLOWER = {1: (3.0, 2.0), 2: (2.0, 0.3)}  # one call took 1.6 s more by chance, on a machine with a load of 9
_WHOLE = 5.0  # seconds more of whole trials, one of which took 2.2 s more by chance


def start(seen: Seen) -> Found | None:
    """The step that keeps every trial of head from starting, with the last line of its output that names an error."""
    evidence = seen.row.evidence
    if seen.row.kind != "setup" or evidence is None or not evidence.message:
        return None
    step = next((_STEPS[kind] for kind in seen.unmeasured if kind in _STEPS), "the start")
    printed = re.sub("; it wrote: | / ", "\n", evidence.message).splitlines()  # a server's last lines are joined
    first, *rest = [line.strip() for line in printed if line.strip()]
    line = _REPORT.sub("", error_line("\n".join(rest)) or first)
    names = tuple(one or other for one, other in _NAMES.findall(line))
    return Found("build", (step,), head=line, clues=names)


def prompt(seen: Seen) -> Found | None:
    """A call that asks for input on head and does not on base."""
    if seen.pair is None or _PROMPT.search(seen.pair.base.message) or seen.pair.base.status != "ok":
        return None
    asked = _PROMPT.search(seen.pair.head.message)
    if asked is None or seen.pair.head.status not in ("error", "timeout"):
        return None
    line = next(line for line in seen.pair.head.message.splitlines() if _PROMPT.search(line))
    question = re.split(r"\s*(?:EOFError|Aborted!|Traceback)", line)[0].strip() or asked[0]
    return Found(
        "prompt",
        (seen.pair.head.command,),
        head=question,
        clues=tuple(re.findall(r"[A-Za-z][\w ]{5,40}", question)[:1]),
    )


def hang(seen: Seen) -> Found | None:
    """A call that ends on base and does not on head."""
    if seen.pair is None or seen.pair.head.status != "timeout" or seen.pair.base.status == "timeout":
        return None
    base, head = (str(call.duration_s) if call.duration_s is not None else "" for call in seen.pair)
    return Found("hang", (seen.pair.head.command,), base=base, head=head)


def crash(seen: Seen) -> Found | None:
    """A call that ends in an unhandled exception or by a signal on head only."""
    call = seen.pair.head if seen.pair else seen.refused
    if call is None or call.status != "error":
        return None
    before = (seen.pair.base.message,) if seen.pair else (one.message for trial in seen.base for one in trial.calls)
    found = CRASH.search(call.message)
    if found and not any(map(CRASH.search, before)):
        error = found[0].strip()
        return Found("crash", (call.command,), head=error, clues=tuple(_QUOTED.findall(error)))
    if seen.pair and (number := _signal(call)) and not _signal(seen.pair.base):
        return Found("signal", (call.command,), head=str(number))
    return None


def _signal(call: Call) -> int:
    """Return the signal that killed the call; 0 if it exited, perhaps with a status that looks like one."""
    number = (call.exit_code or 0) - SIGNALLED
    if not 0 < number <= max(signal.Signals):
        return 0
    named = (signal.strsignal(number) or "").lower()
    return number if not call.message.strip() or (named and named in call.message.lower()) else 0


def exit_code(seen: Seen) -> Found | None:
    """A call with another exit code, and the line of its output that tells most."""
    if seen.pair is None or seen.pair.base.exit_code == seen.pair.head.exit_code:
        return None
    base, head = seen.pair
    if head.exit_code is None or base.exit_code is None:
        return None
    said = [line.strip() for line in head.message.splitlines() if line.strip()]
    usage = any(map(_USAGE.search, said)) and not any("error" in line.lower() for line in said)
    printed = ""
    naming = [line for line in said if any(names_option(line, name) for name in options(head))]
    refusing = next((line for line in naming if not _USAGE.search(line)), "")
    if said and head.exit_code and masked(head.message, seen.noise) != masked(base.message, seen.noise):
        printed = refusing or next((line for line in reversed(said) if "error" in line.lower()), said[-1])
    return Found(
        "exit_code",
        (head.command,),
        new=(next(filter(_USAGE.search, said)) if usage and not refusing else printed,) if printed else (),
        base=str(base.exit_code),
        head=str(head.exit_code),
        clues=tuple(_QUOTED.findall(said[-1])) if said else (),
    )


def slower(trials: Iterable[TrialResult], *, deterministic: bool) -> Found | None:
    """Return the call, or else the row, whose every run on head takes several times as long as every run on base.

    With one run of each side, it has to take three times as long and two seconds more, and a row five. The time of an
    agent that chance moves needs two.
    """
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"base": [], "head": []})
    whole: dict[str, list[float]] = {"base": [], "head": []}
    for trial in trials:
        if trial.decides and trial.metrics.duration_s is not None:
            whole[trial.side].append(trial.metrics.duration_s)
        for call in trial.calls:
            if call.status == "ok" and call.duration_s is not None:
                times[call.command][trial.side].append(call.duration_s)
    found = [(min(took["head"]) - max(took["base"]), command) for command, took in times.items() if _is_slower(took)]
    if found:
        return _slow(times[max(found)[1]], max(found)[1])
    least = 1 if deterministic else 2
    enough = min(map(len, whole.values())) >= least
    return (
        _slow(whole) if enough and _is_slower(whole, 1) and min(whole["head"]) - max(whole["base"]) >= _WHOLE else None
    )


def _slow(took: dict[str, list[float]], *about: str) -> Found:
    base, head = (sorted(took[side])[len(took[side]) // 2] for side in ("base", "head"))
    return Found("slow", about, base=str(base), head=str(head))


def _is_slower(took: dict[str, list[float]], samples: int = 2) -> bool:
    base, head = took["base"], took["head"]
    if not (base and head):
        return False
    factor, more = _SLOWER[min(len(base), len(head), samples)]
    return min(head) >= factor * max(base) and min(head) - max(base) >= more
