"""Keeps one comment per pull request and instance: found by its marker, updated in place, never duplicated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Literal

from pydantic import Field

from tidegate.github.api import Comment, PublishError
from tidegate.github.client import GitHubComments
from tidegate.github.settings import CommentMode
from tidegate.model.marker import Acceptance, Fixed, Marker, short
from tidegate.model.plan import RowKey
from tidegate.model.result import Result
from tidegate.model.value import Value
from tidegate.reports.comment import comment_body
from tidegate.reports.links import Pages
from tidegate.reports.next_steps import render_no_verdict

_FIXED = frozenset({"ok", "improved"})

PAUSES = (0.0, 2.0, 5.0, 15.0)  # seconds before each try; a failed write may become visible only after a moment
PATIENCE = 45.0  # the most seconds to wait in total; if GitHub asks for more, give up and say so before the deadline

Outcome = Literal["created", "updated", "unchanged", "superseded", "off", "failed"]


class WorkflowRun(Value):
    """The workflow run that writes the comment. A larger age is newer.

    `head` is the pull request's head commit, not the test-merge commit.
    """

    id: int
    attempt: int
    head: str

    @property
    def age(self) -> tuple[int, int]:
        """The run's id and attempt."""
        return self.id, self.attempt


class Statement(Value):
    """A verdict to publish. `notice` is a warning shown right below it.

    `body` is the comment as the reports have it. It is rendered again only if rows were fixed since the last comment.
    """

    result: Result
    body: str = ""
    notice: str = ""
    pages: Pages | None = None
    accepted: Acceptance | None = None
    key: bytes = Field(b"", repr=False)  # seals the verdict

    @property
    def instance(self) -> str:
        """The name of the instance whose comment it is."""
        return self.result.instance

    def drafted(self, run: WorkflowRun, standing: Comment | None) -> str:
        """Return the comment's text. `standing` is the comment that it replaces."""
        before = marker_of(standing)
        marker = next_marker(before, self.result, run)
        if self.accepted:
            marker = marker.model_copy(update={"accepted": self.accepted, "red": self.accepted.red})
        if self.notice:  # not verified: no later job may repeat it as its own verdict
            marker = marker.model_copy(update={"exit_code": None})
        fixed, body = fixed_since(before, self.result), self.body
        if fixed or not body:
            body = comment_body(self.result, fixed, self.pages, notice=self.notice)
        return with_marker(marker.sealed(self.key), body)

    def is_unwanted(self, before: Marker | None, run: WorkflowRun, mode: CommentMode) -> bool:
        """Return True if there is no comment yet, and this result does not call for the first one."""
        quiet = self.result.verdict.state != "failed" and not next_marker(before, self.result, run).regressed
        return mode == "on-regression" and before is None and quiet


class NoVerdict(Value):
    """Why a run has no verdict. `why` is a few words, `detail` Markdown.

    `creates`: create the comment if there is none. `cancelled`: a verdict on the same commit stays unchanged.
    """

    instance: str
    why: str
    detail: str
    creates: bool = True
    cancelled: bool = False

    def drafted(self, run: WorkflowRun, standing: Comment | None) -> str:
        """Return the comment's text. `standing` is the comment that it replaces."""
        before = marker_of(standing)
        accepted = before.accepted if before and before.head == run.head else None
        marker = Marker(
            instance=self.instance,
            head=run.head,
            run=run.id,
            attempt=run.attempt,
            regressed=before.regressed if before else (),
            red=accepted.red if accepted else (),
            accepted=accepted,
        )
        return with_marker(marker, render_no_verdict(self.instance, run.head, self.why, self.detail))

    def is_unwanted(self, before: Marker | None, run: WorkflowRun, mode: CommentMode) -> bool:
        """Return True if a verdict on the same commit stays, or if there is no comment and it may not create one."""
        if before is None:
            return not self.creates or mode != "always"
        return self.cancelled and before.head == run.head and before.verdict != ""


class Publication(Value):
    """The outcome of publishing the comment. It never changes the exit code.

    `unchanged`: no update was wanted; `superseded`: a newer run has written or will; `failed`: see `problem`.
    """

    outcome: Outcome
    url: str | None = None
    problem: str = ""
    advice: str = ""


def publish_comment(
    comments: GitHubComments,
    said: Statement | NoVerdict,
    run: WorkflowRun,
    mode: CommentMode,
    sleep: Callable[[float], None] | None,
) -> Publication:
    """Create or update the comment. Every try first reads the current comment.

    `always`: every run writes. `on-regression`: the comment is created by the first regression, then kept up to date.
    `off`: nothing is read or written. Without `sleep`, try only once: the runner leaves a cancelled job only seconds.
    """
    if mode == "off":
        return Publication(outcome="off")
    update = _Update(comments, said, run, mode)
    problem = PublishError("outage", "GitHub was not asked.")
    left = PATIENCE
    for pause in PAUSES if sleep else PAUSES[:1]:
        wait = max(pause, problem.retry_after)
        if wait > left:
            break
        left -= wait
        if sleep and wait:
            sleep(wait)
        try:
            return update.publish()
        except PublishError as error:
            problem = error
            if not error.passing:
                break
    return failed(problem)


