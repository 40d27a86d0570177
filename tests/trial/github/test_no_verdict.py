"""The comment after a run was cancelled, against the rule-enforcing GitHub."""

from __future__ import annotations

import signal
import subprocess
import time
from functools import partial

import pytest

from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import pull_request_payload
from tests.gh.fake.server import FakeGitHub as GitHub
from tests.gh.fake.server import PullRequest
from tests.gh.fixtures import make_result
from tests.gh.job import Job
from tests.journeys.conftest import FILES
from tests.make import HEAD_SHA
from tests.trial.test_processes import alive
from tests.unit.github.test_comment import publish
from tidegate.github.announce import OUTPUTS
from tidegate.github.comment import NoVerdict, Publication, WorkflowRun, publish_comment
from tidegate.github.settings import CommentMode
from tidegate.model.marker import Marker
from tidegate.reports.next_steps import CANCELLED

KEYED = FILES["tidegate.yaml"].replace("docs: {type: doc-follower}", "one: {type: anthropic, model: some-model}")
RED = make_result(head="1" * 40, add="regressed", list="ok")
GREEN_LATER = make_result(head="3" * 40, add="ok", list="ok")


def cancelled(pull: PullRequest, run: int = 2, mode: CommentMode = "always", head: str = HEAD_SHA) -> Publication:
    said = NoVerdict(instance="default", why="cancelled", detail=CANCELLED, cancelled=True)
    return publish_comment(pull.port(None), said, WorkflowRun(id=run, attempt=1, head=head), mode, None)


def could_not_run(pull: PullRequest, run: int = 2, head: str = HEAD_SHA) -> Publication:
    said = NoVerdict(instance="default", why="it could not be run", detail="no key")
    return publish_comment(pull.port(None), said, WorkflowRun(id=run, attempt=1, head=head), "always", lambda _: None)


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
    marker = Marker.parse(only(pull))
    assert marker
    assert marker.verdict == ""
    publish(pull, GREEN_LATER, run=3)
    assert "Fixed" in only(pull)


def test_a_verdict_on_the_same_commit_stays(github: GitHub) -> None:
    pull = github.pull_request()
    publish(pull, RED, run=1)
    before = only(pull)

    assert cancelled(pull, run=2, head="1" * 40).outcome == "unchanged"
    assert only(pull) == before


@pytest.mark.parametrize("mode", ["on-regression", "off"])
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


# The last verdict


def test_a_green_of_an_older_commit_is_replaced(github: GitHub) -> None:
    pull = github.pull_request()
    publish(pull, GREEN_LATER, run=1)
    pull.push(HEAD_SHA)

    assert could_not_run(pull).outcome == "updated"

    assert f"no verdict for `{HEAD_SHA[:7]}`: it could not be run" in only(pull)
    assert "passed" not in only(pull)


def test_a_run_that_fails_on_the_same_commit_replaces_its_verdict(github: GitHub) -> None:
    """Base may have changed meanwhile: the verdict was for another comparison."""
    pull = github.pull_request()
    publish(pull, GREEN_LATER, run=1)

    could_not_run(pull, 2, "3" * 40)

    assert "no verdict for `3333333`" in only(pull)


# Whole jobs


@pytest.mark.parametrize(
    ("inputs", "files", "code", "said"),
    [
        ({"comment": "sometimes"}, {}, 2, "`comment`"),
        ({"instance": "x" * 81}, {}, 2, "at most 80 characters"),
        ({}, {"tidegate.yaml": "trials: many\n"}, 2, "tidegate.yaml"),
        ({}, {"tidegate.yaml": KEYED}, 4, "ANTHROPIC_API_KEY"),
    ],
    ids=["a bad input", "a long instance", "a broken suite", "no key"],
)
def test_a_run_that_cannot_run_leaves_no_stale_green(
    job: Job, inputs: dict[str, str], files: dict[str, str], code: int, said: str
) -> None:
    job.fix()
    assert job.run()[0].exit_code == 0
    job.repo.git("checkout", "--quiet", "pr")
    job.repo.commit({"README.md": "new\n", **files})

    ran, step = job.run(inputs=inputs)

    assert ran.exit_code == code, ran.stderr
    assert said in step.summary()
    assert [note.properties["title"] for note in ran.log.annotations()] == ["tidegate could not run"]
    assert said in ran.log.annotations()[0].message
    assert (step.outputs()["verdict"], set(step.outputs())) == ("not_run", set(OUTPUTS))
    assert said in only(job.pull)
    assert step.outputs()["comment_url"] == job.pull.bot_comments()[0].url


def test_a_draft_that_is_skipped_leaves_no_stale_green(job: Job) -> None:
    job.fix()
    job.run()
    job.repo.commit({"README.md": "new\n"})

    job.pull.row.draft = True
    ran, step = job.run(inputs={"drafts": "skip"}, draft=True)

    assert (ran.exit_code, step.outputs()["reason"]) == (0, "draft"), ran.stderr
    assert "no verdict" in only(job.pull).partition("\n")[2].partition("\n")[0]


@pytest.mark.parametrize("state", ["is ready", "has another base", "has another head", "is unknown", "has no token"])
def test_a_run_that_began_as_a_draft_is_skipped_only_if_it_is_that_draft_now(job: Job, state: str) -> None:
    """A re-run has the payload of the first attempt, and its check the name of the one that is required."""
    job.pull.row.draft = state != "is ready"
    job.pull.row.base_ref = "release" if state == "has another base" else "main"
    job.repo.git("branch", "release", "main")
    job.check_out_merge()
    if state == "is unknown":
        job.github.front.faults.append(Fault("GET", "/pulls/1$", status=404, message="Not Found", times=99))
    if state == "has another head":
        job.github.front.faults.append(
            Fault("GET", "/pulls/1$", status=None, meanwhile=partial(job.pull.push, "4" * 40))
        )
    inputs = {"drafts": "skip"} | ({"github_token": ""} if state == "has no token" else {})

    ran, step = job.run(inputs=inputs, draft=True, attempt=(5, 2))

    assert (ran.exit_code, step.outputs()["reason"]) == (1, "regression"), ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_job_says_so_everywhere_and_leaves_nothing_running(job: Job, number: signal.Signals) -> None:
    seconds = 300 + time.time_ns() % 10**9 / 10**9  # of no other process
    job.repo.commit({"bin/notes": f"#!/bin/sh\ntrap '' INT TERM HUP\nsleep {seconds}\n"})
    head, base = job.repo.git("rev-parse", "pr"), job.repo.git("rev-parse", "main")
    job.pull.push(head)
    step = job.make_step(job.repo.root, job.github.api_url)
    payload = pull_request_payload(job.pull.repository, job.pull.number, head, base, head_ref="pr")
    environ = step.environ("pull_request", payload, {"github_token": job.github.token})
    with subprocess.Popen(["tidegate", "action"], cwd=job.repo.root, env=environ, stdout=-1, stderr=-1) as process:
        while not alive(seconds):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=120)

    assert process.returncode == 130, stderr
    assert b"interrupted" in stderr
    assert "cancelled" in only(job.pull)
    assert "cancelled" in step.summary()
    assert (step.outputs()["verdict"], step.outputs()["reason"]) == ("not_run", "cancelled")
    assert not alive(seconds)
