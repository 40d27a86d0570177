"""A maintainer accepts the regressions of a fork, of whose run nothing is believed: GitHub and our comment decide."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gh.fixtures import make_result
from tests.gh.job import Job
from tests.trial.github.test_publish import GREEN, HEAD, NAME, RED
from tests.trial.github.test_publish import fork as fork
from tests.unit.github.test_artifact import packed
from tidegate.model.marker import Marker, short
from tidegate.model.result import Result
from tidegate.reports.result_json import result_json

LABEL, OTHER = "tidegate: accept", "2" * 40
ACCEPTED = RED.model_copy(update={"verdict": RED.verdict.accepted("olivia")})  # as the fork's run says


def publish(job: Job, run: int, result: Result = ACCEPTED, **changes: Any) -> str:
    """A run of the fork has uploaded the result, and the trusted workflow publishes it. Returns the comment."""
    job.pull.upload(run, NAME, packed(result_json(result)))
    ran, _ = job.publish(run, **changes)
    assert ran.exit_code == 0, ran.stderr
    (comment,) = [one for one in job.pull.bot_comments() if Marker.parse(one.body)]
    return comment.body + ran.stdout


def wait(job: Job, seconds: int) -> None:
    for _ in range(seconds):
        next(job.github.state.clock)


def test_what_a_maintainer_accepts_is_published_as_passed(fork: Job) -> None:
    """With the fork's own job, which reads the label with a token that cannot write."""
    token = fork.github.token_like("read-only")
    red, _ = fork.run(token=token, head_repo="mallory/fork")
    assert red.exit_code == 1, red.stderr
    path = fork.repo.root / ".tidegate/pr/result.json"
    fork.pull.upload(1, NAME, packed(path.read_text(encoding="utf-8")))
    fork.publish(1)

    fork.pull.label(LABEL)
    green, _ = fork.run(token=token, head_repo="mallory/fork", action="labeled", label=LABEL, sender="olivia")
    fork.pull.upload(2, NAME, packed(path.read_text(encoding="utf-8")))
    published, step = fork.publish(2, conclusion="success")

    (comment,) = fork.pull.bot_comments()
    assert (green.exit_code, published.exit_code) == (0, 0), published.stderr
    for text in (comment.body, step.summary()):
        assert "passed (accepted)" in text
        assert "Accepted by `olivia`" in text
        assert "Not verified" in text
        assert "notes: unknown command: add" in text


def test_it_holds_for_later_runs_of_the_same_commit(fork: Job) -> None:
    publish(fork, 1, RED)
    fork.pull.label(LABEL)

    assert "passed (accepted)" in publish(fork, 2)
    wait(fork, 60)
    assert "passed (accepted)" in publish(fork, 3)


def test_a_forks_word_alone_accepts_nothing(fork: Job) -> None:
    assert "Tidegate: failed" in publish(fork, 1)


@pytest.mark.parametrize("by", ["tristan", "mallory"], ids=["who may triage", "a stranger"])
def test_who_may_not_push_accepts_nothing(fork: Job, by: str) -> None:
    publish(fork, 1, RED)
    fork.pull.label(LABEL, by)

    said = publish(fork, 2)

    assert "Tidegate: failed" in said
    assert "may not push to this repository" in said


def test_a_label_for_an_older_commit_accepts_nothing(fork: Job) -> None:
    publish(fork, 1, RED)
    fork.pull.label(LABEL)
    fork.pull.push(OTHER)

    said = publish(fork, 2)

    assert "Tidegate: failed" in said
    assert "was put there before the comment showed the verdict on this commit" in said


def test_a_label_that_was_there_before_the_verdict_accepts_nothing(fork: Job) -> None:
    fork.pull.label(LABEL)
    publish(fork, 1, RED)

    assert "Tidegate: failed" in publish(fork, 2)


def test_a_commit_that_comes_back_after_the_label_is_not_what_was_accepted(fork: Job) -> None:
    """The author shows HEAD's verdict, replaces it, waits for the label, and puts it back."""
    publish(fork, 1, RED)
    wait(fork, 60)
    fork.pull.force_push(OTHER)
    fork.pull.label(LABEL)
    fork.pull.push(HEAD)

    assert "Tidegate: failed" in publish(fork, 2)


def test_a_force_push_while_the_verdict_is_published_counts_as_one_after_it(fork: Job) -> None:
    fork.pull.force_push(HEAD)
    publish(fork, 1, RED)
    fork.pull.label(LABEL)

    assert "Tidegate: failed" in publish(fork, 2)


def test_a_force_push_before_the_verdict_does_no_harm(fork: Job) -> None:
    fork.pull.force_push(HEAD)
    wait(fork, 60)
    publish(fork, 1, RED)
    fork.pull.label(LABEL)

    assert "passed (accepted)" in publish(fork, 2)


def test_what_a_fork_compares_with_another_branch_is_not_accepted_for_it(fork: Job) -> None:
    """It would be recorded for a branch that the pull request is retargeted to later."""
    publish(fork, 1, RED)
    fork.pull.label(LABEL)
    base = RED.sides.base.model_copy(update={"ref": "release"})
    forged = RED.model_copy(update={"sides": RED.sides.model_copy(update={"base": base})})

    assert "Tidegate: failed" in publish(fork, 2, forged)


def test_what_an_earlier_upload_showed_is_not_accepted(fork: Job) -> None:
    """The comment lists no row of it any more when the label is put there."""
    publish(fork, 1, make_result(head="e" * 40, add="regressed", list="regressed"))

    said = publish(fork, 2, make_result(head="e" * 40, add="regressed", list="flaky"))

    marker = Marker.parse(said)
    assert marker is not None
    assert marker.red == (short("add × docs regressed"),)


def test_green_needs_no_acceptance(fork: Job) -> None:
    publish(fork, 1, RED)
    fork.pull.label(LABEL)

    said = publish(fork, 2, GREEN, conclusion="success")

    assert "Tidegate: passed ·" in said
    assert "Accepted" not in said
