"""Has trials judged; a waiting judge occupies no trial slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.model.plan import PlanRow
from tidegate.model.probe import Answer, Request, RunJudge
from tidegate.model.trial import Trial
from tidegate.run.attempts import Attempts
from tidegate.run.grade import grade, is_to_be_judged
from tidegate.run.judge_client import PanelClient
from tidegate.run.run_context import RunContext


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

        asked = with_opinion(trial, self._commits)
        graded = await grade(asked, row.scenario, carry, self._diff(asked, row))
        if graded is not asked:
            self.context.checkouts[trial.spec.side].store.keep_trial(graded)
        return graded

    def _diff(self, trial: Trial, row: PlanRow) -> str:
        store = self.context.checkouts[trial.spec.side].store
        return store.record(trial.spec).diff if is_to_be_judged(trial, row.scenario) else ""

    @property
    def _commits(self) -> tuple[str, ...]:
        return tuple(checkout.revision.sha for checkout in self.context.checkouts.values())
