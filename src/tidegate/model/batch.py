"""A batch of trials for a worker on another machine, and what the worker reports about it."""

from __future__ import annotations

from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.model.value import Value


class BatchSide(Value):
    """One side of the pull request: its commit, how it is built, and the SHA-256 of the archive with its files."""

    side: Side
    revision: Revision
    build: tuple[str, ...]
    path: tuple[str, ...]
    digest: str


class RowPace(Value):
    """How long base needed for a row so far: seconds of its agent and of its setup, and whether head hung."""

    key: RowKey
    agent: float | None = None
    setup: float | None = None
    hung: bool = False


class Batch(Value):
    """Trials to run, with everything that they need except the values of variables.

    `suite` has the suite's settings, without agents and scenarios: those are in `rows`. `withheld` names variables that
    the worker must not use, as for a pull request from a fork. Without trials, the worker only checks the agents.
    """

    tidegate_version: str
    name: str
    sides: tuple[BatchSide, ...]
    judge: str = ""  # SHA-256 of the archive of the checkout with base's definitions; "" if the last side has them
    suite: Suite
    rows: tuple[PlanRow, ...]
    trials: tuple[TrialSpec, ...]
    pace: tuple[RowPace, ...] = ()
    withheld: tuple[str, ...] = ()


class BatchReport(Value):
    """What a worker writes last, so that a batch without it is known to be incomplete.

    `batch` is the SHA-256 of the batch that was run. `files` has the SHA-256 of each file of the results. `throttled`
    counts the answers by which providers asked to send fewer requests.
    """

    batch: str
    versions: dict[str, str | None]
    confinement: tuple[str, ...]
    replaced: tuple[str, ...] = ()  # files of head's commit that its build has replaced
    throttled: int
    usd: float
    tokens: int
    files: dict[str, str]
