"""Measures trials: at once if nothing in one can take long, else in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tidegate.checks.measure import measure_trial
from tidegate.model.event import ToolCall, ToolResult
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import PlanRow
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer, Request, RunJudge
from tidegate.model.suite import Scenario, Suite
from tidegate.model.trial import Trial
from tidegate.run.attempts import Attempts, RunContext
from tidegate.run.grade import grade, is_to_be_judged
from tidegate.run.judge_client import PanelClient

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


def with_opinion(trial: Trial, commits: Sequence[str]) -> Trial:
    """Return the trial with the name of the judge's opinion that it takes part in.

    Base's and head's trials of the same number share one: if they read the same, the judge cannot tell them apart, and
    two answers would differ by chance alone. Trials of other numbers and other pull requests get answers of their own.
    A run of a single side shares with no other run.
    """
    spec = trial.spec
    place = f"{spec.scenario}/{spec.agent}/{spec.index}"
    compared = "..".join(commits) if len(commits) > 1 else str(trial.started_at)
    return trial if trial.opinion else trial.model_copy(update={"opinion": f"{compared} {place}"})


@dataclass(frozen=True)
class Judging:
    """Sends questions about trials to the judge, and runs the scripts that need its answers."""

    context: RunContext
    judge_client: PanelClient
    attempts: Attempts

    async def graded(self, trial: Trial, row: PlanRow) -> Trial:
        """Return the trial with the judge's answers; they are added to its stored record."""

        async def carry(request: Request) -> Answer | None:
            if isinstance(request, RunJudge):
                return await self.attempts.script(request, trial, row)
            return await self.judge_client.carry(request)

        asked = with_opinion(trial, tuple(checkout.revision.sha for checkout in self.context.checkouts.values()))
        graded = await grade(asked, row.scenario, carry, self._diff(asked, row))
        if graded is not asked:
            self.context.checkouts[trial.spec.side].store.keep_trial(graded)
        return graded

    def _diff(self, trial: Trial, row: PlanRow) -> str:
        store = self.context.checkouts[trial.spec.side].store
        return store.record(trial.spec).diff if is_to_be_judged(trial, row.scenario) else ""
