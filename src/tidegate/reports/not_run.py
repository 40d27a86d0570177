"""Render summary and comment if there is no result: nothing was run, it could not be run, or it was cancelled."""

from __future__ import annotations

from tidegate.model.result import VerdictReason
from tidegate.reports.filters import code, fenced, prose
from tidegate.reports.next_steps import OF_VERDICT

_WORDS: dict[VerdictReason, str] = {
    "fork_without_key": "a fork has no key",
    "draft": "the pull request is a draft",
    "nothing_to_do": "nothing to do",
}
_NOT_GREEN = "Nothing was measured: this is neither a pass nor a failure."
_FORK = "The check is still green, because the author of a fork cannot fix this."


def render_not_run(reason: VerdictReason, sentence: str) -> str:
    """Return the summary of a run that was skipped. Its heading must not look like a pass."""
    said = _WORDS.get(reason, reason.replace("_", " "))
    parts = [f"## ⏭️ Tidegate: not run · {said}", prose(sentence, 600), _NOT_GREEN]
    if reason == "fork_without_key":
        parts.append(_FORK)
    if reason in OF_VERDICT:
        parts.append(_what_to_do(OF_VERDICT[reason]))
    return "\n\n".join(parts) + "\n"


def render_could_not_run(message: str, advice: str) -> str:
    """Return the summary of a run that ended in an error. Both texts may quote files of the pull request."""
    return f"## ⛔ Tidegate could not run\n\n{render_error(message, advice)}"


def render_error(message: str, advice: str) -> str:
    """Return an error and its advice, without a heading."""
    return f"{fenced(message)}\n\n{_what_to_do(prose(advice, 600))}\n"


def render_no_verdict(instance: str, head: str, why: str, detail: str) -> str:
    """Return the comment of a run without a verdict on the commit `head`. `why` is a few words, `detail` Markdown."""
    named = "" if instance == "default" else f" {code(instance)}"
    return f"## ⛔ Tidegate{named}: no verdict for {code(head[:7])}: {why}\n\n{detail.strip()}\n"


def render_cancelled() -> str:
    """Return the summary of a run that was cancelled before it had a verdict."""
    return f"## ⏹️ Tidegate: cancelled\n\n{CANCELLED}"


def _what_to_do(advice: str) -> str:
    return f"**What to do:** {advice}"


CANCELLED = (
    "The run was cancelled before it reached a verdict: nothing is known about this commit.\n\n"
    f"{_what_to_do(OF_VERDICT['cancelled'])}\n"
)
