"""A batch of trials for a worker on another machine."""

from __future__ import annotations

from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.model.value import Value


class BatchSide(Value):
    """One side of the pull request: its commit, and how it is built."""

    side: Side
    revision: Revision
    build: tuple[str, ...]
    path: tuple[str, ...]


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
    has_judge: bool = False  # base's definitions come in an archive of their own; else the last side has them
    suite: Suite
    rows: tuple[PlanRow, ...]
    trials: tuple[TrialSpec, ...]
    pace: tuple[RowPace, ...] = ()
    withheld: tuple[str, ...] = ()
