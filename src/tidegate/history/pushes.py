"""Stores what each push of a pull request showed, so that the next one goes on from there.

All pushes share one error budget, and a row that regressed is green again only if its new trials show it. A re-run of
the same test replaces its own entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from tidegate.history.run_folder import read_value, write_value
from tidegate.model.plan import RowKey
from tidegate.model.run_row import EarlierPushes
from tidegate.model.value import Value

DAY = 86_400.0
MOST = 50  # pushes of one pull request


# What continuous integration systems call the branch of a pull request, whose commit they check out without it.
SOURCE_BRANCHES = (
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",  # GitLab
    "CHANGE_BRANCH",  # Jenkins
    "BITBUCKET_BRANCH",
    "BUILDKITE_BRANCH",
    "CIRCLE_BRANCH",
    "SYSTEM_PULLREQUEST_SOURCEBRANCH",  # Azure
    "DRONE_SOURCE_BRANCH",
    "CI_COMMIT_SOURCE_BRANCH",  # Woodpecker
    "CI_COMMIT_REF_NAME",
)


def source_branch(environ: Mapping[str, str]) -> str:
    """Return the branch that the CI system names; `HEAD` if none does."""
    return next((environ[name] for name in SOURCE_BRANCHES if environ.get(name)), "HEAD")


class Push(Value):
    """What is known of each row after a push. `test`: what was tested, so that a re-run is recognized."""

    test: str
    at: float  # seconds since the epoch
    rows: tuple[tuple[RowKey, EarlierPushes], ...]


class PushLog(Value):
    """The pushes of one pull request, oldest first."""

    schema_version: Literal[1] = 1
    pushes: tuple[Push, ...] = ()


class Pushes:
    """The pushes of one pull request, known by the names of its branches. `now` is in seconds since the epoch."""

    def __init__(self, folder: Path, names: tuple[str, ...], keys: Iterable[str], max_days: float, now: float) -> None:
        self._file = folder / "pushes" / f"{_hash(names)}.json"
        self._test = _hash(sorted(keys))
        self._oldest, self._now = now - DAY * max_days, now

    def earlier(self, resumed: Collection[RowKey] = ()) -> dict[RowKey, EarlierPushes]:
        """Return what the last push of another test left to know; nothing if there is none, or it is damaged.

        Rows that are not `resumed` have new trials at a re-run. For them, what an earlier run of this test showed
        counts as that of a push.
        """
        known = _last(self._others())
        pushes = max((one.pushes for one in known.values()), default=0)
        own = {row: one for row, one in _last(self._all()).items() if row not in resumed}
        return known | {row: one.model_copy(update={"pushes": pushes}) for row, one in own.items()}

    def add(self, rows: Mapping[RowKey, EarlierPushes]) -> None:
        """Store what is known after this push."""
        push = Push(test=self._test, at=self._now, rows=tuple(rows.items()))
        write_value(self._file, PushLog(pushes=(*self._others(), push)[-MOST:]))

    def _others(self) -> tuple[Push, ...]:
        return tuple(push for push in self._all() if push.test != self._test)

    def _all(self) -> tuple[Push, ...]:
        log = read_value(self._file, PushLog) or PushLog()
        return tuple(push for push in log.pushes if push.at >= self._oldest)


def _last(pushes: Sequence[Push]) -> dict[RowKey, EarlierPushes]:
    return dict(pushes[-1].rows) if pushes else {}


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
