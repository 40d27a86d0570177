"""Has trials judged, one by one and in pairs; a waiting judge occupies no trial slot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidegate.model.event import Event
from tidegate.model.judge import JudgeContext
from tidegate.model.judgement import PairJudgement
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import PlanRow
from tidegate.model.probe import Answer, Request, RunJudge
from tidegate.model.trial import Trial
from tidegate.run.attempts import Attempts, RunContext
from tidegate.run.grade import grade
from tidegate.run.judge_client import JudgeClient
from tidegate.run.pairwise_judging import judge_pairs
from tidegate.store.judge_answers import AnswerStore


def bench_of(context: RunContext, answers: AnswerStore) -> JudgeClient:
    """Return the client for the suite's judge, which works in the checkout that the rules are read from."""
    rules, *_ = context.checkouts.values()
    judge, around = context.suite.judge, context.around
    place = JudgeContext(
        folder=rules.folder, path=around.path, credentials=around.own(judge.variables) if judge else {}
    )
    price = context.suite.prices.get(judge.model) if judge else None
    return JudgeClient(judge, place, answers, price=price, deadline=context.deadline)


@dataclass(frozen=True)
class Judging:
    """Sends questions about trials to the judge, and runs the scripts that need its answers."""

    context: RunContext
    judge_client: JudgeClient
    attempts: Attempts

    async def graded(self, trial: Trial, row: PlanRow) -> Trial:
        """Return the trial with the judge's answers; they are added to its stored record."""

        async def carry(request: Request) -> Answer | None:
            if isinstance(request, RunJudge):
                return await self.attempts.late(request, trial.spec, row)
            return await self.judge_client.carry(request)

        graded = await grade(trial, row.scenario, carry)
        if graded is not trial:
            self.context.checkouts[trial.spec.side].store.keep_trial(graded)
        return graded

    async def pairs(self, rows: Sequence[PlanRow], results: Sequence[TrialResult]) -> tuple[PairJudgement, ...]:
        """Have the judge compare base's trials with head's, if the suite enables pairwise judging."""
        judge = self.context.suite.judge
        if judge is None or not judge.pairwise:
            return ()
        return await judge_pairs(rows, results, self._events, self.judge_client.carry)

    def _events(self, result: TrialResult) -> Iterable[Event]:
        return self.context.checkouts[result.side].store.events(result.spec)
