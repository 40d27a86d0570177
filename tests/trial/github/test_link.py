"""The uploaded report's address in the comment, after the upload."""

from __future__ import annotations

import pytest

from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import load_event
from tests.gh.job import Job

LINK = {"command": "link"}


def address(job: Job, run: int) -> str:
    return f"https://github.com/{job.pull.repository}/actions/runs/{run}/artifacts/77"


def listed(job: Job, run: int) -> str:
    return f"https://github.com/{job.pull.repository}/actions/runs/{run}#artifacts"


def test_the_report_is_linked_in_the_comment(job: Job) -> None:
    job.run(attempt=(5, 1))
    (before,) = job.pull.bot_comments()

    ran, _ = job.run(None, {**LINK, "args": address(job, 5)}, attempt=(5, 1))

    (comment,) = job.pull.bot_comments()
    assert ran.exit_code == 0, ran.stderr
    assert comment.body == before.body.replace(listed(job, 5), address(job, 5)) != before.body


def test_a_comment_of_a_newer_run_stays(job: Job) -> None:
    job.run(attempt=(6, 1))
    (before,) = job.pull.bot_comments()

    ran, _ = job.run(None, {**LINK, "args": address(job, 5)}, attempt=(5, 1))

    assert (ran.exit_code, job.pull.bot_comments()) == (0, [before])


def test_where_the_token_can_only_read_nothing_is_asked(job: Job) -> None:
    ran, _ = job.run(
        job.github.token_like("read-only"), {**LINK, "args": address(job, 5)}, attempt=(5, 1), head_repo="mallory/fork"
    )

    assert (ran.exit_code, job.github.front.seen) == (0, [])


def test_in_a_merge_queue_there_is_no_comment_and_nothing_is_run_again(job: Job) -> None:
    payload = load_event("merge_group.checks_requested")
    step = job.make_step(job.repo.root, job.github.api_url)
    page = f"https://github.com/{payload['repository']['full_name']}/actions/runs/5/artifacts/77"
    inputs = {**LINK, "github_token": job.github.token, "args": page}

    ran = job.start(step, step.environ("merge_group", payload, inputs, (5, 1)))

    assert (ran.exit_code, step.outputs(), job.github.front.seen) == (0, {}, []), ran.stderr
    assert not (job.repo.root / ".tidegate").exists()


def test_a_github_that_fails_is_a_warning(job: Job) -> None:
    job.run(attempt=(5, 1))
    job.github.front.faults.append(Fault("PATCH", "/issues/comments/", status=500, times=99))

    ran, _ = job.run(None, {**LINK, "args": address(job, 5)}, attempt=(5, 1))

    assert ran.exit_code == 0
    assert [one.properties["title"] for one in ran.log.annotations()] == ["no link"]


@pytest.mark.parametrize("args", ["", "https://elsewhere.invalid/actions/runs/5/artifacts/7", "javascript:alert(1)"])
def test_another_address_is_refused(job: Job, args: str) -> None:
    ran, _ = job.run(None, {**LINK, "args": args}, attempt=(5, 1))

    assert (ran.exit_code, job.pull.bot_comments()) == (2, [])
