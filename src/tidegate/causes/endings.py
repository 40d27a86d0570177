"""Causes in how a call ends: it waits for input, does not end, crashes, or has another exit code."""

from __future__ import annotations

import re

from tidegate.causes.seen import Found, Seen, command_line
from tidegate.comparison.noise import masked

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


def prompt(seen: Seen) -> Found | None:
    """A call that asks for input on head and does not on base."""
    if seen.pair is None or _PROMPT.search(seen.pair.base.message) or seen.pair.base.status != "ok":
        return None
    asked = _PROMPT.search(seen.pair.head.message)
    if asked is None or seen.pair.head.status not in ("error", "timeout"):
        return None
    line = next(line for line in seen.pair.head.message.splitlines() if _PROMPT.search(line))
    question = re.split(r"\s*(?:EOFError|Aborted!|Traceback)", line)[0].strip() or asked[0]
    says = f"`{command_line(seen.pair.head)}` now waits for input: `{_plain(question)}`"
    return Found("prompt", says, tuple(re.findall(r"[A-Za-z][\w ]{5,40}", question)[:1]))


def hang(seen: Seen) -> Found | None:
    """A call that ends on base and does not on head."""
    if seen.pair is None or seen.pair.head.status != "timeout" or seen.pair.base.status == "timeout":
        return None
    took = seen.pair.base.duration_s
    waited = seen.pair.head.duration_s
    after = "" if waited is None else f" after {waited:.1f} s"
    base = "" if took is None else f" ({took:.1f} s on base)"
    return Found("hang", f"`{command_line(seen.pair.head)}` timed out{after}{base}")


def crash(seen: Seen) -> Found | None:
    """A call that ends in an unhandled exception or by a signal on head only."""
    if seen.pair is None or seen.pair.head.status != "error":
        return None
    message = seen.pair.head.message
    found = CRASH.search(message)
    if found and not CRASH.search(seen.pair.base.message):
        error = _plain(found[0].strip())
        return Found("crash", f"`{command_line(seen.pair.head)}` crashes: `{error}`", tuple(_QUOTED.findall(error)))
    code = seen.pair.head.exit_code or 0
    if code > SIGNALLED and (seen.pair.base.exit_code or 0) <= SIGNALLED:
        return Found("crash", f"`{command_line(seen.pair.head)}` is killed by signal {code - SIGNALLED}")
    return None


def exit_code(seen: Seen) -> Found | None:
    """A call with another exit code, and the first line of what it printed."""
    if seen.pair is None or seen.pair.base.exit_code == seen.pair.head.exit_code:
        return None
    base, head = seen.pair
    if head.exit_code is None or base.exit_code is None:
        return None
    says = f"`{command_line(head)}` now exits with status {head.exit_code} (was {base.exit_code})"
    said = [line for line in head.message.splitlines() if line.strip()]
    if said and head.exit_code and any(map(_USAGE.search, said)) and not any("error" in line.lower() for line in said):
        says += ", and prints its usage"
    elif said and head.exit_code and masked(head.message, seen.noise) != masked(base.message, seen.noise):
        last = next((line for line in reversed(said) if "error" in line.lower()), said[-1])
        says += f": `{_plain(last.strip())}`"
    return Found("exit_code", says, tuple(_QUOTED.findall(said[-1])) if said else ())


def _plain(text: str) -> str:
    line = text.replace("`", "'")
    return line if len(line) <= 100 else f"{line[:99]}…"
