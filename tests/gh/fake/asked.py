"""A request to the rule-enforcing GitHub, and its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.gh.emulated.front import Answer
from tests.gh.fake.rules import not_found
from tests.gh.fake.state import Pull, Repo, Token


class Asked(NamedTuple):
    """A request, read."""

    token: Token | None
    repo: Repo
    path: str
    query: Mapping[str, list[str]]
    body: Any
    found: tuple[str, ...]  # what the route's pattern caught

    @property
    def pull(self) -> Pull:
        """The pull request of the first number in the path."""
        pull = self.repo.pulls.get(int(self.found[0]))
        if pull is None:
            raise not_found()
        return pull


def said(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """JSON."""
    return Answer(
        status, {"Content-Type": "application/json; charset=utf-8", **(headers or {})}, json.dumps(value).encode()
    )
