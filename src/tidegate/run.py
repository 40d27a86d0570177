"""Plan → Trials: which trial runs when, in which slot, within which limits."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self, TypeVar

from tidegate.bench import Bench
from tidegate.build import Checkout, Surroundings, build
from tidegate.errors import CannotRunError
from tidegate.grade import grade
from tidegate.lending import with_loan
from tidegate.measure import measure_trial
from tidegate.model.agent import Agent
from tidegate.model.event import Event
from tidegate.model.judge import JudgePlace
from tidegate.model.judgement import PairJudgement
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.probe import Answer, Request, RunJudge
from tidegate.model.progress import Progress
from tidegate.model.question import AskModel
from tidegate.model.suite import Suite
from tidegate.model.trial import NotMeasured, Side, Trial, TrialSpec, encoded
from tidegate.pairing import judge_pairs
from tidegate.relay import Relay
from tidegate.store.answers import AnswerStore
from tidegate.trial.environment import side_path
from tidegate.trial.late import run_late
from tidegate.trial.lifecycle import run_trial
from tidegate.trial.machine import CheckPlace
from tidegate.trial.place import Attempt, Folders, Place
from tidegate.trial.processes import Account, Supervisor
from tidegate.trial.slots import Slots
from tidegate.trial.spending import Spending
from tidegate.trial.users import BUILDERS, Users, give, make_readable, why_not
from tidegate.trial.workspace import Prepared, prepare

RETRIES = 2  # of a trial that ended in infrastructure trouble (verdict.md, Units)
_TRANSIENT: frozenset[NotMeasured] = frozenset({"infrastructure", "outage"})
_NO_LIMIT_MINUTES = 7 * 24 * 60.0
T = TypeVar("T")


class Runner:
    """Runs trials of one plan, on one or two sides. An async context manager: nothing that it starts outlives it."""

    def __init__(
        self,
        suite: Suite,
        plan: Plan,
        checkouts: Sequence[Checkout],
        scratch: Path,
        *,
        environ: Mapping[str, str],
        progress: Progress,
        definitions: Path,
        answers: AnswerStore,
        jobs: int | None = None,
    ) -> None:
        self._suite = suite
        self._plan = plan
        self._checkouts = {checkout.side: checkout for checkout in checkouts}
        self._scratch = scratch
        self._around = Surroundings.of(environ, suite)
        self._progress = progress
        self._definitions = definitions
        self._slots = Slots(jobs or suite.jobs or os.cpu_count() or 1, self._account)
        self._prepared: dict[tuple[str, Side], asyncio.Future[Prepared]] = {}
        self._users: Users | None = None
        self._open = ExitStack()
        self._relay: Relay | None = None
        self._begun = 0
        self._deadline = time.monotonic() + 60 * (suite.budget.minutes or _NO_LIMIT_MINUTES)
        self._bench = self._make_bench(answers)
        self._spending = Spending(suite.budget, lambda: self._bench.spent_usd)
        self.build_errors: dict[Side, str] = {}
        self.versions: dict[str, str | None] = {}
        self.on_result: Callable[[TrialResult], None] = _nothing

    async def __aenter__(self) -> Self:
        """Build every side and check every agent; a broken build is kept in `build_errors`."""
        await self._choose_users()
        if self._suite.build:
            await _together([self._build(checkout) for checkout in self._checkouts.values()])
        agents = {row.key.agent: row.agent for row in self._plan.rows}
        await _together([self._check(name, agent) for name, agent in agents.items()])
        if self._suite.relay and any(agent.provider for agent in agents.values()):
            self._relay = self._open.enter_context(Relay())
        await self._bench.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._bench.__aexit__()
        await self._slots.__aexit__()
        self._open.close()
        if self._users is not None:
            self._users.close()

    @property
    def confinement(self) -> tuple[str, ...]:
        """Whose rights trials have, and whether the keys of models are kept from them."""
        relayed = ("keys kept by the relay",) if self._relay else ()
        return ("the user of Tidegate" if self._users is None else "own user", *relayed)

    async def run(self, specs: Sequence[TrialSpec]) -> list[TrialResult]:
        """Run the trials, as many at once as there are slots; results come in the order of `specs`."""
        self._progress.expect(len(specs))
        return await _together([self._trial(spec) for spec in specs])

    async def _choose_users(self) -> None:
        """Give every slot a user of its own where that works, and say once which it is."""
        if os.geteuid() == 0:
            self._scratch.chmod(0o711)  # what stands in it is open or closed by itself
        checkouts = [checkout.folder for checkout in self._checkouts.values()]
        why = await why_not([self._scratch, *checkouts], self._around.path)
        if why is None:
            self._users = Users()
            self._progress.say("every trial runs as a user of its own")
        else:
            self._progress.say(f"trials run as the user of Tidegate: {why}")

    def _account(self) -> Account | None:
        return None if self._users is None else self._users.take()

    def _builder(self, checkout: Checkout) -> Account | None:
        """The user of a side's build, to whom its checkout goes; somebody's own working tree goes to nobody."""
        if self._users is None or not checkout.folder.is_relative_to(self._scratch):
            return None
        account = self._users.take(BUILDERS)
        give(account, checkout.folder)
        return account

    async def _build(self, checkout: Checkout) -> None:
        builder = self._builder(checkout)
        # Not the slot's own supervisor: what a trial runs as must not own what all trials of the side use.
        async with self._slots.slot(), await Supervisor.start(builder) as supervisor:
            error = await build(
                self._suite, checkout, self._around, supervisor, deadline=self._deadline, progress=self._progress
            )
        if builder is not None:
            await asyncio.to_thread(make_readable, checkout.folder)
        if error is not None:
            self.build_errors[checkout.side] = error

    async def _check(self, name: str, agent: Agent) -> None:
        """What every trial of the agent needs is there, or CannotRunError says what is missing."""
        side, *_ = self._checkouts.values()
        async with self._slots.slot() as supervisor:
            place = CheckPlace(
                supervisor=supervisor,
                folder=self._scratch / "agents" / encoded(name),
                repo=side.folder,
                path=side_path(side.folder, self._suite.path, self._around.path),
                credentials=self._around.of_agent(agent),
            )
            self.versions[name] = await agent.check(place)

    async def _trial(self, spec: TrialSpec) -> TrialResult:
        row = self._plan.row(RowKey(scenario=spec.scenario, agent=spec.agent))
        trial = self._not_run(spec) or await self._attempts(spec, row)
        if trial.not_measured == "auth":
            raise CannotRunError(
                f"The agent {spec.agent} was refused by its model's provider: {trial.reason}",
                "Check the key in the environment; no further trial was started.",
            )
        trial = await self._graded(trial, row)
        result = measure_trial(
            trial,
            row.scenario,
            self._suite.prices.get(row.agent.model or ""),
            row.before,
            judge_blocks=self._suite.policy.judge_blocks,
        )
        self._checkouts[spec.side].store.finish_trial(result)
        self.on_result(result)
        self._progress.finished(result)
        return result

    def _make_bench(self, answers: AnswerStore) -> Bench:
        """The judge works in the checkout that the rules are read at."""
        rules, *_ = self._checkouts.values()
        judge = self._suite.judge
        place = JudgePlace(
            folder=rules.folder, path=self._around.path, credentials=self._around.own(judge.variables) if judge else {}
        )
        price = self._suite.prices.get(judge.model) if judge else None
        return Bench(judge, place, answers, price=price, deadline=self._deadline)

    async def _graded(self, trial: Trial, row: PlanRow) -> Trial:
        """The trial with the judge's answers; no slot is taken while it thinks."""

        async def carry(request: Request) -> Answer | None:
            if isinstance(request, AskModel):
                return await self._bench.answer(request)
            return await self._late(request, trial.spec, row) if isinstance(request, RunJudge) else None

        graded = await grade(trial, row.scenario, carry)
        if graded is not trial:
            self._checkouts[trial.spec.side].store.keep_trial(graded)
        return graded

    async def _late(self, request: RunJudge, spec: TrialSpec, row: PlanRow) -> Answer:
        async with self._slots.slot() as supervisor:
            attempt = await self._attempt_of(spec, row, supervisor, "graded")
            try:
                return await run_late(request, attempt, "judge-late")
            finally:
                await asyncio.to_thread(attempt.folders.remove_scratch)

    async def pairs(self, results: Sequence[TrialResult]) -> tuple[PairJudgement, ...]:
        """Base's and head's trials side by side before the judge, if it is set up to."""
        if self._suite.judge is None or not self._suite.judge.pairwise:
            return ()

        async def carry(request: Request) -> Answer | None:
            return await self._bench.answer(request) if isinstance(request, AskModel) else None

        def read(result: TrialResult) -> Iterable[Event]:
            return self._checkouts[result.side].store.events(result.spec)

        return await judge_pairs(self._plan.rows, results, read, carry)

    def _not_run(self, spec: TrialSpec) -> Trial | None:
        """The record of a trial that is not worth starting."""
        if spec.side in self.build_errors:
            return Trial(spec=spec, not_measured="build", reason=self.build_errors[spec.side])
        return None

    async def _attempts(self, spec: TrialSpec, row: PlanRow) -> Trial:
        """The first attempt that is not infrastructure trouble, or the last of three."""
        trial = Trial(spec=spec, not_measured="infrastructure")
        for _ in range(1 + RETRIES):
            async with self._slots.slot(row.agent.weight) as supervisor:
                if (used_up := self._used_up()) is not None:
                    return Trial(spec=spec, not_measured="budget", reason=used_up)
                trial = await self._attempt(spec, row, supervisor)
            if trial.not_measured not in _TRANSIENT:
                break
        return trial

    def _used_up(self) -> str | None:
        budget = self._suite.budget
        if time.monotonic() >= self._deadline:
            return f"the run's {budget.minutes:g} minutes were used up"
        if budget.trials is not None and self._begun >= budget.trials:
            return f"the run's {budget.trials} trials were used up"
        if (spent := self._spending.used_up()) is not None:
            return spent
        self._begun += 1
        return None

    async def _attempt(self, spec: TrialSpec, row: PlanRow, supervisor: Supervisor) -> Trial:
        self._checkouts[spec.side].store.clear_trial(spec)
        attempt = await self._attempt_of(spec, row, supervisor, "trials")
        self._progress.started(spec)
        try:
            with with_loan(attempt, self._relay) as lent:
                return await run_trial(lent)
        finally:
            await asyncio.to_thread(attempt.folders.remove_scratch)

    async def _attempt_of(self, spec: TrialSpec, row: PlanRow, supervisor: Supervisor, kind: str) -> Attempt:
        """Where it will run: in a folder of its own of that kind."""
        checkout = self._checkouts[spec.side]
        record = checkout.store.record_folder(spec).resolve()  # commands of the trial run in other folders than we
        place = Place(
            prepared=await self._workspace(row, checkout),
            repo=checkout.folder,
            definitions=self._definitions,
            path=side_path(checkout.folder, self._suite.path, self._around.path),
            passed_env=self._around.passed,
            credentials=self._around.of_agent(row.agent),
            limits=self._suite.limits,
        )
        return Attempt(
            spec=spec,
            row=row,
            place=place,
            folders=Folders(record=record, scratch=self._scratch / kind / spec.id),
            supervisor=supervisor,
            deadline=self._deadline,
            on_step=lambda text: self._progress.step(spec, text),
            meter=self._spending.meter(self._suite.prices.get(row.agent.model or ""), row.scenario.max_usd),
        )

    async def _workspace(self, row: PlanRow, checkout: Checkout) -> Prepared:
        """The scenario's workspace on this side, made by whoever needs it first."""
        key = (row.key.scenario, checkout.side)
        if key not in self._prepared:
            folder = self._scratch / "prepared" / checkout.side / encoded(row.key.scenario)
            making = asyncio.to_thread(
                prepare, row.scenario, self._definitions, checkout.folder, self._suite.guidance, folder
            )
            self._prepared[key] = asyncio.ensure_future(making)
        return await self._prepared[key]


def _nothing(_: TrialResult) -> None:
    pass


async def _together(coroutines: Sequence[Coroutine[None, None, T]]) -> list[T]:
    """All results in order; the first failure ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