def failed(problem: PublishError) -> Publication:
    """Return the outcome of publishing that ended with this problem."""
    return Publication(outcome="failed", problem=problem.message, advice=problem.advice)


class _Update:
    """Publishes one text. It is drafted once: after a try that seemed to fail, the current comment may be our own."""

    def __init__(
        self, comments: GitHubComments, said: Statement | NoVerdict, run: WorkflowRun, mode: CommentMode
    ) -> None:
        self._comments, self._said, self._run, self._mode = comments, said, run, mode
        self._body = ""
        self._viewer = ""

    def publish(self) -> Publication:
        standing = self._standing()
        before = marker_of(standing)
        url = standing and standing.url
        self._body = self._body or self._said.drafted(self._run, standing)
        if standing and standing.body.strip() == self._body.strip():
            return Publication(outcome="updated", url=url)  # an earlier try that seemed to fail
        if self._is_superseded(before):
            return Publication(outcome="superseded", url=url)
        if self._said.is_unwanted(before, self._run, self._mode):
            return Publication(outcome="unchanged", url=url)
        publication = self._write(standing)
        self._mend()
        return publication

    def _is_superseded(self, before: Marker | None) -> bool:
        """Return True if a newer run has written or will, since the pull request has a newer head.

        Checked last before every write. A comment on an older head never supersedes us, whenever its run began.
        """
        if self._comments.head_sha() != self._run.head:
            return True
        return before is not None and before.head == self._run.head and before.age > self._run.age

    def _write(self, standing: Comment | None) -> Publication:
        if standing is not None:
            try:
                return Publication(outcome="updated", url=self._comments.update_comment(standing.id, self._body).url)
            except PublishError as error:
                if error.kind != "not_found":  # not_found: it was deleted meanwhile, so create a new one
                    raise
        return Publication(outcome="created", url=self._comments.create_comment(self._body).url)

    def _mend(self) -> None:
        """Check again after writing, since another run may have written meanwhile. Errors are left to a later run."""
        with suppress(PublishError):
            standing = self._standing()
            before = marker_of(standing)
            if standing and before and before.age < self._run.age and not self._is_superseded(before):
                self._comments.update_comment(standing.id, self._body)

    def _standing(self) -> Comment | None:
        """Return the newest of our comments, and delete the others, unless GitHub refuses that."""
        self._viewer = self._viewer or self._comments.viewer()
        ours = _ours(self._comments.list_comments(), self._viewer, self._said.instance)
        for comment in ours[:-1]:
            with suppress(PublishError):
                self._comments.delete_comment(comment.id)
        return ours[-1] if ours else None


def standing_comment(comments: GitHubComments, instance: str) -> Comment | None:
    """Return the newest of our comments, or None. Raises PublishError if GitHub does not answer."""
    ours = _ours(comments.list_comments(), comments.viewer(), instance)
    return ours[-1] if ours else None


def marker_of(comment: Comment | None) -> Marker | None:
    """Return the comment's marker, or None."""
    return Marker.parse(comment.body) if comment else None


def with_marker(marker: Marker, body: str) -> str:
    """Return the comment as it is sent: the marker is line 1, where no template and no quoted text can be."""
    return f"{marker.format()}\n{body}"


def _ours(comments: list[Comment], viewer: str, instance: str) -> list[Comment]:
    """Return the comments of this instance that `viewer` wrote, the newest last."""
    found = [
        (marker.age, comment.id, comment)
        for comment in comments
        if (marker := marker_of(comment)) is not None
        and comment.author.casefold() == viewer.casefold()
        and marker.instance == instance
    ]
    return [comment for _, _, comment in sorted(found, key=lambda one: one[:2])]


def fixed_since(before: Marker | None, result: Result) -> Fixed | None:
    """Return the rows that the last comment reported as regressed and that pass again, or None if there are none.

    A row that was not measured does not count as fixed.
    """
    rows = _fixed(before.regressed, result) if before else ()
    return Fixed(since=before.head, rows=rows) if before and rows else None


def next_marker(before: Marker | None, result: Result, run: WorkflowRun) -> Marker:
    """Return the marker for the new comment. It lists the rows that regressed now, or earlier and are not fixed yet."""
    return Marker(
        instance=result.instance,
        head=run.head,
        run=run.id,
        attempt=run.attempt,
        verdict=result.verdict.state,
        reason=result.verdict.reason,
        exit_code=result.verdict.exit_code,
        base=result.sides.base.ref,
        regressed=tuple(dict.fromkeys(_regressed(before, result))),
        red=tuple(map(short, result.verdict.red)),
    )


def _fixed(regressed: tuple[RowKey, ...], result: Result) -> tuple[RowKey, ...]:
    if result.verdict.reason == "nothing_to_do":  # the change that broke them was reverted
        return regressed
    states = {row.key: row.state for row in result.rows}
    return tuple(key for key in regressed if states.get(key) in _FIXED)


def _regressed(before: Marker | None, result: Result) -> Iterator[RowKey]:
    yield from (row.key for row in result.rows if row.state == "regressed")
    if before is not None:
        removed = (row.key for row in result.rows if row.state == "removed")
        settled = {*removed, *_fixed(before.regressed, result)}
        yield from (key for key in before.regressed if key not in settled)
