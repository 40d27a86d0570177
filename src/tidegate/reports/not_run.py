"""Render the job summary if there is no result: nothing was run, it could not be run, or it was cancelled."""

from __future__ import annotations

from tidegate.model.verdict import VerdictReason
from tidegate.reports.filters import cell, fenced
from tidegate.reports.next_steps import OF_VERDICT

_WORDS: dict[VerdictReason, str] = {
    "fork_without_key": "a fork has no key",
    "draft": "a draft",
    "nothing_to_do": "nothing to do",
}
_NOT_GREEN = "Nothing was measured: this is neither a pass nor a failure."
_FORK = "The check is still green, because the author of a fork cannot fix this."


def render_not_run(reason: VerdictReason, sentence: str) -> str:
    """Return the summary of a run that was skipped. Its heading must not look like a pass."""
    said = _WORDS.get(reason, reason.replace("_", " "))
    parts = [f"## ⏭️ Tidegate: not run · {said}", cell(sentence, 600), _NOT_GREEN]
    if reason == "fork_without_key":
        parts.append(_FORK)
    if reason in OF_VERDICT:
        parts.append(_what_to_do(OF_VERDICT[reason]))
    return "\n\n".join(parts) + "\n"


def render_could_not_run(message: str, advice: str) -> str:
    """Return the summary of a run that ended in an error. Both texts may quote files of the pull request."""
    return f"## ⛔ Tidegate could not run\n\n{fenced(message)}\n\n{_what_to_do(cell(advice, 600))}\n"


def render_cancelled() -> str:
    """Return the summary of a run that was cancelled before it had a verdict."""
    said = "The run was cancelled before it had a verdict: nothing is known of this commit."
    return f"## ⏹️ Tidegate: cancelled\n\n{said}\n\n{_what_to_do(OF_VERDICT['cancelled'])}\n"


def _what_to_do(advice: str) -> str:
    return f"**What to do:** {advice}"
