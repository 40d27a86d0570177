"""The two runs of a pull request, and those of one in which nothing has to be run."""

from __future__ import annotations

import time
from typing import NamedTuple

from tidegate.model.measurement import Run
from tidegate.run.run_job import RunJob, run_of


class BothRuns(NamedTuple):
    """Both runs, and warnings of history that was ignored."""

    base: Run
    head: Run
    ignored: tuple[str, ...]


def no_runs(work: RunJob) -> BothRuns:
    """Return two runs without trials, for a pull request that changes nothing that agents could notice."""
    now = time.time()
    base, head = (run_of(work, side, [], now, now) for side in work.sides)
    return BothRuns(base, head, ())
