"""Causes that keep every trial of head from starting: a build, a setup or a health check that fails."""

from __future__ import annotations

import re

from tidegate.causes.seen import Found, Seen

_ERROR = re.compile(r"\b(?:error|exception|failed|fatal|cannot|not found|no such)\b", re.IGNORECASE)
_NAMES = re.compile(r"['\"`]([\w./-]{2,60})['\"`]|([\w./-]+\.[a-z]{1,4})(?=[:,( ]|$)")
_REPORT = re.compile(r"^.* failed \(exit \d+\): ")
_STEPS = {"build": "the build", "setup": "the setup", "health_check": "the health check"}


def start(seen: Seen) -> Found | None:
    """The step that fails, with the last line of its output that names an error."""
    evidence = seen.row.evidence
    if seen.row.kind != "setup" or evidence is None or not evidence.message:
        return None
    first, *rest = [line.strip() for line in evidence.message.splitlines() if line.strip()]
    step = next((words for kind, words in _STEPS.items() if kind.replace("_", " ") in first), "the start")
    errors = [line for line in rest if _ERROR.search(line)] or rest[-1:] or [first]
    line = _REPORT.sub("", errors[-1]).replace("`", "'")
    names = tuple(one or other for one, other in _NAMES.findall(line))
    return Found("build", f"{step} fails on head: `{line if len(line) <= 140 else line[:139] + '…'}`", names)
