"""Updates the comment after a run without a verdict, so that an earlier verdict is not taken for one of this commit."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.github.comment import Publication, WorkflowRun, failed, repeated, standing_comment, with_marker
from tidegate.github.port import Comment, CommentPort, PublishError
from tidegate.github.settings import CommentMode
from tidegate.model.marker import Marker
from tidegate.model.value import Value
from tidegate.reports.comment import MAX_BYTES
from tidegate.reports.not_run import render_no_verdict

FOLD = "<details>\n<summary>Last verdict, for "
FOLD_END = "</details>\n"
_DISARMED = FOLD.replace("<", "&lt;")  # what an error message quotes cannot be taken for the fold


class NoVerdict(Value):
    """Why a run has no verdict. `why` is a few words, `detail` Markdown.

    `creates`: create the comment if there is none. `cancelled`: a verdict on the same commit stays unchanged.
    """

    instance: str
    why: str
    detail: str
    creates: bool = True
    cancelled: bool = False


def note_no_verdict(
    port: CommentPort, said: NoVerdict, run: WorkflowRun, mode: CommentMode, sleep: Callable[[float], None] | None
) -> Publication:
    """Write in the comment that this commit has no verdict, and fold the last verdict below it.

    A newer run's comment and anything about a newer commit stay. `on-change` and `on-regression` update an existing
    comment, but create none. Without `sleep`, try only once: the runner leaves a cancelled job only seconds.
    """
    if mode == "off":
        return Publication(outcome="off")
    note = _Note(port, said, run, said.creates and mode in ("always", "recreate"))
    if sleep is not None:
        return repeated(note.publish, sleep)
    try:
        return note.publish()
    except PublishError as error:
        return failed(error)


class _Note:
    """Publishes one note. Its text is made once: after a try that seemed to fail, the comment may be our own."""

    def __init__(self, port: CommentPort, said: NoVerdict, run: WorkflowRun, creates: bool) -> None:
        self._port, self._said, self._run, self._creates = port, said, run, creates
        self._body = ""

    def publish(self) -> Publication:
        standing = standing_comment(self._port, self._said.instance)
        before = Marker.parse(standing.body) if standing else None
        self._body = self._body or self._drafted(standing, before)
        url = standing and standing.url
        if standing is not None and standing.body.strip() == self._body.strip():
            return Publication(outcome="updated", url=url)  # an earlier try that seemed to fail
        if self._port.head_sha() != self._run.head or self._is_newer(before):
            return Publication(outcome="superseded", url=url)
        same = before is not None and before.head == self._run.head and before.verdict
        if (same and self._said.cancelled) or (standing is None and not self._creates):
            return Publication(outcome="unchanged", url=url)
        if standing is None:
            return Publication(outcome="created", url=self._port.create_comment(self._body).url)
        return Publication(outcome="updated", url=self._port.update_comment(standing.id, self._body).url)

    def _is_newer(self, before: Marker | None) -> bool:
        run = self._run
        return before is not None and before.head == run.head and before.age > (run.id, run.attempt)

    def _drafted(self, standing: Comment | None, before: Marker | None) -> str:
        run = self._run
        marker = Marker(
            instance=self._said.instance,
            head=run.head,
            run=run.id,
            attempt=run.attempt,
            regressed=before.regressed if before else (),
            accepted=before.accepted if before and before.head == run.head else None,
        )
        detail = self._said.detail.replace(FOLD, _DISARMED)
        body = render_no_verdict(self._said.instance, run.head, self._said.why, detail)
        last = _last_verdict(standing, before) if standing and before else ""
        if len(f"{body}\n{last}".encode()) > MAX_BYTES:
            last = f"The last verdict, for `{before.head[:7] if before else ''}`, does not fit below.\n"
        return with_marker(marker, f"{body}\n{last}" if last else body)


def _last_verdict(standing: Comment, before: Marker) -> str:
    """Return the standing comment folded, or the fold of a comment that has no verdict itself."""
    text = standing.body.partition("\n")[2]
    if before.verdict:
        return f"{FOLD}<code>{before.head[:7]}</code></summary>\n\n{text.strip()}\n\n{FOLD_END}"
    _, fold, rest = text.partition(FOLD)
    return f"{fold}{rest.strip()}\n" if fold else ""
