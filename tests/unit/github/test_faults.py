"""Requests that time out, and two runs of one pull request: the newer one's comment is the only one."""

from __future__ import annotations

import pytest

from tests.gh.emulated.front import ANY, Fault
from tests.gh.fake.server import FakeGitHub, PullRequest
from tests.gh.fixtures import make_result
from tests.make import HEAD_SHA, sure
from tidegate.github.comment import Statement, WorkflowRun, publish_comment
from tidegate.model.marker import Marker


def stand(pull: PullRequest, comments: int) -> None:
    """So many comments of earlier runs of ours."""
    for run in range(comments):
        pull.say(
            f"{Marker(instance='default', head=HEAD_SHA, run=run + 1, attempt=1).format()}\nold", "github-actions[bot]"
        )


# Two runs


OLD, NEW = "1" * 40, "2" * 40


def run_on(pull: PullRequest, head: str, run: int) -> str:
    """A whole run on that head; what became of its comment."""
    result = make_result(head=head, add="regressed")
    about = WorkflowRun(id=run, attempt=1, head=head)
    return publish_comment(pull.port(), Statement(result=result), about, "always", lambda _: None).outcome


def boundaries(github: FakeGitHub, comments: int) -> int:
    """How many requests a run makes, each of which a newer run may come before."""
    pull = github.pull_request()
    stand(pull, comments)
    pull.push(OLD)
    github.front.seen.clear()
    run_on(pull, OLD, 8)
    return len(github.front.seen)


@pytest.mark.parametrize("comments", [0, 1, 2], ids=["no comment", "one comment", "two comments"])
@pytest.mark.parametrize("at", [OLD, NEW], ids=["with its push", "after its push"])
def test_a_newer_run_before_any_request_of_an_older_one_wins(github: FakeGitHub, comments: int, at: str) -> None:
    """At every boundary but one, the newest head's comment is the only one in the end.

    `at`: where the pull request stands when the older run comes to its end.
    """
    lost = []
    for boundary in range(boundaries(github, comments)):
        pull = github.pull_request()
        stand(pull, comments)
        pull.push(at)
        github.front.seen.clear()
        newer = _before_request(github, pull, boundary)

        run_on(pull, OLD, 8)

        if not newer.ran:  # the older one had given up by then
            newer()
        if head_of_the_only_comment(pull) != NEW:
            lost.append(github.front.seen[boundary - 1 :][:1])
    # Between the last look at the head and the PATCH that follows it, nothing that GitHub offers can help: there is no
    # compare-and-swap for comments. The documented `concurrency` group, which ends the older run, does.
    assert len(lost) == (1 if comments and at == OLD else 0), lost


class Newer:
    """The newer run, to begin and end at some moment of the older one."""

    def __init__(self, pull: PullRequest) -> None:
        self.pull, self.ran = pull, False

    def __call__(self) -> None:
        self.ran = True
        self.pull.push(NEW)
        run_on(self.pull, NEW, 9)


def _before_request(github: FakeGitHub, pull: PullRequest, boundary: int) -> Newer:
    newer = Newer(pull)
    nothing = [Fault(ANY, status=None) for _ in range(boundary)]
    github.front.faults[:] = [*nothing, Fault(ANY, status=None, meanwhile=newer)]
    return newer


def head_of_the_only_comment(pull: PullRequest) -> str:
    """By its marker."""
    (comment,) = pull.bot_comments()
    marker = sure(Marker.parse(comment.body))
    return marker.head


def test_the_one_gap_is_closed_by_the_documented_concurrency_group(github: FakeGitHub) -> None:
    """The older run is over before the newer one begins, wherever it was: `cancel-in-progress`."""
    for boundary in range(boundaries(github, 1)):
        pull = github.pull_request()
        stand(pull, 1)
        pull.push(OLD)
        github.front.faults += [Fault(ANY, status=None) for _ in range(boundary)]
        github.front.faults.append(Fault(ANY, drop=True, times=99))  # cancelled: nothing gets through any more
        run_on(pull, OLD, 8)
        github.front.faults.clear()

        pull.push(NEW)
        run_on(pull, NEW, 9)

        assert head_of_the_only_comment(pull) == NEW
