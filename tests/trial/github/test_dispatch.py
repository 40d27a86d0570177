"""A maintainer runs one reviewed commit of a fork; nobody without write access can."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gh.job import RENAMED, Job
from tests.journeys.conftest import FILES


@pytest.fixture
def fork(job: Job) -> Job:
    """The pull request comes from a fork."""
    job.pull.row.head_repo = "mallory/fork"
    job.pull.push(job.repo.git("rev-parse", "pr"))
    return job


@pytest.mark.own_process
def test_it_is_compared_commented_and_has_a_status(fork: Job) -> None:
    ran, step = fork.dispatch()

    (comment,) = fork.pull.bot_comments()
    (status,) = fork.pull.statuses()
    assert ran.exit_code == 1, ran.stderr
    assert "notes: unknown command: add" in comment.body
    assert "Not verified" not in comment.body
    assert (status.sha, status.state, status.context) == (fork.pull.row.head_sha, "failure", "tidegate (main)")
    assert "regressed" in status.description
    assert status.target_url.endswith("/actions/runs/500")
    assert step.outputs()["verdict"] == "failed"


def test_green_is_a_success(fork: Job) -> None:
    fork.fix()
    fork.pull.push(fork.repo.git("rev-parse", "pr"))

    ran, _ = fork.dispatch(action_inputs={"instance": "app"})

    (status,) = fork.pull.statuses()
    assert (ran.exit_code, status.state, status.context) == (0, "success", "tidegate/app (main)")


def test_a_success_against_one_branch_is_none_against_another(fork: Job) -> None:
    """The author changes the base branch, or opens another pull request of the same commit."""
    fork.repo.git("branch", "legacy", "pr")
    fork.pull.row.base_ref = "legacy"

    ran, _ = fork.dispatch()

    assert (ran.exit_code, [status.context for status in fork.pull.statuses()]) == (0, ["tidegate (legacy)"]), (
        ran.stderr
    )


def test_without_the_permission_for_it_there_is_no_status_and_everything_else(fork: Job) -> None:
    ran, _ = fork.dispatch(profile="documented")

    assert ran.exit_code == 1
    assert len(fork.pull.bot_comments()) == 1
    assert fork.pull.statuses() == []
    assert "  statuses: write" in ran.stdout


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"by": "mallory"}, "`mallory` may not push"),
        ({"by": "tristan"}, "`tristan` may not push"),
        ({"by": "nobody-knows"}, "`nobody-knows` may not push"),
        ({"environ": {"GITHUB_TRIGGERING_ACTOR": "tristan"}}, "`tristan` may not push"),
        ({"inputs": {"sha": "HEAD"}}, "full name of a commit"),
        ({"inputs": {"sha": ""}}, "full name of a commit"),
        ({"inputs": {"sha": "3" * 40}}, "now, not at 3333"),
        ({"inputs": {"pull_request": "1; rm -rf /"}}, "not the number"),
        ({"inputs": {"pull_request": "99"}}, "#99"),
        ({"checked_out": "main"}, "is checked out, which is neither"),
    ],
)
def test_nothing_is_run_where_anything_is_amiss(fork: Job, changes: dict[str, Any], said: str) -> None:
    ran, _ = fork.dispatch(**changes)

    assert ran.exit_code == 2, ran.stderr
    assert said in ran.stderr
    assert fork.github.front.writes() == []
    assert not (fork.repo.root / ".tidegate/pr/runs").exists()


def test_what_was_pushed_after_the_maintainer_had_read_is_not_run(fork: Job) -> None:
    fork.pull.push("4" * 40)

    ran, _ = fork.dispatch()

    assert ran.exit_code == 2
    assert "Read what has been pushed since" in ran.stderr


def test_a_closed_one_is_not_run(fork: Job) -> None:
    fork.pull.row.state = "closed"

    assert fork.dispatch()[0].exit_code == 2


def test_what_could_not_be_run_is_an_error_and_no_silence(fork: Job) -> None:
    """A required status that nobody sets would keep the pull request waiting for ever."""
    fork.repo.commit({"tidegate.yaml": "version: 1\nscenarios: [nowhere/*.yaml]\n"}, on="pr")
    fork.pull.push(fork.repo.git("rev-parse", "pr"))

    ran, _ = fork.dispatch()

    (status,) = fork.pull.statuses()
    assert (ran.exit_code, status.state) == (2, "error")
    assert "nowhere" in status.description


@pytest.mark.parametrize("policy", [None, "policy: {mode: advisory}\n"], ids=["before the suite", "advisory"])
def test_a_fork_that_began_at_an_old_commit_is_no_success(fork: Job, policy: str | None) -> None:
    """Its own suite would be advisory, or that of the commit where it began."""
    repo = fork.repo
    repo.git("checkout", "--quiet", "main")
    repo.git("checkout", "--quiet", "--orphan", "old")
    repo.commit({"tidegate.yaml": None if policy is None else FILES["tidegate.yaml"] + policy})
    repo.git("branch", "--force", "main")
    repo.git("branch", "--delete", "--force", "pr")
    repo.branch("pr", {**FILES, "tidegate.yaml": FILES["tidegate.yaml"] + (policy or ""), "bin/notes": RENAMED})
    repo.commit(FILES, on="main")
    fork.pull.push(repo.git("rev-parse", "pr"))

    ran, step = fork.dispatch()

    (status,) = fork.pull.statuses()
    assert (ran.exit_code, status.state) == (1, "failure"), ran.stderr + step.summary()
    assert step.outputs()["verdict"] == "failed"
