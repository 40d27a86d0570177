"""The sticky comment, against the rule-enforcing GitHub."""

from __future__ import annotations

from functools import partial

import pytest

from tests.gh.emulated.front import Fault, When
from tests.gh.fake.server import FakeGitHub as GitHub
from tests.gh.fake.server import PullRequest
from tests.gh.fake.state import BOT
from tests.gh.fixtures import make_result
from tests.make import HEAD_SHA
from tidegate.github.api import PERMISSIONS
from tidegate.github.comment import PATIENCE, Publication, Statement, WorkflowRun, publish_comment
from tidegate.github.settings import CommentMode
from tidegate.model.marker import Marker
from tidegate.model.result import Result

RED = make_result(head="1" * 40, add="regressed", sync="regressed", list="ok")
GREEN = make_result(head="2" * 40, add="ok", sync="improved", list="ok")
LISTED, ONE = r"/issues/1/comments(\?|$)", "/issues/comments/"
SUPERSEDING = Marker(instance="default", head=HEAD_SHA, run=99, attempt=1, verdict="passed")


@pytest.fixture
def pull(github: GitHub) -> PullRequest:
    """A new pull request."""
    return github.pull_request()


def publish(
    pull: PullRequest, result: Result, run: int = 1, attempt: int = 1, mode: CommentMode = "always", token: str = ""
) -> Publication:
    """As the action does, without waiting, for the head that has just been pushed."""
    slept: list[float] = []
    port, head = pull.port(token or None), result.sides.head.sha
    pull.push(head)
    publication = publish_comment(
        port, Statement(result=result), WorkflowRun(id=run, attempt=attempt, head=head), mode, slept.append
    )
    assert sum(slept) <= 60
    return publication


def only(pull: PullRequest) -> str:
    """The text of our comment, which has to be the only one of ours."""
    (comment,) = pull.bot_comments()
    return comment.body


# One comment


def test_the_first_run_makes_one_comment_and_the_second_updates_it(github: GitHub, pull: PullRequest) -> None:
    first, second = publish(pull, RED, run=1), publish(pull, GREEN, run=2)

    (comment,) = pull.bot_comments()
    assert (first.outcome, second.outcome) == ("created", "updated")
    assert first.url == second.url == comment.url
    marker = Marker.parse(comment.body)
    assert marker == Marker(
        instance="default",
        head="2" * 40,
        run=2,
        attempt=1,
        verdict="passed",
        reason=GREEN.verdict.reason,
        exit_code=0,
        base="main",
    )
    assert [seen.method for seen in github.front.writes() if "graphql" not in seen.path] == ["POST", "PATCH"]


def test_a_forged_marker_of_a_stranger_is_left_alone(pull: PullRequest) -> None:
    """Neither edited nor believed, not even if it claims to be of a later run."""
    forged = f"{SUPERSEDING.format()}\nall is well"
    pull.say(forged)

    publish(pull, RED, run=1)
    publish(pull, GREEN, run=2)

    assert [comment.body for comment in pull.comments() if comment.author != BOT] == [forged]
    assert "head=2222" in only(pull)


def test_a_marker_that_is_not_on_line_1_is_not_ours(pull: PullRequest) -> None:
    quoted = f"a bot quotes:\n{SUPERSEDING.format()}"
    pull.port().create_comment(quoted)

    publish(pull, RED)

    assert quoted in [comment.body for comment in pull.bot_comments()]
    assert len(pull.bot_comments()) == 2


def test_of_two_own_comments_the_newer_stays(pull: PullRequest) -> None:
    port = pull.port()
    older, newer = (Marker(instance="default", head=HEAD_SHA, run=run).format() for run in (3, 4))
    newest = port.create_comment(f"{newer}\n")
    port.create_comment(f"{older}\n")

    publish(pull, GREEN, run=5)

    (left,) = pull.bot_comments()
    assert (left.id, "run=5" in left.body) == (newest.id, True)


