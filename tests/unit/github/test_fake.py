"""The rule-enforcing GitHub itself: each rule of its README, broken once."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from tests.gh.fake.rules import MAX_STATUSES
from tests.gh.fake.server import FakeGitHub, PullRequest
from tests.gh.fake.state import BOT, StatusRow


class Client:
    """Bare requests, by a token."""

    def __init__(self, pull: PullRequest, token: str | None) -> None:
        self.pull, self.headers = pull, {"Authorization": f"token {token}"} if token else {}

    def __call__(self, method: str, path: str, body: Any = None) -> requests.Response:
        url = f"{self.pull.github.api_url}{path.replace('REPO', f'/repos/{self.pull.repository}')}"
        return requests.request(method, url, json=body, headers=self.headers, timeout=30, allow_redirects=False)


@pytest.fixture
def pull(github: FakeGitHub) -> PullRequest:
    """A pull request."""
    return github.pull_request()


@pytest.fixture
def ask(pull: PullRequest) -> Client:
    """As a maintainer's job."""
    return Client(pull, pull.github.token_like("maintainer"))


def message(answer: requests.Response) -> str:
    """What GitHub says is wrong."""
    told = answer.json()
    return str(told["errors"][0]["message"] if "errors" in told else told["message"])


COMMENTS, STATUS = "REPO/issues/1/comments", f"REPO/statuses/{'1' * 40}"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", COMMENTS, {"body": "x" * 65_537}, 422, "body is too long (maximum is 65536 characters)"),
        ("POST", COMMENTS, {"body": " \n"}, 422, "body cannot be blank"),
        ("POST", "REPO/issues/2/comments", {"body": "x"}, 404, "Not Found"),
        ("PATCH", "REPO/issues/comments/1", {"body": "x"}, 404, "Not Found"),
        ("DELETE", "REPO/issues/1/labels/bug", None, 404, "Label does not exist"),
        ("GET", "REPO/collaborators/nobody/permission", None, 404, "Not Found"),
        ("POST", STATUS, {"state": "success", "description": "x" * 141}, 422, "description is too long"),
        ("GET", "REPO/actions/runs/1/artifacts", None, 403, "Resource not accessible by integration"),
        ("GET", "/user", None, 403, "Resource not accessible by integration"),
        ("GET", "/repos/acme/none/pulls", None, 404, "Not Found"),
    ],
)
def test_what_github_refuses(ask: Client, method: str, path: str, body: Any, status: int, said: str) -> None:
    answer = ask(method, path, body)

    assert answer.status_code == status
    assert message(answer).startswith(said)


def test_the_longest_comment_is_taken(ask: Client) -> None:
    assert ask("POST", COMMENTS, {"body": "ü" * 65_536}).status_code == 201


def test_a_state_that_no_status_has(ask: Client, pull: PullRequest) -> None:
    answer = ask("POST", STATUS, {"state": "passed"})

    assert (answer.status_code, pull.statuses()) == (422, [])
    pull.github.front.violations.clear()  # GitHub's description says so as well


def test_a_thousand_statuses_are_enough(ask: Client, pull: PullRequest) -> None:
    pull.repo.statuses += [StatusRow("1" * 40, "success", "Tidegate", "", "")] * MAX_STATUSES

    assert ask("POST", STATUS, {"state": "success", "context": "tidegate"}).status_code == 422
    assert ask("POST", STATUS, {"state": "success", "context": "another"}).status_code == 201


@pytest.mark.parametrize(("asked", "size"), [("", 30), ("?per_page=7", 7), ("?per_page=500", 100)])
def test_pages(ask: Client, pull: PullRequest, asked: str, size: int) -> None:
    for number in range(131):
        pull.say(str(number))

    answer = ask("GET", COMMENTS + asked)

    assert len(answer.json()) == size
    assert 'rel="next"' in answer.headers["Link"]
    assert [one["id"] for one in answer.json()] == sorted(one["id"] for one in answer.json())


def test_parameters_that_github_does_not_know_are_ignored(ask: Client, pull: PullRequest) -> None:
    pull.say("one")
    pull.say("two")

    answer = ask("GET", f"{COMMENTS}?sort=created&direction=desc")

    assert [one["body"] for one in answer.json()] == ["one", "two"]


