"""Labels of others and new titles: the job ends at once with the verdict that the commit has already."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gh.emulated.runner import Step
from tests.gh.job import Job
from tests.trial.github.test_accept import LABEL, accept
from tidegate.model.marker import Marker

EVENTS: list[dict[str, Any]] = [
    {"action": "labeled", "label": "bug"},
    {"action": "edited", "changes": {"title": {"from": "x"}}},
]


def repeated(step: Step) -> bool:
    """The job has run nothing."""
    return "changes nothing that is compared" in step.summary()


KEY = {"ANTHROPIC_API_KEY": "sk-of-the-job"}


@pytest.mark.parametrize("event", EVENTS, ids=["a label", "a title"])
@pytest.mark.parametrize("red", [True, False])
def test_a_verdict_of_the_same_commit_stands(job: Job, event: dict[str, Any], red: bool) -> None:
    if not red:
        job.fix()
    _, first = job.run(action="synchronize", environ=KEY)

    ran, step = job.run(**event, environ=KEY)

    assert (ran.exit_code, step.outputs()["verdict"]) == ((1, "failed") if red else (0, "passed")), ran.stderr
    assert step.outputs()["reason"] == first.outputs()["reason"]
    assert step.outputs()["comment_url"] == job.pull.bot_comments()[0].url
    assert "stands" in step.summary()
    assert repeated(step)


@pytest.mark.attempt(
    "has the record in Tidegate's comment edited to a pass, and its title changed", "its own run decides"
)
@pytest.mark.parametrize("code", ["0", "256"])
@pytest.mark.parametrize("environ", [KEY, {}], ids=["with a key", "without"])
def test_a_pass_that_another_workflow_wrote_into_the_comment_is_not_repeated(
    job: Job, environ: dict[str, str], code: str
) -> None:
    job.run(action="synchronize", environ=environ)
    (comment,) = job.pull.repo.comments
    comment.body = comment.body.replace("verdict=failed", "verdict=passed").replace("exit=1", f"exit={code}")
    assert f"exit={code}" in comment.body.partition("\n")[0]

    ran, step = job.run(**EVENTS[1], environ=environ)

    assert ran.exit_code == 1
    assert not repeated(step)


def test_a_pass_without_a_key_is_run_again(job: Job) -> None:
    """Without a model, this costs next to nothing."""
    job.fix()
    job.run(action="synchronize")

    ran, step = job.run(**EVENTS[0])

    assert (ran.exit_code, repeated(step)) == (0, False)


@pytest.mark.parametrize(
    "event",
    [{"action": "labeled", "label": LABEL.upper()}, {"action": "edited", "changes": {"base": {"ref": {"from": "x"}}}}],
    ids=["our label", "a new base branch"],
)
def test_what_changes_something_is_run(job: Job, event: dict[str, Any]) -> None:
    job.run(action="synchronize")

    assert not repeated(job.run(**event)[1])


def test_without_a_verdict_on_this_commit_the_suite_is_run(job: Job) -> None:
    job.run(action="synchronize")
    job.fix()

    assert not repeated(job.run(action="labeled", label="bug")[1])


def test_a_verdict_against_another_base_branch_does_not_stand(job: Job) -> None:
    job.fix()
    job.run(action="synchronize")
    job.repo.git("branch", "release", "main")

    assert not repeated(job.run(action="labeled", label="bug", base_ref="release")[1])


def test_an_acceptance_is_read_again(job: Job) -> None:
    assert accept(job)[0].exit_code == 0
    job.pull.row.labels.clear()

    assert job.run(action="labeled", label="bug")[0].exit_code == 1


@pytest.mark.attempt("uploads a forged pass, and waits for a label of a maintainer", "its own run decides", 1)
def test_what_a_fork_uploaded_is_never_repeated(job: Job) -> None:
    """The comment that the trusted workflow publishes has no exit code in its marker."""
    from tests.thorough.github.test_fault_layer import GREEN
    from tests.unit.github.test_artifact import packed
    from tidegate.reports.result_json import result_json

    job.pull.row.head_repo = "mallory/fork"
    head = job.repo.git("rev-parse", "pr")
    job.pull.push(head)
    job.pull.upload(7, "tidegate-result", packed(result_json(GREEN)))
    assert job.publish(7)[0].exit_code == 0
    marker = Marker.parse(job.pull.bot_comments()[0].body)
    assert marker
    assert (marker.head, marker.verdict, marker.exit_code) == (head, "passed", None)

    ran, _ = job.run(head_repo="mallory/fork", action="labeled", label="bug")

    assert ran.exit_code == 1
