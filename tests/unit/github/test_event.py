"""GitHub's own payloads, read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gh.emulated.runner import load_event, pull_request_payload
from tests.make import typed
from tidegate.errors import ConfigurationError
from tidegate.github.event import MergeGroupEvent, OtherEvent, PullRequestEvent, read_event


def pull_request(**changes: Any) -> PullRequestEvent:
    return typed(
        PullRequestEvent,
        read_event("pull_request", pull_request_payload("acme/tool", 7, "1" * 40, "2" * 40, **changes)),
    )


def test_a_push_to_a_pull_request() -> None:
    assert read_event("pull_request", load_event("pull_request.synchronize")) == PullRequestEvent(
        number=2,
        action="synchronize",
        title="Update the README with new information.",
        draft=False,
        head_sha="ec26c3e57ca3a959ca5aad62de7213c562f8c821",
        head_ref="changes",
        head_repo="Codertocat/Hello-World",
        base_ref="master",
        base_repo="Codertocat/Hello-World",
        sender="Codertocat",
    )


@pytest.mark.parametrize(
    ("changes", "retargeted"), [({"base": {"ref": {"from": "old"}}}, True), ({"title": {"from": "x"}}, False)]
)
def test_an_edit_knows_whether_it_is_of_the_base_branch(changes: dict[str, Any], retargeted: bool) -> None:
    assert pull_request(action="edited", changes=changes).retargeted == retargeted


@pytest.mark.parametrize(
    ("head_repo", "is_fork"),
    [("acme/tool", False), ("mallory/tool", True), (None, True)],
    ids=["a branch of the repository", "a fork", "a deleted fork"],
)
def test_only_a_branch_of_the_repository_has_its_secrets(head_repo: str | None, is_fork: bool) -> None:
    event = pull_request(head_repo=head_repo)

    assert (event.head_repo, event.is_fork, event.without_secrets) == (head_repo, is_fork, is_fork)


def test_a_merge_queue() -> None:
    event = typed(MergeGroupEvent, read_event("merge_group", load_event("merge_group.checks_requested")))
    assert (len(event.head_sha), len(event.base_sha)) == (40, 40)
    assert event.head_sha != event.base_sha
    assert event.base_ref == "refs/heads/main"


def test_anything_else_is_said_to_be_no_pull_request() -> None:
    event = read_event("release", {})

    assert event == OtherEvent(name="release")
    assert event.explanation.startswith("`release` is not a pull request")


def test_pull_request_target_is_refused_with_the_reason() -> None:
    with pytest.raises(ConfigurationError, match="token that may write") as refused:
        read_event("pull_request_target", load_event("pull_request.synchronize"))

    assert "on: pull_request" in refused.value.advice


def test_a_payload_that_lacks_something_is_named() -> None:
    payload = load_event("pull_request.synchronize")
    del payload["pull_request"]["head"]["sha"], payload["number"]

    with pytest.raises(ConfigurationError, match=r"lacks: number, pull_request\.head\.sha\."):
        read_event("pull_request", payload)
