"""One sticky comment per pull request and instance: found by its marker, updated in place, never there twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

from tidegate.gh.port import Comment, CommentPort, PublishError
from tidegate.gh.since import fixed_since, next_marker
from tidegate.model.marker import Marker
from tidegate.model.result import Result
from tidegate.model.value import Value
from tidegate.reports.comment import render_comment
from tidegate.settings import CommentMode

PAUSES = (0.0, 2.0, 5.0, 15.0)  # seconds before each try; after a failure GitHub needs a moment to know what it did
PATIENCE = 60.0  # seconds; when GitHub asks for a longer wait, the comment is given up

Outcome = Literal["created", "updated", "unchanged", "superseded", "off", "failed"]


class Run(Value):
    """The workflow run that speaks: GitHub's run id and attempt; the larger, the newer."""

    id: int
    attempt: int


class Publication(Value):
    """What became of the comment. It never changes the exit code.

    `unchanged`: the mode asked for no comment now; `superseded`: a newer run has spoken; `failed`: see `problem`.
    """

    outcome: Outcome
    url: str | None = None
    problem: str = ""
    advice: str = ""


def publish_comment(
    port: CommentPort, result: Result, run: Run, mode: CommentMode, sleep: Callable[[float], None]
) -> Publication:
    """Bring the comment in line with `result`. Every try starts by looking at what stands, so none makes a second one.

    `always`: every run writes. `on-change`: the first run writes, later ones when the verdict's state or the regressed
    rows differ from what the standing comment says. `on-regression`: nothing is written before something regresses;
    once a comment stands, it is kept up to date. `off`: nothing is read or written.
    """
    if mode == "off":
        return Publication(outcome="off")
    desk = _Desk(port, result, run, mode)
    problem = PublishError("outage", "GitHub was not asked.")
    for pause in PAUSES:
        wait = max(pause, problem.retry_after)
        if wait > PATIENCE:
            break
        if wait:
            sleep(wait)
        try:
            return desk.publish()
        except PublishError as error:
            problem = error
            if not error.passing:
                break
    return Publication(outcome="failed", problem=problem.message, advice=problem.advice)


class _Desk:
    """The publishing of one result, over as many tries as it takes."""

    def __init__(self, port: CommentPort, result: Result, run: Run, mode: CommentMode) -> None:
        self._port, self._result, self._run, self._mode = port, result, run, mode
        self._draft: tuple[Marker, str] | None = None

    def publish(self) -> Publication:
        standing = self._standing()
        before = _marker(standing)
        marker, body = self._drafted(before)
        if standing and standing.body.strip() == body.strip():
            return Publication(outcome="updated", url=standing.url)  # an earlier try of ours that seemed to fail
        if before and before.age > marker.age:
            return Publication(outcome="superseded", url=standing and standing.url)
        if self._has_nothing_new(before, marker):
            return Publication(outcome="unchanged", url=standing and standing.url)
        publication = self._write(standing, body)
        self._mend(marker, body)
        return publication

    def _drafted(self, before: Marker | None) -> tuple[Marker, str]:
        """Drafted once: after a try that seemed to fail, the comment that stands may be our own."""
        if self._draft is None:
            marker = next_marker(before, self._result, self._run.id, self._run.attempt)
            fixed = fixed_since(before, self._result)
            self._draft = marker, render_comment(self._result, marker, fixed)
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
        if standing is not None:
            try:
                return Publication(outcome="updated", url=self._port.update_comment(standing.id, body).url)
            except PublishError as error:
                if error.kind != "not_found":  # deleted meanwhile
                    raise
        return Publication(outcome="created", url=self._port.create_comment(body).url)

    def _mend(self, marker: Marker, body: str) -> None:
        """Look once more: another run may have written at the same moment. What is amiss now, a later run mends."""
        try:
            standing = self._standing()
            before = _marker(standing)
            if standing and before and before.age < marker.age:
                self._port.update_comment(standing.id, body)
        except PublishError:
            return

    def _standing(self) -> Comment | None:
        """The newest of our comments; the others are deleted."""
        ours = [comment for comment in self._port.list_comments() if self._is_ours(comment)]
        ours.sort(key=_newness)
        for comment in ours[:-1]:
            self._delete(comment)
        return ours[-1] if ours else None

    def _is_ours(self, comment: Comment) -> bool:
        marker = _marker(comment)
        if marker is None or marker.instance != self._result.instance:
            return False
        return comment.author.casefold() == self._viewer.casefold()

    @cached_property
    def _viewer(self) -> str:
        return self._port.viewer()

    def _delete(self, comment: Comment) -> None:
        try:
            self._port.delete_comment(comment.id)
        except PublishError as error:
            if error.kind != "not_found":
                raise


def _marker(comment: Comment | None) -> Marker | None:
    return Marker.parse(comment.body) if comment else None


def _newness(comment: Comment) -> tuple[tuple[int, int], int]:
    marker = _marker(comment)
    return (marker.age if marker else (0, 0)), comment.id


def _news(marker: Marker) -> tuple[str, frozenset[object]]:
    return marker.verdict, frozenset(marker.regressed)
