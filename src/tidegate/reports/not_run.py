"""What a job's summary says where no agent was run."""

from __future__ import annotations

from tidegate.model.verdict import VerdictReason
from tidegate.reports.filters import cell

_WORDS: dict[VerdictReason, str] = {
    "fork_without_key": "a fork has no key",
    "draft": "a draft",
    "nothing_to_do": "nothing to do",
}
_NOT_GREEN = "Nothing was measured: this is neither a pass nor a failure."
_FORK = (
    "The check is green all the same, because the author of a fork can do nothing about it. A maintainer who has read"
    " the changes can run it with the key, where the repository has a workflow for it (`workflow_dispatch`)."
)


def render_not_run(reason: VerdictReason, sentence: str) -> str:
    """A heading that nobody takes for a pass, what happened, and who can do what about it."""
    said = _WORDS.get(reason, reason.replace("_", " "))
    parts = [f"## ⏭️ Tidegate: not run · {said}", cell(sentence, 600), _NOT_GREEN]
    return "\n\n".join([*parts, _FORK] if reason == "fork_without_key" else parts) + "\n"
