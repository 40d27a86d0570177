"""Keeps one comment per pull request and instance: found by its marker, updated in place, never duplicated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Literal

from pydantic import Field

from tidegate.github.port import Comment, CommentPort, PublishError
from tidegate.github.settings import CommentMode
from tidegate.model.marker import Acceptance, Fixed, Marker
from tidegate.model.plan import RowKey
from tidegate.model.result import Result
from tidegate.model.value import Value
from tidegate.reports.comment import comment_body
from tidegate.reports.links import Pages

_FIXED = frozenset({"ok", "improved"})
_GONE = frozenset({"removed"})


def fixed_since(before: Marker | None, result: Result) -> Fixed | None:
    """Return the rows that the last comment reported as regressed and that pass again, or None if there are none.

    A row that was not measured does not count as fixed.
    """
    rows = _fixed(before.regressed, result) if before else ()
    return Fixed(since=before.head, rows=rows) if before and rows else None


def next_marker(before: Marker | None, result: Result, run: int, attempt: int, head: str = "") -> Marker:
    """Return the marker for the new comment. It lists the rows that regressed now, or earlier and are not fixed yet.

    `head` is the pull request's head commit; the result itself is of the test-merge commit.
    """
    return Marker(
        instance=result.instance,
        head=head or result.sides.head.sha,
        run=run,
        attempt=attempt,
        verdict=result.verdict.state,
        reason=result.verdict.reason,
        exit_code=result.verdict.exit_code,
        base=result.sides.base.ref,
        regressed=tuple(dict.fromkeys(_regressed(before, result))),
    )


def _fixed(regressed: tuple[RowKey, ...], result: Result) -> tuple[RowKey, ...]:
    if result.verdict.reason == "nothing_to_do":  # the change that broke them was reverted
        return regressed
    states = {row.key: row.state for row in result.rows}
    return tuple(key for key in regressed if states.get(key) in _FIXED)


def _regressed(before: Marker | None, result: Result) -> Iterator[RowKey]:
    yield from (row.key for row in result.rows if row.state == "regressed")
    if before is None:
        return
    gone = (row.key for row in result.rows if row.state in _GONE)
    settled = {*gone, *_fixed(before.regressed, result)}
    yield from (key for key in before.regressed if key not in settled)


PAUSES = (0.0, 2.0, 5.0, 15.0)  # seconds before each try; a failed write may become visible only after a moment
PATIENCE = 45.0  # the most seconds to wait in total; if GitHub asks for more, give up and say so before the deadline

Outcome = Literal["created", "updated", "unchanged", "superseded", "off", "failed"]


class WorkflowRun(Value):
    """The workflow run that writes the comment. A larger (id, attempt) is newer.

    `head` is the pull request's head commit, not the test-merge commit.
    """

    id: int
    attempt: int
    head: str


class Statement(Value):
    """What the run publishes. `notice` is a warning shown right below the verdict.

    `body` is the comment as the reports have it. It is rendered again only if rows were fixed since the last comment.
    """

    result: Result
    body: str = ""
    notice: str = ""
    pages: Pages | None = None
    accepted: Acceptance | None = None
    key: bytes = Field(b"", repr=False)  # seals the verdict


class Publication(Value):
    """The outcome of publishing the comment. It never changes the exit code.

    `unchanged`: the mode asked for no update; `superseded`: a newer run has written or will; `failed`: see `problem`.
    """

    outcome: Outcome
    url: str | None = None
    problem: str = ""
    advice: str = ""


def publish_comment(
    port: CommentPort, statement: Statement, run: WorkflowRun, mode: CommentMode, sleep: Callable[[float], None]
) -> Publication:
    """Create or update the comment, with retries. Every try first reads the current comment.

    `always`: every run writes. `recreate`: every run writes a new comment, and hides the older ones. `on-change`: the
    first run writes; later runs write if the verdict's state or the set of regressed rows changed. `on-regression`: the
    comment is created by the first regression, then kept up to date. `off`: nothing is read or written.
    """
    if mode == "off":
        return Publication(outcome="off")
    return repeated(_CommentUpdate(port, statement, run, mode).publish, sleep)


def repeated(publish: Callable[[], Publication], sleep: Callable[[float], None]) -> Publication:
    """Call `publish` until it succeeds, fails for good, or has been called four times. Return the outcome."""
    problem = PublishError("outage", "GitHub was not asked.")
    left = PATIENCE
    for pause in PAUSES:
        wait = max(pause, problem.retry_after)
        if wait > left:
            break
        left -= wait
        if wait:
            sleep(wait)
        try:
            return publish()
        except PublishError as error:
            problem = error
            if not error.passing:
                break
    return failed(problem)


def failed(problem: PublishError) -> Publication:
    """Return the outcome of publishing that ended with this problem."""
    return Publication(outcome="failed", problem=problem.message, advice=problem.advice)


class _CommentUpdate:
    """Publishes one statement. The state that must survive a retry is kept here."""

    def __init__(self, port: CommentPort, statement: Statement, run: WorkflowRun, mode: CommentMode) -> None:
        self._port, self._statement, self._run, self._mode = port, statement, run, mode
        self._result = statement.result
        self._draft: tuple[Marker, str] | None = None
        self._viewer = ""

    def publish(self) -> Publication:
        standing = self._standing()
        before = _marker(standing)
        marker, body = self._drafted(before)
        if standing and standing.body.strip() == body.strip():
            return Publication(outcome="updated", url=standing.url)  # an earlier try that seemed to fail
        if self._is_superseded(before):
            return Publication(outcome="superseded", url=standing and standing.url)
        if self._has_nothing_new(before, marker):
            return Publication(outcome="unchanged", url=standing and standing.url)
        publication = self._write(standing, body)
        self._mend(body)
        return publication

    def _is_superseded(self, before: Marker | None) -> bool:
        """Return True if a newer run has written or will, since the pull request has a newer head.

        Checked last before every write. A comment on an older head never supersedes us, whenever its run began.
        """
        if self._port.head_sha() != self._run.head:
            return True
        return before is not None and before.head == self._run.head and before.age > self._age

    @property
    def _age(self) -> tuple[int, int]:
        return self._run.id, self._run.attempt

    def _drafted(self, before: Marker | None) -> tuple[Marker, str]:
        """Draft the comment only once: after a try that seemed to fail, the current comment may be our own."""
        if self._draft is None:
            marker = next_marker(before, self._result, self._run.id, self._run.attempt, self._run.head)
            marker = marker.model_copy(update={"accepted": self._statement.accepted})
            if self._statement.notice:  # not verified: no later job may repeat it as its own verdict
                marker = marker.model_copy(update={"exit_code": None})
            marker = marker.sealed(self._statement.key)
            fixed, body = fixed_since(before, self._result), self._statement.body
            if fixed or not body:
                body = comment_body(self._result, fixed, self._statement.pages, notice=self._statement.notice)
            self._draft = marker, with_marker(marker, body)
        return self._draft

    def _has_nothing_new(self, before: Marker | None, marker: Marker) -> bool:
        match self._mode:
            case "on-regression":
                return before is None and self._result.verdict.state != "failed" and not marker.regressed
            case "on-change":
                return before is not None and _news(before) == _news(marker)
            case _:
                return False

    def _write(self, standing: Comment | None, body: str) -> Publication:
        if standing is not None and self._mode != "recreate":
            try:
                return Publication(outcome="updated", url=self._port.update_comment(standing.id, body).url)
            except PublishError as error:
                if error.kind != "not_found":  # not_found: it was deleted meanwhile, so create a new one
                    raise
        return Publication(outcome="created", url=self._port.create_comment(body).url)

    def _mend(self, body: str) -> None:
        """Check again after writing, since another run may have written meanwhile. Errors are left to a later run."""
        try:
            standing = self._standing()
            before = _marker(standing)
            if standing and before and before.age < self._age and not self._is_superseded(before):
                self._port.update_comment(standing.id, body)
        except PublishError:
            return

    def _standing(self) -> Comment | None:
        """Return the newest of our comments, and delete the others, or hide them if each run has a comment."""
        ours = _ours(self._port.list_comments(), self._who(), self._result.instance)
        for comment in ours[:-1]:
            self._retire(comment)
        return ours[-1] if ours else None

    def _who(self) -> str:
        """Return our login, asked only once. (Python 3.11's cached_property would share one lock between instances.)"""
        self._viewer = self._viewer or self._port.viewer()
        return self._viewer

    def _retire(self, comment: Comment) -> None:
        """Remove an older comment. A failure must not prevent the update of the newest one."""
        with suppress(PublishError):
            if self._mode == "recreate":
                self._port.hide_comment(comment, comment.body.partition("\n")[2])  # without its marker
            else:
                self._port.delete_comment(comment.id)


def with_marker(marker: Marker, body: str) -> str:
    """Return the comment as it is sent: the marker is line 1, where no template and no quoted text can be."""
    return f"{marker.format()}\n{body}"


def standing_comment(port: CommentPort, instance: str) -> Comment | None:
    """Return the newest of our comments, or None. Raises PublishError if GitHub does not answer."""
    ours = _ours(port.list_comments(), port.viewer(), instance)
    return ours[-1] if ours else None


def standing_marker(port: CommentPort, instance: str) -> Marker | None:
    """Return the marker of that comment, or None."""
    return _marker(standing_comment(port, instance))


def our_comments(comments: list[Comment], viewer: str) -> Iterator[tuple[Marker, Comment]]:
    """Yield the comments with a marker that `viewer` wrote, of all instances."""
    for comment in comments:
        marker = _marker(comment)
        if marker and comment.author.casefold() == viewer.casefold():
            yield marker, comment


def _ours(comments: list[Comment], viewer: str, instance: str) -> list[Comment]:
    """Return the comments of this instance, the newest last."""
    found = [comment for marker, comment in our_comments(comments, viewer) if marker.instance == instance]
    return sorted(found, key=_newness)


def _marker(comment: Comment | None) -> Marker | None:
    return Marker.parse(comment.body) if comment else None


def _newness(comment: Comment) -> tuple[tuple[int, int], int]:
    marker = _marker(comment)
    return (marker.age if marker else (0, 0)), comment.id


def _news(marker: Marker) -> tuple[str, frozenset[object]]:
    return marker.verdict, frozenset(marker.regressed)
