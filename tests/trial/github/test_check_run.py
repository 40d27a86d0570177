"""The check run of our own: counts, the verdict, annotations. No answer of GitHub changes the exit code."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.gh.emulated.runner import pull_request_payload
from tests.gh.fake.server import FakeGitHub, PullRequest
from tests.gh.fake.state import CheckRow
from tests.gh.job import Job
from tests.make import HEAD_SHA, spec, trial_result
from tests.thorough.github.test_fault_layer import ENDLESS, GREEN, OLD, RED, TRANSIENT, Ended, Layer
from tests.thorough.github.test_fault_layer import layer as layer
from tidegate.github import own_check
from tidegate.github.event import PullRequestEvent, read_event
from tidegate.github.job import Job as ActionJob
from tidegate.github.port import Check, OwnCheckRun
from tidegate.github.publishing import Subject
from tidegate.github.pull_request import conclude
from tidegate.github.workflow_commands import Annotation
from tidegate.model.progress import Progress
from tidegate.model.result import Result

ON = {"check_run": "true"}
CHECKING = {
    "create": ("POST", "/check-runs$"),
    "find": ("GET", "/commits/[0-9a-f]+/check-runs"),
    "which suite": ("GET", "/check-runs/[0-9]+$"),
    "beside which jobs": ("GET", "/check-suites/"),
    "update": ("PATCH", "/check-runs/"),
}


@pytest.fixture(autouse=True)
def counting_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are updated fifty times a second."""
    monkeypatch.setattr(own_check, "BETWEEN", 0.02)


def only(pull: PullRequest) -> CheckRow:
    (row,) = pull.repo.checks
    return row


def test_the_verdict_is_a_check_with_the_comments_text(job: Job) -> None:
    ran, _ = job.run(job.github.token_like("checks"), ON)

    check, (comment,) = only(job.pull), job.pull.bot_comments()
    assert ran.exit_code == 1, ran.stderr
    assert (check.name, check.head_sha) == ("Tidegate report", job.pull.row.head_sha)
    assert (check.status, check.conclusion) == ("completed", "failure")
    assert check.titles[0] == "Running: preparing"
    assert comment.body.partition("\n")[2].strip() == check.summary.strip()
    (annotation,) = check.annotations
    assert (annotation["path"], annotation["annotation_level"]) == ("AGENTS.md", "failure")


def test_by_default_there_is_one_where_the_token_may_write_it(job: Job) -> None:
    job.fix()
    job.run(job.github.token_like("checks"))

    assert only(job.pull).conclusion == "success"


def test_by_default_nobody_is_warned_of_a_missing_permission(job: Job) -> None:
    job.fix()
    ran, _ = job.run()

    assert (ran.exit_code, job.pull.repo.checks, ran.log.annotations()) == (0, [], [])


def test_the_input_can_switch_it_off(job: Job) -> None:
    job.fix()
    job.run(job.github.token_like("checks"), {"check_run": "false"})

    assert job.pull.repo.checks == []


def test_among_another_workflows_jobs_it_is_neither_green_nor_red(layer: Layer) -> None:
    pull = layer.pull_request(("GET", "^/nothing$"), "500", 1)
    pull.repo.suite_of = 4_711

    end = concluded(layer, pull, "500", RED)

    assert (end.code, only(pull).conclusion) == (1, "neutral")
    assert "under another workflow" in only(pull).summary


@pytest.mark.parametrize("kind", ["502 after it was done", "reset after it was done"])
def test_one_whose_answer_was_lost_is_found_again(layer: Layer, kind: str) -> None:
    pull = layer.pull_request(CHECKING["create"], kind, 99)

    concluded(layer, pull, kind, GREEN)

    assert (only(pull).status, only(pull).conclusion) == ("completed", "success")


def test_without_the_permission_everything_else_is_as_before(job: Job) -> None:
    job.fix()

    ran, _ = job.run(inputs=ON)

    assert (ran.exit_code, len(job.pull.bot_comments())) == (0, 1)
    assert "  checks: write" in ran.stdout
    assert [one.properties["title"] for one in ran.log.annotations()] == ["no check run"]


@pytest.mark.parametrize("changes", [{"head_repo": "mallory/fork"}, {"sender": "dependabot[bot]"}])
def test_where_the_token_can_only_read_none_is_tried(job: Job, changes: dict[str, Any]) -> None:
    job.run(job.github.token_like("read-only"), ON, **changes)

    assert not [seen for seen in job.github.front.seen if "/check-runs" in seen.path]


def test_a_dry_run_makes_none(job: Job) -> None:
    job.fix()
    job.run(job.github.token_like("checks"), {**ON, "dry_run": "true"})

    assert job.github.front.writes() == []


def test_a_run_that_cannot_run_is_red(job: Job) -> None:
    job.repo.commit({"tidegate.yaml": "version: 1\nscenarios: [nowhere/*.yaml]\n"}, on="pr")

    ran, _ = job.run(job.github.token_like("checks"), {**ON, "instance": "app"})

    check = only(job.pull)
    assert (ran.exit_code, check.name, check.conclusion) == (2, "Tidegate report (app)", "failure")
    assert check.titles[-1] == "no verdict: it could not be run"
    assert "nowhere" in check.summary


