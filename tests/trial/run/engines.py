"""An engine in this process, and batches on two small commits: each batch is really packed, written and read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import PrivateAttr

from tests import make
from tests.conftest import Repository
from tidegate.checks.gates.text_gates import FileExists
from tidegate.history.run_folder import RunFolder
from tidegate.model.bundle import Batch, BundleContents, Spent
from tidegate.model.executor import RESULTS_FILE, BatchJob, Carry, Engine, EngineContext
from tidegate.model.plan import Plan, PlanRow, RowKey, key_of
from tidegate.model.probe import FileAnswer
from tidegate.model.progress import Progress
from tidegate.model.revision import Revision
from tidegate.model.suite import Budget
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.attempts import Attempts, RunContext
from tidegate.run.batches import Batches
from tidegate.run.build import Checkout, HostEnvironment
from tidegate.run.bundle import read_batch, write_trials
from tidegate.run.pace import OutageWaits
from tidegate.trial.cost_meter import Spending
from tidegate.trial.processes import SupervisorPool

Draw = Callable[[TrialSpec], Trial]
Around = Callable[[BatchJob, Callable[[], None]], Awaitable[None] | None]


def passing(spec: TrialSpec) -> Trial:
    """Return a trial that passed."""
    return drawn(spec, passed=True)


def drawn(spec: TrialSpec, *, passed: bool) -> Trial:
    """Return a trial that passed or failed its one gate."""
    answer = FileAnswer(state="present" if passed else "missing", path="done", text="" if passed else None)
    return make.trial(spec=spec, answers=(answer,), duration_s=1.0, calls_known=True)


def by_chance(seed: int, rates: dict[tuple[str, str], float]) -> Draw:
    """Return what draws a trial's outcome by its side's and row's rate; the same spec always gives the same one."""

    def draw(spec: TrialSpec) -> Trial:
        chance = Random(f"{seed} {spec.id}")
        passed = chance.random() < rates[spec.side, spec.scenario]
        if chance.random() < 0.03:
            return make.trial(spec=spec, end=None, not_measured="record_lost", reason="lost")
        return drawn(spec, passed=passed)

    return draw


class Worker(Engine):
    """Does what a worker does, with drawn trials instead of agents. `around` may interfere with a batch."""

    type: Literal["here"] = "here"
    _draw: Draw = PrivateAttr(default_factory=lambda: passing)
    _around: Around | None = PrivateAttr(default=None)
    _seen: list[Batch] = PrivateAttr(default_factory=list)
    _states: dict[str, object] = PrivateAttr(default_factory=dict)

    def working(self, draw: Draw = passing, around: Around | None = None, **states: object) -> Worker:
        """Set what it draws, what interferes, and fields of what its bundles state."""
        self._draw, self._around = draw, around
        self._states.update(states)
        return self

    @property
    def batches(self) -> list[Batch]:
        """The batches with trials that it was given."""
        return [batch for batch in self._seen if batch.trials]

    @asynccontextmanager
    async def opened(self, context: EngineContext) -> AsyncIterator[Carry]:
        async def carry(job: BatchJob) -> None:
            if self._around is None:
                self._work(job)
            elif (waiting := self._around(job, lambda: self._work(job))) is not None:
                await waiting

        yield carry

    def _work(self, job: BatchJob) -> None:
        batch, seal = read_batch(job.bundle)
        self._seen.append(batch)
        stores: dict[Side, RunFolder] = {one.side: RunFolder(job.out / one.side) for one in batch.sides}
        for spec in batch.trials:
            stores[spec.side].keep_trial(self._draw(spec))
        known = {"asked": seal, "trials": len(batch.trials), "versions": {"docs": "1"}, "confinement": ("there",)}
        contents = BundleContents.model_validate({"spent": Spent(), "seconds": 1, **known, **self._states})
        write_trials(job.out / RESULTS_FILE, contents, batch.trials, stores)


def plan_of(*names: str) -> Plan:
    """Return a plan of these scenarios with one agent and one gate."""
    gate = FileExists(path="done")
    agent = make.DOCS
    rows = (
        PlanRow(
            key=RowKey(scenario=name, agent="docs"),
            scenario=make.scenario(name, gates=(gate,)),
            agent=agent,
            deterministic=False,
        )
        for name in names
    )
    return Plan(rows=tuple(rows))


def attempts_of(folder: Path, engine: Engine, plan: Plan, budget: Budget | None = None, **environ: str) -> Attempts:
    """Return what a run shares, on two commits of a repository in `folder`."""
    repository = Repository(folder / "repo")
    sha = repository.commit({"AGENTS.md": "# Notes\n", "bin/notes": "#!/bin/sh\n"})
    suite = make.suite(
        *(row.scenario for row in plan.rows), executor=engine, budget=budget or Budget(), pass_env=tuple(environ)
    )
    sides = [
        Checkout(side, Revision(sha=sha, ref=side), repository.root, RunFolder(folder / "runs" / side))
        for side in ("base", "head")
    ]
    scratch = folder / "scratch"
    scratch.mkdir()
    deadline = time.monotonic() + suite.budget.seconds
    context = RunContext(
        suite=suite,
        checkouts={one.side: one for one in sides},
        scratch=scratch,
        definitions=repository.root,
        around=HostEnvironment.of(environ, suite),
        progress=Progress(),
        slots=SupervisorPool(1),
        deadline=deadline,
    )
    return Attempts(context, Spending(suite.budget), OutageWaits(0, deadline, Progress()))


def specs_of(*names: str, count: int = 1) -> list[TrialSpec]:
    """Return `count` trials of each scenario on both sides."""
    return [
        make.spec(side=side, scenario=name, agent="docs", index=index)
        for name in names
        for index in range(1, count + 1)
        for side in ("base", "head")
    ]


async def carried(batches: Batches, plan: Plan, specs: Sequence[TrialSpec]) -> list[Trial | None]:
    """Return the trials as the runner gets them."""
    batches.expect(specs)
    rows = {row.key: row for row in plan.rows}
    waiting = [batches.trial(spec, rows[key_of(spec)]) for spec in specs]
    return await asyncio.gather(*waiting)