def test_every_instance_has_a_comment_of_its_own(pull: PullRequest) -> None:
    for run, name in enumerate(("app", "app -->", "default")):
        publish(pull, make_result(instance=name, add="ok"), run=run + 1)
        publish(pull, make_result(instance=name, add="ok"), run=run + 10)

    markers = [Marker.parse(comment.body) for comment in pull.bot_comments()]

    assert [marker and marker.instance for marker in markers] == ["app", "app -->", "default"]


def test_a_run_that_the_pull_request_has_left_behind_says_nothing(pull: PullRequest) -> None:
    """Whether or not the newer run has spoken yet."""
    pull.push("2" * 40)

    run = WorkflowRun(id=1, attempt=1, head=RED.sides.head.sha)
    publication = publish_comment(pull.port(), Statement(result=RED), run, "always", lambda _: None)

    assert (publication.outcome, pull.comments()) == ("superseded", [])


def test_a_comment_on_a_commit_that_is_no_longer_head_yields_to_an_older_run_on_head(pull: PullRequest) -> None:
    """Somebody has pushed the earlier commit again, and its job is run once more."""
    publish(pull, GREEN, run=7)

    publish(pull, RED, run=6, attempt=2)

    assert "head=1111" in only(pull)


# Faults


@pytest.mark.parametrize("drop", [False, True], ids=["502", "connection dropped"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_post_that_seems_to_fail_makes_one_comment(github: GitHub, pull: PullRequest, when: When, drop: bool) -> None:
    """Whether GitHub had made it or not."""
    github.front.faults.append(Fault("POST", LISTED, when=when, drop=drop))

    publication = publish(pull, RED)

    assert "head=1111" in only(pull)
    assert publication.url == pull.bot_comments()[0].url
    assert publication.outcome in ("created", "updated")
    posts = [seen for seen in github.front.seen if seen.method == "POST" and seen.path.endswith("/comments")]
    assert len(posts) == (2 if when == "before" else 1)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_patch_that_seems_to_fail_is_done_once(github: GitHub, pull: PullRequest, when: When) -> None:
    """And what it says was fixed is not forgotten over it."""
    publish(pull, RED, run=1)
    github.front.faults.append(Fault("PATCH", ONE, when=when))

    publication = publish(pull, GREEN, run=2)

    assert publication.outcome == "updated"
    assert "head=2222" in only(pull)
    assert "Fixed" in only(pull)


def test_an_outage_is_given_up_after_a_few_tries(github: GitHub, pull: PullRequest) -> None:
    github.front.faults.append(Fault("POST", LISTED, times=99))

    publication = publish(pull, RED)

    assert (publication.outcome, publication.url) == ("failed", None)
    assert publication.problem == "GitHub answered 502: Server Error"
    assert "re-run" in publication.advice
    assert pull.bot_comments() == []
    assert len([seen for seen in github.front.seen if seen.status == 502]) == 4


def test_without_permission_there_is_no_comment_but_the_yaml_to_add(github: GitHub, pull: PullRequest) -> None:
    publication = publish(pull, RED, token=github.token_with({"contents": "read", "pull_requests": "read"}))

    assert publication.outcome == "failed"
    assert PERMISSIONS in publication.advice
    assert "403" in publication.problem
    assert pull.comments() == []
    assert [seen.status for seen in github.front.writes() if "graphql" not in seen.path] == [403]


def test_a_comment_deleted_between_list_and_patch_is_made_anew(github: GitHub, pull: PullRequest) -> None:
    publish(pull, RED, run=1)
    (old,) = pull.bot_comments()
    github.front.faults.append(Fault("PATCH", ONE, status=None, meanwhile=partial(pull.delete, old)))

    publication = publish(pull, GREEN, run=2)

    assert publication.outcome == "created"
    assert pull.bot_comments()[0].id != old.id
    assert "head=2222" in only(pull)


@pytest.mark.parametrize("seconds", [40, 45])
def test_a_short_wait_that_github_asks_for_is_kept(github: GitHub, pull: PullRequest, seconds: int) -> None:
    limit = "You have exceeded a secondary rate limit"
    headers = {"Retry-After": str(seconds)}
    github.front.faults.append(Fault("POST", LISTED, status=403, message=limit, headers=headers))
    slept: list[float] = []

    run = WorkflowRun(id=1, attempt=1, head=HEAD_SHA)
    publication = publish_comment(pull.port(), Statement(result=RED), run, "always", slept.append)

    assert (publication.outcome, slept) == ("created", [seconds])


@pytest.mark.parametrize("seconds", [int(PATIENCE) + 1, 3600])
def test_a_long_wait_is_refused(github: GitHub, pull: PullRequest, seconds: int) -> None:
    limit = "You have exceeded a secondary rate limit"
    github.front.faults.append(Fault("POST", LISTED, status=403, message=limit, headers={"Retry-After": str(seconds)}))

    publication = publish(pull, RED)

    assert publication.outcome == "failed"
    assert "used up" in publication.advice
    assert pull.comments() == []


# Several runs


@pytest.mark.parametrize(("run", "attempt"), [(6, 9), (7, 1)])
def test_an_older_run_leaves_the_newer_one_s_comment(pull: PullRequest, run: int, attempt: int) -> None:
    publish(pull, GREEN, run=7, attempt=2)

    publication = publish(pull, make_result(head="2" * 40, add="regressed"), run=run, attempt=attempt)

    assert publication.outcome == "superseded"
    assert "run=7 attempt=2" in only(pull)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_two_runs_at_the_same_moment_end_with_the_newer_one(github: GitHub, pull: PullRequest, method: str) -> None:
    """The newer run speaks while the older one lists or posts."""
    newer = partial(publish, pull, GREEN, run=9)
    github.front.faults.append(Fault(method, LISTED, status=None, meanwhile=newer))

    publish(pull, RED, run=8)

    assert "run=9" in only(pull)


def test_the_newer_run_mends_what_an_older_one_overwrote(github: GitHub, pull: PullRequest) -> None:
    """The older run writes after the newer one has written, and before it looks once more."""
    publish(pull, RED, run=1)
    look, look_again = (Fault("GET", LISTED, status=None), Fault("GET", LISTED, status=None))
    look_again.meanwhile = partial(_overwrite, pull)
    github.front.faults += [look, look_again]

    publish(pull, GREEN, run=9)

    assert look_again.times == 0
    assert "run=9" in only(pull)


def _overwrite(pull: PullRequest) -> None:
    (comment,) = pull.bot_comments()
    marker = Marker(instance="default", head=HEAD_SHA, run=8, attempt=1).format()
    next(row for row in pull.repo.comments if row.id == comment.id).body = marker


# Modes


def test_off_asks_github_nothing(github: GitHub) -> None:
    assert publish(github.pull_request(), RED, mode="off") == Publication(outcome="off")
    assert github.front.seen == []


def test_on_regression_starts_with_a_regression_and_is_then_kept_up_to_date(pull: PullRequest) -> None:
    steps = [(GREEN, "unchanged"), (RED, "created"), (GREEN, "updated")]

    outcomes = [publish(pull, result, run, mode="on-regression").outcome for run, (result, _) in enumerate(steps, 1)]

    assert outcomes == [outcome for _, outcome in steps]


# From red to green


def test_the_comment_says_what_was_fixed(pull: PullRequest) -> None:
    publish(pull, RED, run=1)
    assert "Fixed" not in only(pull)

    publish(pull, GREEN, run=2)

    assert "🔧 **Fixed** since" in only(pull)
    assert ": `add` × `docs`, `sync` × `docs`" in only(pull)


def test_what_a_cancelled_run_did_not_measure_is_remembered(pull: PullRequest) -> None:
    publish(pull, RED, run=1)
    publish(pull, make_result(add="ok", sync="not_measured"), run=2)
    assert ": `add` × `docs`" in only(pull)

    publish(pull, GREEN, run=3)

    assert ": `sync` × `docs`" in only(pull)