def test_a_filter_without_a_colon_is_ignored(ask: Client, pull: PullRequest) -> None:
    assert len(ask("GET", "REPO/pulls?head=nonsense").json()) == 1
    assert ask("GET", "REPO/pulls?head=acme:nonsense").json() == []
    assert len(ask("GET", f"REPO/pulls?head=acme:{pull.row.head_ref}&state=open").json()) == 1


@pytest.mark.parametrize(
    ("profile", "writes", "statuses", "artifacts"),
    [
        ("documented", 201, 403, 403),
        ("read-only", 403, 403, 403),
        ("publish", 201, 403, 200),
        ("maintainer", 201, 201, 403),
        ("nothing", 403, 403, 403),
    ],
)
def test_token_profiles(pull: PullRequest, profile: str, writes: int, statuses: int, artifacts: int) -> None:
    ask = Client(pull, pull.github.token_like(profile))

    assert ask("POST", COMMENTS, {"body": "x"}).status_code == writes
    assert ask("POST", STATUS, {"state": "success"}).status_code == statuses
    assert ask("GET", "REPO/actions/runs/1/artifacts").status_code == artifacts


def test_an_unknown_token_and_none(pull: PullRequest) -> None:
    assert message(Client(pull, "ghs_stolen")("GET", COMMENTS)) == "Bad credentials"
    assert Client(pull, None)("GET", COMMENTS).status_code == 200
    assert Client(pull, None)("POST", COMMENTS, {"body": "x"}).status_code == 401


def test_a_private_repository_is_not_there_for_strangers(pull: PullRequest) -> None:
    pull.repo.private = True

    assert Client(pull, "token-of-mallory")("GET", COMMENTS).status_code == 404
    assert Client(pull, None)("GET", COMMENTS).status_code == 404
    assert Client(pull, "token-of-olivia")("GET", COMMENTS).status_code == 200


def test_whose_comments_one_may_change(pull: PullRequest) -> None:
    pull.say("mine", by="mallory")
    (comment,) = pull.comments()
    path = f"REPO/issues/comments/{comment.id}"

    assert Client(pull, "token-of-tristan")("PATCH", path, {"body": "x"}).status_code == 403
    assert Client(pull, "token-of-mallory")("PATCH", path, {"body": "x"}).status_code == 200
    assert Client(pull, pull.github.token)("PATCH", path, {"body": "x"}).status_code == 200
    assert Client(pull, "token-of-olivia")("DELETE", path).status_code == 204


def test_a_locked_conversation(pull: PullRequest, ask: Client) -> None:
    pull.row.locked = True

    assert message(ask("POST", COMMENTS, {"body": "x"})) == "Unable to create comment because issue is locked."
    assert Client(pull, "token-of-olivia")("POST", COMMENTS, {"body": "x"}).status_code == 201


@pytest.mark.parametrize(
    ("login", "permission"), [("olivia", "admin"), ("tristan", "read"), ("octocat", "write"), ("mallory", "read")]
)
def test_permissions_are_told_in_four_words(pull: PullRequest, ask: Client, login: str, permission: str) -> None:
    pull.repo.roles["octocat"] = "maintain"

    assert ask("GET", f"REPO/collaborators/{login}/permission").json()["permission"] == permission


def test_who_graphql_says_we_are(pull: PullRequest, ask: Client) -> None:
    answer = ask("POST", "/graphql", {"query": "query { viewer { login } }"})

    assert answer.json()["data"]["viewer"]["login"] == BOT.removesuffix("[bot]")


def test_an_archive_lies_elsewhere_and_our_token_may_not_go_there(pull: PullRequest) -> None:
    pull.upload(7, "one", b"zip")
    pull.upload(7, "two", b"zip", expired=True)
    ask = Client(pull, pull.github.token_like("publish"))
    one, two = ask("GET", "REPO/actions/runs/7/artifacts").json()["artifacts"]

    found, gone = (ask("GET", f"REPO/actions/artifacts/{artifact['id']}/zip") for artifact in (one, two))
    place = found.headers["Location"]

    assert (found.status_code, gone.status_code) == (302, 410)
    assert requests.get(place, timeout=30).content == b"zip"
    assert requests.get(place, headers={"Authorization": "token x"}, timeout=30).status_code == 403
    assert pull.github.blobs.leaks == ["token x"]
    pull.github.blobs.leaks.clear()


def test_the_primary_limit(pull: PullRequest, ask: Client) -> None:
    pull.github.state.left[BOT] = 1

    assert [ask("GET", COMMENTS).status_code for _ in range(2)] == [200, 403]
