"""GitHub's examples of every event that can start Tidegate; and forks, for which it has none."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.gh.emulated.node import HERE, EquipmentMissingError, npm_packages
from tidegate.github.event import OtherEvent, read_event

Payload = dict[str, Any]


class Example(NamedTuple):
    """A payload, and how it is called."""

    event: str
    name: str
    payload: Payload


def examples() -> Iterator[Example]:
    """Every example of our events, and of each pull request's a fork's, a deleted fork's and Dependabot's."""
    try:
        index = npm_packages(HERE) / "@octokit/webhooks-examples/api.github.com/index.json"
    except EquipmentMissingError:
        if os.environ.get("CI"):
            raise
        return
    for webhook in json.loads(index.read_text(encoding="utf-8")):
        for number, payload in enumerate(webhook["examples"]):
            name = f"{webhook['name']}.{payload.get('action', '')}.{number}"
            yield Example(webhook["name"], name, payload)
            if webhook["name"] == "pull_request":
                yield from _derived(name, payload)


def _derived(name: str, payload: Payload) -> Iterator[Example]:
    fork, deleted, dependabot = (copy.deepcopy(payload) for _ in range(3))
    fork["pull_request"]["head"]["repo"] |= {"full_name": "mallory/fork", "fork": True}
    deleted["pull_request"]["head"]["repo"] = None
    dependabot["sender"]["login"] = "dependabot[bot]"
    yield Example("pull_request", f"{name} from a fork", fork)
    yield Example("pull_request", f"{name} from a deleted fork", deleted)
    yield Example("pull_request", f"{name} by Dependabot", dependabot)


OURS = ("pull_request", "merge_group", "workflow_run", "workflow_dispatch")
EVERY = list(examples())
ALL = [example for example in EVERY if example.event in OURS]


def test_there_are_as_many_as_github_has() -> None:
    if not ALL:
        pytest.skip("npm could not install the examples")
    assert len(ALL) == 29 * 4 + 2 + 5 + 2
    assert len(EVERY) == 329 + 29 * 3


def test_every_example_is_read_as_its_event() -> None:
    for example in EVERY:
        event = read_event(example.event, example.payload)
        assert isinstance(event, OtherEvent) == (example.event not in (*OURS, "push")), example.name
