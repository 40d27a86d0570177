"""Causes in how a step or a call ends: it fails to start, waits, hangs, crashes or exits otherwise."""

from __future__ import annotations

import re

from tidegate.decide.causes.seen import Found, Seen
from tidegate.text.noise import masked

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
_ERROR = re.compile(r"\b(?:error|exception|failed|fatal|cannot|not found|no such)\b", re.IGNORECASE)
_NAMES = re.compile(r"['\"`]([\w./-]{2,60})['\"`]|([\w./-]+\.[a-z]{1,4})(?=[:,( ]|$)")
_REPORT = re.compile(r"^.* failed \(exit \d+\): ")
_STEPS = {"build": "the build", "setup": "the setup", "health_check": "the health check"}


def start(seen: Seen) -> Found | None:
    """The step that keeps every trial of head from starting, with the last line of its output that names an error."""
    evidence = seen.row.evidence
    if seen.row.kind != "setup" or evidence is None or not evidence.message:
        return None
    step = next((_STEPS[kind] for kind in seen.unmeasured if kind in _STEPS), "the start")
    printed = re.sub("; it wrote: | / ", "\n", evidence.message).splitlines()  # a server's last lines are joined
    first, *rest = [line.strip() for line in printed if line.strip()]
    errors = [line for line in rest if _ERROR.search(line)] or rest[-1:] or [first]
    line = _REPORT.sub("", errors[-1])
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
    """A call that ends in an unhandled exception on head only."""
    call = seen.pair.head if seen.pair else seen.refused
    if call is None or call.status != "error":
        return None
    before = (seen.pair.base.message,) if seen.pair else (one.message for trial in seen.base for one in trial.calls)
    found = CRASH.search(call.message)
    if found and not any(map(CRASH.search, before)):
        error = found[0].strip()
        return Found("crash", (call.command,), head=error, clues=tuple(_QUOTED.findall(error)))
    return None


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
    if said and head.exit_code and masked(head.message, seen.noise) != masked(base.message, seen.noise):
        printed = next((line for line in reversed(said) if "error" in line.lower()), said[-1])
    return Found(
        "exit_code",
        (head.command,),
        new=(next(filter(_USAGE.search, said)) if usage else printed,) if printed else (),
        base=str(base.exit_code),
        head=str(head.exit_code),
        clues=tuple(_QUOTED.findall(said[-1])) if said else (),
    )
