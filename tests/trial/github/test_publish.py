"""Publishing a fork's result from a trusted job: the comment, or the reason why there is none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gh.emulated.front import Fault
from tests.gh.fixtures import make_result
from tests.gh.job import Job
from tests.unit.github.test_artifact import CORPUS, packed
from tidegate.github.artifact import MAX_ARCHIVE
from tidegate.model.marker import Marker
from tidegate.model.result import Result
from tidegate.reports.result_json import result_json

RUN, NAME, HEAD = 77, "tidegate-result", "1" * 40
RED = make_result(head="e" * 40, add="regressed", list="ok")  # of the test-merge commit, as on GitHub
GREEN = make_result(head="e" * 40, add="ok", list="ok")


@pytest.fixture
def fork(job: Job) -> Job:
    """A pull request from mallory's fork."""
    job.pull.row.head_repo = "mallory/fork"
    job.pull.push(HEAD)
    return job


def upload(job: Job, result: Result, **more: Any) -> None:
    job.pull.upload(RUN, NAME, packed(result_json(result)), **more)


@pytest.mark.own_process
def test_the_documented_workflow_end_to_end(fork: Job) -> None:
    """The fork's own job, read-only and red; its result.json as an artifact; the trusted workflow; the comment."""
    ran, _ = fork.run(token=fork.github.token_like("read-only"), head_repo="mallory/fork")
    assert (ran.exit_code, fork.pull.bot_comments()) == (1, []), ran.stderr
    result = (fork.repo.root / ".tidegate/pr/result.json").read_text(encoding="utf-8")
    fork.pull.upload(RUN, NAME, packed(result))

    published, step = fork.publish(RUN)

    (comment,) = fork.pull.bot_comments()
    assert published.exit_code == 0, published.stderr
    assert "Not verified" in comment.body
    assert "notes: unknown command: add" in comment.body
    assert "tidegate run" not in comment.body  # no command of the artifact, only our own recipe
    assert step.outputs()["comment_url"] == comment.url
    assert "Not verified" in step.summary()
    marker = Marker.parse(comment.body)
    assert marker is not None
    assert (marker.head, marker.run) == (fork.pull.row.head_sha, RUN)


def test_a_pass_that_the_run_itself_contradicts_is_shown_as_that(fork: Job) -> None:
    upload(fork, GREEN)

    fork.publish(RUN, conclusion="failure")

    assert "ended with failure, which contradicts this result" in fork.pull.bot_comments()[0].body


@pytest.mark.parametrize("name", ["zip slip", "forged pass", "10,000 files", "bomb", "unknown key", "symlink"])
def test_what_is_poisoned_is_not_published_and_the_log_says_why(fork: Job, name: str) -> None:
    """Some of the corpus, all the way; test_artifact.py has all of it."""
    fork.pull.upload(RUN, NAME, CORPUS[name][0]())

    ran, step = fork.publish(RUN)

    assert (ran.exit_code, fork.pull.comments()) == (2, [])
    assert f"the artifact `{NAME}` of run {RUN} was not published: " in ran.stderr
    assert "was not published" in step.summary()
    assert list(step.workspace.iterdir()) == []


@pytest.mark.parametrize("said", [MAX_ARCHIVE + 1, 10], ids=["said", "not said"])
def test_too_large_an_archive_is_never_read_to_its_end(fork: Job, said: int) -> None:
    fork.pull.upload(RUN, NAME, b"x" * (MAX_ARCHIVE + 1), size=said)

    ran, _ = fork.publish(RUN)

    assert ran.exit_code != 0
    assert "bytes" in ran.stderr
    assert fork.pull.comments() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"head": "2" * 40}, "No open pull request has that run's commit as its head"),
        ({"branch": "another"}, "No open pull request"),
        ({"head_repo": "trudy/fork"}, "No open pull request"),
        ({"head_repo": None}, "The fork has been deleted"),
        ({"event": "push"}, "started by `push`"),
        ({"head_repo": "acme/repo-1"}, "this repository's own"),
    ],
    ids=["stale sha", "another branch", "another fork", "deleted fork", "no pull request", "not a fork"],
)
def test_only_github_s_word_says_whose_result_it_is(fork: Job, changes: dict[str, Any], said: str) -> None:
    upload(fork, RED)

    ran, step = fork.publish(RUN, **changes)

    assert (ran.exit_code, fork.pull.comments()) == (0, []), ran.stderr
    assert said in ran.stdout
    assert step.outputs()["reason"] == "nothing_to_do"


