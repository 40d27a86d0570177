"""Updates the comment after a cancelled run. It tries once, since the runner leaves only seconds."""

from __future__ import annotations

from tidegate.gh.comment import Publication, WorkflowRun, standing_comment
from tidegate.gh.port import CommentPort, PublishError
from tidegate.model.marker import Marker
from tidegate.settings import CommentMode

TEXT = """\
## ⏹️ Tidegate{instance}: cancelled

The run on `{head}` was cancelled before it had a verdict: nothing is known of this commit. Run the job again for one.
"""


def note_cancelled(port: CommentPort, run: WorkflowRun, instance: str, mode: CommentMode) -> Publication:
    """Note in the comment that the run was cancelled.

    A verdict on the same commit and anything about a newer commit stay. Modes other than `always` update an existing
    comment, but create none.
    """
    if mode == "off":
        return Publication(outcome="off")
    try:
        return _noted(port, run, instance, mode)
    except PublishError as error:
        return Publication(outcome="failed", problem=error.message, advice=error.advice)


def _noted(port: CommentPort, run: WorkflowRun, instance: str, mode: CommentMode) -> Publication:
    standing = standing_comment(port, instance)
    before = Marker.parse(standing.body) if standing else None
    if port.head_sha() != run.head:
        return Publication(outcome="superseded", url=standing and standing.url)
    if (before and before.head == run.head and before.verdict) or (mode != "always" and standing is None):
        return Publication(outcome="unchanged", url=standing and standing.url)
    regressed = before.regressed if before else ()
    marker = Marker(instance=instance, head=run.head, run=run.id, attempt=run.attempt, regressed=regressed)
    named = "" if instance == "default" else f" ({instance})"
    body = f"{marker.format()}\n{TEXT.format(instance=named, head=run.head[:7])}"
    if standing is None:
        return Publication(outcome="created", url=port.create_comment(body).url)
    return Publication(outcome="updated", url=port.update_comment(standing.id, body).url)
