"""The client of GitHub: one kind of error, no second POST, and nothing loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.gh.emulated.front import Fault
from tests.gh.emulated.server import BOT, GitHub
from tidegate.github.api import Kind, PublishError


def test_comments_are_made_changed_listed_and_deleted(emulated: GitHub) -> None:
    port = emulated.pull_request().port()

    made = port.create_comment("one\n\ntwo ü\n")
    changed = port.update_comment(made.id, "three")

    assert (made.author, made.body, changed.body, changed.url) == (BOT, "one\n\ntwo ü\n", "three", made.url)
    (listed,) = port.list_comments()
    assert listed.model_copy(update={"updated_at": changed.updated_at}) == changed
    assert listed.updated_at.startswith("20")
    port.delete_comment(made.id)
    assert port.list_comments() == []


def test_every_page_is_read_a_hundred_comments_at_a_time(emulated: GitHub) -> None:
    pull = emulated.pull_request()
    for number in range(101):
        pull.say(str(number))

    assert [comment.body for comment in pull.port().list_comments()] == [str(number) for number in range(101)]
    asked = [parse_qs(urlsplit(seen.path).query) for seen in emulated.front.seen]
    assert asked == [{"per_page": ["100"], "page": [str(number)]} for number in (1, 2)]


@pytest.mark.parametrize(
    ("token", "login"), [("token-of-olivia", "olivia"), (None, BOT)], ids=["a person's", "GITHUB_TOKEN"]
)
def test_it_knows_who_it_is(emulated: GitHub, token: str | None, login: str) -> None:
    assert emulated.pull_request().port(token).viewer() == login


@pytest.mark.parametrize("login", ["my-app", "my-app[bot]"])
def test_an_app_of_one_s_own_has_its_own_bot(emulated: GitHub, login: str) -> None:
    """GraphQL answers where REST refuses; some of its answers have no suffix."""
    body = f'{{"data": {{"viewer": {{"login": "{login}"}}}}}}'
    emulated.front.faults.append(Fault("POST", "/graphql", status=200, body=body))

    assert emulated.pull_request().port().viewer() == "my-app[bot]"


def test_whoever_it_is_an_outage_is_no_answer(emulated: GitHub) -> None:
    """Taken for another, it would leave its comments behind and make new ones."""
    emulated.front.faults.append(Fault("POST", "/graphql"))

    with pytest.raises(PublishError) as raised:
        emulated.pull_request().port().viewer()

    assert raised.value.passing


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault("POST", status=403, message="Resource not accessible by integration"), "forbidden", "403: Resource"),
        (Fault("POST", status=404, message="Not Found"), "not_found", "404: Not Found"),
        (Fault("POST", status=401, message="Bad credentials"), "unauthorized", "401: Bad credentials"),
        (Fault("POST", status=422, message="Validation Failed"), "invalid", "422: Validation Failed"),
        (Fault("POST", status=500), "outage", "500: Server Error"),
        (Fault("POST", drop=True), "outage", "could not be reached: ConnectionError"),
        (Fault("POST", status=429, message="slow down"), "rate_limited", "429: slow down"),
        (Fault("POST", status=403, message="API rate limit exceeded for x"), "rate_limited", "403: API rate"),
        (Fault("POST", status=200, body="<html>a proxy</html>"), "outage", "could not be read"),
        (Fault("POST", status=201, body='{"id": '), "outage", "could not be read"),
    ],
    ids=lambda value: f"{value.status} {value.message}" if isinstance(value, Fault) else "",
)
def test_all_trouble_is_one_error_and_one_request(emulated: GitHub, fault: Fault, kind: Kind, said: str) -> None:
    emulated.front.faults.append(replace(fault))
    port = emulated.pull_request().port()

    with pytest.raises(PublishError, match=said) as raised:
        port.create_comment("x")

    assert raised.value.kind == kind
    assert raised.value.advice
    assert len(emulated.front.seen) == 1


def test_nobody_there_is_an_outage(emulated: GitHub) -> None:
    emulated.front.faults.append(Fault("GET", drop=True, times=99))

    with pytest.raises(PublishError) as raised:
        emulated.pull_request().port().list_comments()

    assert raised.value.kind == "outage"
    assert len(emulated.front.seen) == 4


def test_how_long_github_asks_to_wait_is_known(emulated: GitHub) -> None:
    message = "You have exceeded a secondary rate limit"
    emulated.front.faults.append(Fault("POST", status=403, message=message, headers={"retry-after": "17"}))

    with pytest.raises(PublishError) as raised:
        emulated.pull_request().port().create_comment("x")

    assert (raised.value.kind, raised.value.retry_after) == ("rate_limited", 17.0)


def test_what_is_read_waits_as_long_as_github_says(emulated: GitHub) -> None:
    limited = Fault("GET", status=403, message="You have exceeded a secondary rate limit", headers={"Retry-After": "1"})
    emulated.front.faults.append(limited)
    pull = emulated.pull_request()
    before = time.monotonic()

    assert pull.port().list_comments() == []
    assert time.monotonic() - before >= 1


def test_the_library_is_loaded_only_to_publish() -> None:
    program = (
        "import sys, tidegate.github.comment, tidegate.github.client, tidegate.github.announce;"
        "import tidegate.github.event;"
        "sys.exit(bool({'github', 'requests'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
