"""Measures trials: at once if nothing in one can take long, else in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

from tidegate.checks.measure.measure_trial import measure_trial
from tidegate.model.event import ToolCall, ToolResult
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import PlanRow
from tidegate.model.probe import CommandAnswer, FileAnswer
from tidegate.model.suite import Scenario, Suite
from tidegate.model.trial import Trial

MOST_EVENTS, MOST_TEXT = 50, 16_000  # of a trial that is measured at once: a thread takes 0.3 ms


class Measuring:
    """Measures the trials of a run."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._busy = asyncio.Lock()

    async def result(self, trial: Trial, row: PlanRow) -> TrialResult:
        """Return the trial's result. What it printed can take seconds to read; then one at a time, for memory."""
        price, blocks = self._suite.price_of_budget(row.agent.model), self._suite.policy.judge_blocks
        measure = partial(measure_trial, trial, row.scenario, price, judge_blocks=blocks)
        if is_quick(trial, row.scenario):
            return measure()
        async with self._busy:
            return await asyncio.to_thread(measure)


def is_quick(trial: Trial, scenario: Scenario) -> bool:
    """Return True if there is little to read, and only gates decide, none of which has a pattern or the like."""
    if scenario.evaluators or scenario.judge or not all(gate.quick for gate in scenario.gates):
        return False
    return len(trial.events) <= MOST_EVENTS and sum(map(len, _texts(trial))) <= MOST_TEXT


def _texts(trial: Trial) -> Iterator[str]:
    """Yield the texts that measuring reads."""
    yield from (event.command or "" for event in trial.events if isinstance(event, ToolCall))
    yield from (event.output for event in trial.events if isinstance(event, ToolResult))
    yield from (answer.text or "" for answer in trial.answers if isinstance(answer, FileAnswer))
    results = [answer.result for answer in trial.answers if isinstance(answer, CommandAnswer)]
    for result in (*results, *(step.result for step in trial.steps)):
        yield from (result.stdout, result.stderr)
    for call in trial.invocations:
        yield from call.argv