def test_more_than_fifty_annotations_take_several_requests(github: FakeGitHub) -> None:
    pull = github.pull_request()
    port = pull.connect(github.token_like("checks"))
    own = OwnCheckRun(name="x", head_sha=HEAD_SHA, external_id="1", details_url="https://github.com/x")
    number = port.create_check(own, Check(title="t", summary="s"))
    many = [Annotation(level="error", message=f"{n}", file="a.md", line=n + 1) for n in range(120)]
    unplaced = Annotation(level="error", message="no place")

    own_check.annotate(port, number, Check(title="t", summary="s", conclusion="failure"), [unplaced, *many])

    assert [one["message"] for one in only(pull).annotations] == [f"{n}" for n in range(120)]
    assert len([seen for seen in github.front.seen if seen.method == "PATCH"]) == 3


def test_counts_are_shown_while_trials_run(layer: Layer) -> None:
    pull = layer.pull_request(("GET", "^/nothing$"), "500", 1)
    job, _ = checked(layer, pull, "500")

    async def run() -> None:
        assert job.check
        job.check.start(HEAD_SHA, job)
        await until(lambda: len(pull.repo.checks) == 1)
        progress = job.check.counting(Progress())
        progress.expect(4)
        progress.started(spec())
        progress.finished(trial_result())
        await until(lambda: len(only(pull).titles) > 1)
        await job.check.conclude(GREEN, "text", job)

    asyncio.run(run())

    assert only(pull).titles == ["Running: preparing", "Running: 1 of 4 trials", "one line"]
    assert (only(pull).status, only(pull).conclusion) == ("completed", "success")


@pytest.mark.parametrize(
    ("state", "code", "conclusion"),
    [
        ("inconclusive", 0, "neutral"),
        ("inconclusive", 5, "failure"),
        ("failed", 0, "neutral"),
        ("not_run", 4, "failure"),
    ],
)
def test_it_is_red_exactly_if_the_job_is(layer: Layer, state: str, code: int, conclusion: str) -> None:
    pull = layer.pull_request(("GET", "^/nothing$"), "500", 1)
    verdict = GREEN.verdict.model_copy(update={"state": state, "exit_code": code})

    end = concluded(layer, pull, "500", GREEN.model_copy(update={"verdict": verdict}))

    assert (end.code, only(pull).conclusion) == (code, conclusion)


async def until(seen: Callable[[], bool]) -> None:
    """Wait for it, at most ten seconds."""
    for _ in range(500):
        if seen():
            return
        await asyncio.sleep(0.02)


def checked(layer: Layer, pull: PullRequest, kind: str) -> tuple[ActionJob, list[str]]:
    """A job with a check run, and the commands that it sends to the runner."""
    payload = pull_request_payload(pull.repository, 1, HEAD_SHA, OLD)
    job, commands = layer.job(pull, kind, "pull_request", payload, "checks")
    return replace(job, settings=job.settings.model_copy(update={"check_run": "true"})), commands


def concluded(layer: Layer, pull: PullRequest, kind: str, result: Result) -> Ended:
    """A job with a check run from its beginning to its end; its trials take no time."""
    job, commands = checked(layer, pull, kind)
    event = read_event("pull_request", pull_request_payload(pull.repository, 1, HEAD_SHA, OLD))
    assert isinstance(event, PullRequestEvent)

    async def start() -> int:
        assert job.check
        job.check.start(HEAD_SHA, job)
        return await conclude(event, result, Subject(1, HEAD_SHA, job.connect()), job)

    return layer.ended(job, commands, start())


def unharmed(layer: Layer, kind: str) -> None:
    """Fail if a fault of this kind, at any request of the check run, changes the exit code or the comment."""
    for call, times in itertools.product(CHECKING, (1, 99)):
        pull = layer.pull_request(CHECKING[call], kind, times)

        end = concluded(layer, pull, kind, RED)

        case = (call, times, end, pull.repo.checks)
        assert (end.code, end.outputs["verdict"]) == (1, "failed"), case
        assert end.seconds < (4 if kind in ENDLESS else 25), case
        assert len(pull.bot_comments()) == 1 or kind in ENDLESS, case  # a quarter of a second may be too short for it
        assert len(pull.repo.checks) <= 1, case
        assert not [row for row in pull.repo.checks if row.conclusion == "success"], case
        shown = any(row.conclusion == "failure" for row in pull.repo.checks)
        if kind not in ENDLESS:  # a thread left behind may still write
            assert shown or any("title=no check run" in command for command in end.warnings), case
            assert shown or times == 99 or kind not in TRANSIENT, case


@pytest.mark.parametrize("kind", ["503", "null", "no answer"])
def test_a_fault_changes_neither_the_exit_code_nor_the_comment(layer: Layer, kind: str) -> None:
    """tests/thorough has the other kinds."""
    unharmed(layer, kind)
