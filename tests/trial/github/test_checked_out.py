"""Only the event's commits are compared: a job with another commit checked out ends with exit code 2."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gh.emulated.runner import Ran, Step, load_event
from tests.gh.job import RENAMED, Job
from tests.journeys.conftest import FILES, NOTES
from tests.trial.github.test_accept import LABEL, accept


def merge(job: Job, onto: str, other: str, name: str) -> str:
    """A merge commit of two branches, checked out without a branch; returns it."""
    job.repo.git("checkout", "--quiet", "--detach", onto)
    job.repo.git("merge", "--quiet", "--no-ff", "--strategy", "ours", "--message", name, other)
    return job.repo.git("rev-parse", "HEAD")


def refused(ran: Ran, job: Job) -> None:
    """Nothing was run, and the log says what is checked out, what should be, and which line to change."""
    assert ran.exit_code == 2, ran.stdout + ran.stderr
    assert job.repo.git("rev-parse", "HEAD")[:12] in ran.stderr
    assert job.repo.git("rev-parse", "pr")[:12] in ran.stderr
    assert "`ref:" in ran.stderr
    assert all("no verdict" in comment.body for comment in job.pull.bot_comments())
    assert not (job.repo.root / ".tidegate/pr/runs").exists()


@pytest.mark.attempt("is run with main checked out, whose tip is a merge", "refused: the wrong commit", 2)
def test_main_whose_tip_is_a_merge_commit_is_not_the_test_merge(job: Job) -> None:
    """`ref: main`: both sides would be of main, and a broken pull request green."""
    job.repo.branch("other", {"README.md": "x\n"})
    tip = merge(job, "main", "other", "Merge pull request #1")
    job.repo.git("branch", "--force", "main", tip)

    refused(job.run()[0], job)


@pytest.mark.attempt("is run with a merge checked out that is newer than the event", "refused: the wrong commit", 2)
def test_a_merge_that_was_pushed_after_the_event_is_not_the_test_merge(job: Job) -> None:
    """`ref: ${{ github.head_ref }}`, and "Update branch" was pressed: the first parent is the broken head itself."""
    head = job.repo.git("rev-parse", "pr")
    job.repo.commit({"README.md": "x\n"}, on="main")
    merge(job, head, "main", "Merge branch 'main' into pr")

    refused(job.run()[0], job)


def test_a_merge_onto_a_commit_that_the_base_branch_does_not_have_is_not_the_test_merge(job: Job) -> None:
    """Its author chose the first parent, which would be base, and whose rules would hold."""
    job.repo.branch("evil", {"bin/notes": RENAMED})
    merge(job, "evil", "pr", "Merge pr")

    refused(job.run()[0], job)


def test_a_merge_of_three_is_not_the_test_merge(job: Job) -> None:
    job.repo.branch("one", {"a": "1"})
    job.repo.branch("two", {"b": "1"})
    job.repo.git("checkout", "--quiet", "--detach", "main")
    job.repo.git("merge", "--quiet", "--no-ff", "--message", "three", "one", "two")

    refused(job.run()[0], job)


def test_a_test_merge_of_an_older_head_is_refused(job: Job) -> None:
    job.check_out_merge()
    old = job.repo.git("rev-parse", "HEAD")
    job.fix()
    job.repo.git("checkout", "--quiet", "--detach", old)

    refused(job.run()[0], job)


def test_a_maintainer_s_run_of_a_merge_of_something_else_is_refused(job: Job) -> None:
    job.pull.row.head_repo = "mallory/fork"
    job.pull.push(job.repo.git("rev-parse", "pr"))
    job.repo.branch("other", {"README.md": "x\n"})
    merged = merge(job, "main", "other", "Merge pull request #1")

    ran, _ = job.dispatch(checked_out=merged)

    assert ran.exit_code == 2
    assert "`ref: ${{ inputs.sha }}`" in ran.stderr
    assert job.pull.statuses() == []


def test_the_pull_request_s_own_head_may_be_a_merge(job: Job) -> None:
    """The branch was updated before the event: its head is the merge, and is compared with main."""
    job.repo.commit({"README.md": "x\n"}, on="main")
    job.repo.git("checkout", "--quiet", "pr")
    job.repo.git("merge", "--quiet", "--no-ff", "--message", "Merge branch 'main' into pr", "main")

    ran, step = job.run()

    assert (ran.exit_code, step.outputs()["reason"]) == (1, "regression"), ran.stderr


def group(job: Job, head: str) -> Ran:
    payload = load_event("merge_group.checks_requested")
    payload["merge_group"] |= {"base_sha": job.repo.git("rev-parse", "main"), "head_sha": head}
    payload["repository"]["full_name"] = job.pull.repository
    step = job.make_step(job.repo.root, job.github.api_url)
    return job.start(step, step.environ("merge_group", payload, {"github_token": job.github.token}))


def test_a_merge_group_is_compared_where_it_is_checked_out_alone(job: Job) -> None:
    job.check_out_merge()
    head = job.repo.git("rev-parse", "HEAD")
    red = group(job, head)
    job.repo.git("checkout", "--quiet", "main")
    elsewhere = group(job, head)

    assert (red.exit_code, elsewhere.exit_code) == (1, 2), red.stderr
    assert f"the merge group is {head[:12]}" in elsewhere.stderr
    assert "branch `main`" in elsewhere.stderr
    assert "remove the line `ref:`" in elsewhere.stderr


def retarget(job: Job, **more: Any) -> tuple[Ran, Step]:
    return job.run(action="edited", changes={"base": {"ref": {"from": "old"}, "sha": {"from": "0" * 40}}}, **more)


def test_a_pull_request_that_goes_to_another_branch_is_run_against_that(job: Job) -> None:
    """It was green where the command was renamed already."""
    job.repo.branch("next", {"bin/notes": RENAMED, "AGENTS.md": FILES["AGENTS.md"].replace("add", "append")})
    job.repo.git("checkout", "--quiet", "pr")

    ran, step = retarget(job)

    assert (ran.exit_code, step.outputs()["reason"]) == (1, "regression"), ran.stderr
    assert len(job.pull.bot_comments()) == 1


def test_an_acceptance_ends_where_the_pull_request_goes_to_another_branch(job: Job) -> None:
    accept(job)

    ran, _ = retarget(job)

    assert (ran.exit_code, job.pull.row.labels) == (1, [])
    assert f"The label `{LABEL}` was for what the pull request was before" in ran.stdout


def test_another_title_leaves_the_acceptance_and_is_run_all_the_same(job: Job) -> None:
    """A job that did nothing would turn a red check green."""
    red, _ = job.run(action="edited", changes={"title": {"from": "x"}})
    accept(job)
    accepted, _ = job.run(action="edited", changes={"title": {"from": "x"}})

    assert (red.exit_code, accepted.exit_code, job.pull.row.labels) == (1, 0, [LABEL])


@pytest.mark.parametrize("text", [NOTES, RENAMED], ids=["fixed", "broken"])
def test_the_test_merge_is_compared_as_ever(job: Job, text: str) -> None:
    job.repo.commit({"bin/notes": text + "# x\n"}, on="pr")
    job.check_out_merge()

    assert job.run()[0].exit_code == int(text == RENAMED)
