"""What goes into a batch: which trials share one, and which settings of the suite they need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tidegate.model.executor import Engine, LocalExecutor
from tidegate.model.suite import Budget, Policy, Suite
from tidegate.model.trial_spec import Side, TrialSpec


def settings_of(suite: Suite, budget: Budget) -> Suite:
    """Return the suite's settings that a trial depends on; what judges, decides and stores is not the worker's."""
    without: dict[str, object] = {
        "agents": {},
        "scenarios": (),
        "judge": None,
        "calibration": None,
        "policy": Policy(),
        "executor": LocalExecutor(),
        "comment_template": None,
        "budget": budget,
    }
    return suite.model_copy(update=without)


def in_batches(specs: Sequence[TrialSpec], engine: Engine) -> Iterator[list[TrialSpec]]:
    """Yield the trials in batches, in their order by rows. The trials of a row stay together."""
    size = min(engine.trials, math.ceil(len(specs) / engine.parallel))
    rows: dict[tuple[str, str], list[TrialSpec]] = {}
    for spec in specs:
        rows.setdefault((spec.scenario, spec.agent), []).append(spec)
    batch: list[TrialSpec] = []
    for row in rows.values():
        if batch and len(batch) + len(row) > size:
            yield batch
            batch = []
        batch = [*batch, *row]
    if batch:
        yield batch


def apart(specs: Iterable[TrialSpec]) -> Iterator[list[TrialSpec]]:
    """Yield the trials of each row and side."""
    for _, part in groupby(sorted(specs, key=place_of), place_of):
        yield list(part)


def place_of(spec: TrialSpec) -> tuple[str, str, Side]:
    """Return the trial's row and side."""
    return spec.scenario, spec.agent, spec.side
