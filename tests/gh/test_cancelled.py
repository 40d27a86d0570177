"""The comment after a run was cancelled, against the rule-enforcing GitHub."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.gh.conftest import make_result
from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import pull_request_payload
from tests.gh.fake.server import FakeGitHub as GitHub
from tests.gh.fake.server import PullRequest
from tests.gh.job import Job
from tests.gh.test_comment import publish
from tests.make import HEAD_SHA
from tidegate.gh.cancelled import note_cancelled
from tidegate.gh.comment import Publication, WorkflowRun
from tidegate.model.marker import Marker
from tidegate.settings import CommentMode

RED = make_result(head="1" * 40, add="regressed", list="ok")
GREEN_LATER = make_result(head="3" * 40, add="ok", list="ok")


def cancelled(pull: PullRequest, run: int = 2, mode: CommentMode = "always", head: str = HEAD_SHA) -> Publication:
    return note_cancelled(pull.port(None), WorkflowRun(id=run, attempt=1, head=head), "default", mode)


def only(pull: PullRequest) -> str:
    (comment,) = pull.bot_comments()
    return comment.body


def test_a_first_run_makes_the_comment(github: GitHub) -> None:
    pull = github.pull_request()
    pull.push(HEAD_SHA)

    assert cancelled(pull).outcome == "created"
    assert "cancelled" in only(pull)
    assert Marker.parse(only(pull)) == Marker(instance="default", head=HEAD_SHA, run=2, attempt=1)


def test_what_was_red_is_not_forgotten(github: GitHub) -> None:
    """The verdict after the cancelled run still tells what it has fixed."""
    pull = github.pull_request()
    publish(pull, RED, run=1)
    pull.push(HEAD_SHA)

    assert cancelled(pull, run=2).outcome == "updated"
    assert "regressed" not in only(pull).partition("\n")[2]
    publish(pull, GREEN_LATER, run=3)
    assert "Fixed" in only(pull)


def test_a_verdict_on_the_same_commit_stays(github: GitHub) -> None:
    pull = github.pull_request()
    publish(pull, RED, run=1)
    before = only(pull)

    assert cancelled(pull, run=2, head="1" * 40).outcome == "unchanged"
    assert only(pull) == before


def test_nothing_is_said_over_a_newer_commit(github: GitHub) -> None:
    """Most runs are cancelled by the push that makes the next one."""
    pull = github.pull_request()
    publish(pull, RED, run=1)
    before = only(pull)
    pull.push("9" * 40)

    assert cancelled(pull).outcome == "superseded"
    assert only(pull) == before


@pytest.mark.parametrize("mode", ["on-change", "on-regression", "off"])
def test_a_mode_that_does_not_comment_on_every_run_makes_no_comment(github: GitHub, mode: CommentMode) -> None:
    pull = github.pull_request()
    pull.push(HEAD_SHA)

    cancelled(pull, mode=mode)

    assert pull.bot_comments() == []


def test_a_write_that_fails_is_not_tried_again(github: GitHub) -> None:
    pull = github.pull_request()
    pull.push(HEAD_SHA)
    github.front.faults.append(Fault("POST", "/issues/1/comments"))

    assert cancelled(pull).outcome == "failed"
    assert [seen.method for seen in github.front.writes() if "graphql" not in seen.path] == ["POST"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_job_says_so_everywhere_and_leaves_nothing_running(
    job: Job, number: signal.Signals, tmp_path: Path
) -> None:
    mark = tmp_path / "started"
    job.repo.git("checkout", "--quiet", "pr")
    job.repo.commit({"bin/notes": f"#!/bin/sh\ntrap '' INT TERM HUP\necho $$ > {mark}\nsleep 300\n"})
    head, base = job.repo.git("rev-parse", "pr"), job.repo.git("rev-parse", "main")
    job.pull.push(head)
    step = job.make_step(job.repo.root, job.github.api_url)
    payload = pull_request_payload(job.pull.repository, job.pull.number, head, base, head_ref="pr")
    environ = step.environ("pull_request", payload, {"github_token": job.github.token})
    with subprocess.Popen(["tidegate", "action"], cwd=job.repo.root, env=environ, stdout=-1, stderr=-1) as process:
        while not (mark.exists() and mark.read_text()):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=30)

    assert process.returncode == 130, stderr
    assert b"interrupted" in stderr
    assert "cancelled" in only(job.pull)
    assert "cancelled" in step.summary()
    assert (step.outputs()["verdict"], step.outputs()["reason"]) == ("not_run", "cancelled")
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
