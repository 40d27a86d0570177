"""One trial: a folder and a slot of its own, within the run's budget, again where the infrastructure failed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.model.plan import PlanRow
from tidegate.model.probe import Answer, RunJudge
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.model.trial import NotMeasured, Side, Trial, TrialSpec, encoded
from tidegate.model_proxy.lease import with_lease
from tidegate.model_proxy.proxy import ModelProxy
from tidegate.run.build import Checkout, HostEnvironment
from tidegate.trial.cost_meter import Spending
from tidegate.trial.directories import Attempt, Folders, TrialDirectories
from tidegate.trial.environment import side_path
from tidegate.trial.late_script import run_late
from tidegate.trial.lifecycle import run_trial
from tidegate.trial.processes import Supervisor, SupervisorLost
from tidegate.trial.supervisor_pool import SupervisorPool
from tidegate.trial.workspace import Prepared, prepare

RETRIES = 2  # of a trial that ended in infrastructure trouble (verdict.md, Units)
_TRANSIENT: frozenset[NotMeasured] = frozenset({"infrastructure", "outage"})


@dataclass(frozen=True)
class RunContext:
    """Where and with what all trials of a run are made."""

    suite: Suite
    checkouts: dict[Side, Checkout]
    scratch: Path
    definitions: Path  # the checkout that scenarios and templates are read at
    around: HostEnvironment
    progress: Progress
    slots: SupervisorPool
    deadline: float  # of the run, on the monotonic clock


@dataclass
class Attempts:
    """Carries out trials; what they need in common is made by whoever needs it first."""

    ground: RunContext
    spending: Spending
    relay: ModelProxy | None = None
    _begun: int = 0
    _prepared: dict[tuple[str, Side], asyncio.Future[Prepared]] = field(default_factory=dict)

    async def trial(self, spec: TrialSpec, row: PlanRow) -> Trial:
        """The first attempt that is not infrastructure trouble, or the last of three."""
        trial = Trial(spec=spec, not_measured="infrastructure")
        for _ in range(1 + RETRIES):
            async with self.ground.slots.slot(row.agent.weight) as supervisor:
                if (used_up := self._used_up()) is not None:
                    return Trial(spec=spec, not_measured="budget", reason=used_up)
                trial = await self._attempt(spec, row, supervisor)
            if trial.not_measured not in _TRANSIENT:
                break
        return trial

    async def late(self, request: RunJudge, spec: TrialSpec, row: PlanRow) -> Answer | None:
        """Run a script that the judge's answer goes to, when the trial is over; None if that cannot be done."""
        async with self.ground.slots.slot() as supervisor:
            attempt = await self._attempt_of(spec, row, supervisor, "graded")
            try:
                return await run_late(request, attempt, "judge-late")
            except (SupervisorLost, OSError):
                return None
            finally:
                await asyncio.to_thread(attempt.folders.remove_scratch)

    def _used_up(self) -> str | None:
        budget = self.ground.suite.budget
        if time.monotonic() >= self.ground.deadline:
            return f"the run's {budget.minutes:g} minutes were used up"
        if budget.trials is not None and self._begun >= budget.trials:
            return f"the run's {budget.trials} trials were used up"
        if (spent := self.spending.used_up()) is not None:
            return spent
        self._begun += 1
        return None

    async def _attempt(self, spec: TrialSpec, row: PlanRow, supervisor: Supervisor) -> Trial:
        self.ground.checkouts[spec.side].store.clear_trial(spec)
        attempt = await self._attempt_of(spec, row, supervisor, "trials")
        self.ground.progress.started(spec)
        try:
            with with_lease(attempt, self.relay) as lent:
                return await run_trial(lent)
        finally:
            await asyncio.to_thread(attempt.folders.remove_scratch)

    async def _attempt_of(self, spec: TrialSpec, row: PlanRow, supervisor: Supervisor, kind: str) -> Attempt:
        """Where it will run: in a folder of its own of that kind."""
        ground = self.ground
        checkout = ground.checkouts[spec.side]
        record = checkout.store.record_folder(spec).resolve()  # commands of the trial run in other folders than we
        place = TrialDirectories(
            prepared=await self._workspace(row, checkout),
            repo=checkout.folder,
            definitions=ground.definitions,
            former=next(iter(ground.checkouts.values())).folder,
            path=side_path(checkout.folder, checkout.path_of(ground.suite), ground.around.path),
            passed_env=ground.around.passed,
            credentials=ground.around.of_agent(row.agent),
            limits=ground.suite.limits,
        )
        return Attempt(
            spec=spec,
            row=row,
            place=place,
            folders=Folders(record=record, scratch=ground.scratch / kind / spec.id),
            supervisor=supervisor,
            deadline=ground.deadline,
            on_step=lambda text: ground.progress.step(spec, text),
            meter=self.spending.meter(ground.suite.prices.get(row.agent.model or ""), row.scenario.max_usd),
        )

    async def _workspace(self, row: PlanRow, checkout: Checkout) -> Prepared:
        """The scenario's workspace on this side, made by whoever needs it first."""
        ground = self.ground
        key = (row.key.scenario, checkout.side)
        if key not in self._prepared:
            folder = ground.scratch / "prepared" / checkout.side / encoded(row.key.scenario)
            making = asyncio.to_thread(
                prepare, row.scenario, ground.definitions, checkout.folder, ground.suite.guidance, folder
            )
            self._prepared[key] = asyncio.ensure_future(making)
        return await self._prepared[key]