def test_a_closed_pull_request_gets_no_comment(fork: Job) -> None:
    upload(fork, RED)
    fork.pull.row.state = "closed"

    ran, _ = fork.publish(RUN)

    assert (ran.exit_code, fork.pull.comments()) == (0, [])


def test_of_several_attempts_the_newest_counts(fork: Job) -> None:
    upload(fork, RED)
    upload(fork, GREEN)

    fork.publish(RUN)

    assert "passed" in fork.pull.bot_comments()[0].body


@pytest.mark.parametrize("instance", ["default", "app"])
def test_the_comment_links_the_report_that_a_browser_opens(fork: Job, instance: str) -> None:
    suffix = "" if instance == "default" else f"-{instance}"
    fork.pull.upload(RUN, NAME + suffix, packed(result_json(RED.model_copy(update={"instance": instance}))))
    fork.pull.upload(RUN, f"tidegate-report{suffix}.html", b"<!doctype html>")
    report = fork.pull.repo.artifacts[-1].id

    fork.publish(RUN, inputs={"instance": instance})

    assert f"/actions/runs/{RUN}/artifacts/{report})" in fork.pull.bot_comments()[0].body


@pytest.mark.parametrize("gone", [True, False], ids=["expired", "not to be had"])
def test_without_that_report_it_links_the_result(fork: Job, *, gone: bool) -> None:
    upload(fork, RED)
    result = fork.pull.repo.artifacts[-1].id
    fork.pull.upload(RUN, "tidegate-report.html", b"<!doctype html>", expired=gone)
    if not gone:
        fork.github.front.faults.append(Fault("GET", "/artifacts[?].*name=tidegate-report", status=500, times=99))

    ran, _ = fork.publish(RUN)

    assert ran.exit_code == 0, ran.stderr
    assert f"/actions/runs/{RUN}/artifacts/{result})" in fork.pull.bot_comments()[0].body


def test_a_run_that_uploaded_nothing_is_no_failure(fork: Job) -> None:
    upload(fork, RED, expired=True)
    fork.pull.upload(RUN, "something-else", packed(result_json(RED)))
    fork.pull.upload(RUN + 1, NAME, packed(result_json(RED)))

    ran, _ = fork.publish(RUN)

    assert (ran.exit_code, fork.pull.comments()) == (0, [])
    assert f"no artifact `{NAME}`" in ran.stdout


def test_every_instance_has_an_artifact_of_its_own(fork: Job) -> None:
    fork.pull.upload(RUN, f"{NAME}-app", packed(result_json(RED.model_copy(update={"instance": "app"}))))

    fork.publish(RUN, inputs={"instance": "app"})

    marker = Marker.parse(fork.pull.bot_comments()[0].body)
    assert marker
    assert marker.instance == "app"


def test_dependabot_is_published_though_it_is_no_fork(fork: Job) -> None:
    """Its token can only read, too."""
    fork.pull.row.head_repo = fork.pull.repository
    upload(fork, RED)

    fork.publish(RUN, actor="dependabot[bot]")

    assert len(fork.pull.bot_comments()) == 1


def test_a_missing_permission_is_said_with_the_line_to_add(fork: Job) -> None:
    upload(fork, RED)

    ran, _ = fork.publish(RUN, inputs={"github_token": fork.github.token_like("documented")})

    assert ran.exit_code == 4
    assert "  actions: read" in ran.stderr
