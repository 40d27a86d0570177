"""Adds the judge's answers to trials. They are stored with them, so that everything after this step is pure."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tidegate.checks.evaluators.assess import record_of
from tidegate.checks.measure import passed_gates
from tidegate.model.judge import AskModel
from tidegate.model.plan import PlanRow
from tidegate.model.probe import Answer, Request, RunJudge
from tidegate.model.suite import Scenario
from tidegate.model.trial import Trial
from tidegate.run.attempts import Attempts, RunContext
from tidegate.run.judge_client import PanelClient
from tidegate.trial.checks import Carry, answered

T = TypeVar("T")


async def grade(trial: Trial, scenario: Scenario, carry: Carry, diff: str = "") -> Trial:
    """Return the trial with the answers that its evaluators and judge need; unchanged if no model judges it.

    `diff` is what the agent changed in its workspace.
    """
    if not is_to_be_judged(trial, scenario):
        return trial
    carry = asking_about(trial.opinion or f"{trial.spec.id} {trial.started_at}", carry)
    record = record_of(trial, scenario).model_copy(update={"diff": diff})
    evaluators = [
        await answered(evaluator, record, carry, trial.answers_of(number))
        for number, evaluator in enumerate(scenario.evaluators)
    ]
    judge = scenario.judge and await answered(scenario.judge, record, carry, trial.judge_answers)
    return trial.model_copy(update={"evaluator_answers": tuple(evaluators), "judge_answers": judge or ()})


def asking_about(opinion: str, carry: Carry) -> Carry:
    """Return `carry` for questions about one trial. One answer counts once, so another trial is another question."""

    async def ask(request: Request) -> Answer | None:
        own = request.model_copy(update={"about": opinion}) if isinstance(request, AskModel) else request
        return await carry(own)

    return ask


def is_to_be_judged(trial: Trial, scenario: Scenario) -> bool:
    """Return True if a model judges the trial: it was measured, and all required gates passed."""
    return scenario.judged and not trial.not_measured and passed_gates(trial, scenario)


async def to_its_end(asking: Generator[Request, Answer, T], carry: Carry) -> tuple[T | None, tuple[Answer, ...]]:
    """Answer all requests of a generator; return its result (None if a request cannot be answered), and the answers."""
    answers: list[Answer] = []
    try:
        request = next(asking)
        while (answer := await carry(request)) is not None:
            answers.append(answer)
            request = asking.send(answer)
    except StopIteration as end:
        return end.value, tuple(answers)
    return None, tuple(answers)


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
