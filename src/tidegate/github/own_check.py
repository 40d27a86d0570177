"""A check run of our own: in progress with counts, then the verdict. Publishing it never changes the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from tidegate.github.annotations import regressions
from tidegate.github.announce import warn
from tidegate.github.deadline import Deadline
from tidegate.github.job import Job
from tidegate.github.port import Check, Conclusion, OwnCheckRun, PublishError, RepositoryPort
from tidegate.github.workflow_commands import Annotation
from tidegate.model.measurement import TrialResult
from tidegate.model.progress import Progress
from tidegate.model.result import Result
from tidegate.model.trial_spec import TrialSpec
from tidegate.reports.filters import count
from tidegate.text.safe import one_line

T = TypeVar("T")

BETWEEN = 30.0  # seconds between two updates of the counts
TRIES = 3  # of the verdict; a request that seemed to fail may be repeated, since it replaces what is shown
MAX_TITLE = 255
MAX_ANNOTATIONS = 50  # in one request


class OwnCheck:
    """The check run of one job. It is created in the background, so that GitHub cannot hold up the run."""

    def __init__(self) -> None:
        self._counts = _Counts()
        self._repository: RepositoryPort | None = None
        self._own: OwnCheckRun | None = None
        self._number: int | None = None
        self._refused = False
        self._ended = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    def start(self, head_sha: str, job: Job) -> None:
        """Create the check run, and update its counts while trials run."""
        self._repository, self._own = job.connect(), self.of(head_sha, job)
        if self._repository is not None and not job.settings.dry_run:
            self._following = asyncio.create_task(self._follow(self._repository, self._own, job))

    @staticmethod
    def of(head_sha: str, job: Job) -> OwnCheckRun:
        """Return which check run is the job's."""
        instance, run = job.settings.instance, job.runner
        return OwnCheckRun(
            name="Tidegate report" if instance == "default" else f"Tidegate report ({instance})",
            head_sha=head_sha,
            external_id=f"tidegate/{run.run_id}/{run.run_attempt}",
            details_url=run.run_url,
        )

    def counting(self, progress: Progress) -> Progress:
        """Return the progress with its trials counted."""
        self._counts.shown = progress
        return self._counts

    async def conclude(self, result: Result, body: str, job: Job) -> None:
        """Show the verdict, with the comment's text as the summary and all annotations that have a place."""
        check = Check(title=_title(result.verdict.summary), summary=body, conclusion=_conclusion(result))
        await self._publish(check, regressions(result, job.workspace), job, job.deadline)

    async def abandon(self, title: str, detail: str, conclusion: Conclusion, job: Job, deadline: Deadline) -> None:
        """Show that the run ended without a verdict."""
        await self._publish(Check(title=_title(title), summary=detail, conclusion=conclusion), (), job, deadline)

    async def _follow(self, repository: RepositoryPort, own: OwnCheckRun, job: Job) -> None:
        shown = self._counts.check()

        def update() -> None:
            repository.update_check(self._number or 0, shown)

        seconds = job.settings.publish_timeout  # for each request: the job does not wait for them
        try:
            self._number = await Deadline(seconds).ask(lambda: repository.create_check(own, shown))
            while not await self._ends_within(BETWEEN):
                if (now := self._counts.check()) != shown:
                    shown = now
                    await Deadline(seconds).ask(update)
        except PublishError as error:
            self._refused = not error.passing
            if self._refused and not (error.kind == "forbidden" and job.settings.check_run == "auto"):
                _warn(error, job)

    async def _ends_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._ended.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _publish(self, check: Check, annotations: Sequence[Annotation], job: Job, deadline: Deadline) -> None:
        repository, own, following = self._repository, self._own, self._following
        if repository is None or own is None or following is None:
            return
        self._ended.set()
        try:
            with deadline.waiting():
                await asyncio.wait({following}, timeout=deadline.left)  # an update must not come after the verdict
            if not self._refused:
                await deadline.ask(lambda: self._write(check, annotations, repository, own, job))
        except PublishError as error:
            _warn(error, job)
        except asyncio.CancelledError:
            warn("no check run", "the job was cancelled", job)

    def _write(
        self, check: Check, annotations: Sequence[Annotation], repository: RepositoryPort, own: OwnCheckRun, job: Job
    ) -> None:
        def write() -> tuple[int, Check]:
            number = self._number or repository.find_check(own) or repository.create_check(own, self._counts.check())
            here = _neutral(check) if repository.is_elsewhere(number, own) else check
            repository.update_check(number, here)
            return number, here

        annotate(repository, *_repeated(write, job), annotations)


class _Counts(Progress):
    """Passes progress on to `shown`, and counts trials."""

    shown: Progress

    def __init__(self) -> None:
        self._expected = self._finished = 0

    def check(self) -> Check:
        """Return what the check run shows now."""
        trials = f"{self._finished} of {count(self._expected, 'trial')}" if self._expected else "preparing"
        return Check(title=f"Running: {trials}", summary="The verdict follows. More trials may be added to confirm it.")

    def say(self, text: str) -> None:
        """Pass it on."""
        self.shown.say(text)

    def stage(self, title: str) -> None:
        """Pass it on."""
        self.shown.stage(title)

    def expect(self, trials: int) -> None:
        """Add to the expected trials."""
        self._expected += trials
        self.shown.expect(trials)

    def started(self, spec: TrialSpec) -> None:
        """Pass it on."""
        self.shown.started(spec)

    def step(self, spec: TrialSpec, text: str) -> None:
        """Pass it on."""
        self.shown.step(spec, text)

    def finished(self, result: TrialResult) -> None:
        """Count the trial."""
        self._finished += 1
        self.shown.finished(result)


def annotate(repository: RepositoryPort, number: int, check: Check, annotations: Sequence[Annotation]) -> None:
    """Add all annotations that have a place, in several requests if needed."""
    placed = [one for one in annotations if one.file and one.line]
    for first in range(0, len(placed), MAX_ANNOTATIONS):
        repository.update_check(number, check, placed[first : first + MAX_ANNOTATIONS])


def _repeated(write: Callable[[], T], job: Job) -> T:
    for _ in range(TRIES - 1):
        try:
            return write()
        except PublishError as error:
            if not error.passing:
                raise
            job.outside.sleep(max(1.0, error.retry_after))
    return write()


def _neutral(check: Check) -> Check:
    """Return the check for the list of another workflow's jobs, whose result it must not change."""
    said = f"{check.title}: GitHub shows this check run under another workflow, so it is neither green nor red."
    return check.model_copy(update={"conclusion": "neutral", "summary": f"{said}\n\n{check.summary}"})


def _conclusion(result: Result) -> Conclusion:
    """Return `failure` exactly if the job fails. What proves nothing and blocks nothing is neutral."""
    if result.verdict.exit_code:
        return "failure"
    return "success" if result.verdict.state == "passed" else "neutral"


def _title(text: str) -> str:
    return one_line(text)[:MAX_TITLE]


def _warn(error: PublishError, job: Job) -> None:
    warn("no check run", f"the check run was not published: {error.message}", job, error.advice)
