"""Has trials run in batches by an engine: sbatch, kubectl, Ray.

The procedure asks for trials and does not know where they run. A batch that is lost is run again, each side on its own:
then a head that ends its workers is told apart from an engine that does not work.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import tempfile
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple, Self

from tidegate import __version__
from tidegate.errors import CannotRunError
from tidegate.model.agent import Agent
from tidegate.model.bundle import Batch, BatchSide
from tidegate.model.executor import RESULTS_FILE, BatchJob, BatchLostError, Carry, Engine, EngineContext, LocalExecutor
from tidegate.model.plan import Plan, PlanRow, key_of
from tidegate.model.suite import Budget, Policy, Suite
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.attempts import RETRIES, Attempts
from tidegate.run.bundle import JUDGE, BadBundleError, Bundle, pack, write_batch
from tidegate.text.redaction import Redaction, secret_variables
from tidegate.vcs.worktrees import files_of

GRACE_SECS = 60.0  # after the end of the run's budget: the worker stops its trials by then, and its results come back


class _Share(NamedTuple):
    """The part of the run's budget that a batch may use; None: no limit."""

    usd: float | None
    tokens: int | None


class Batches:
    """An async context manager: what it has started is stopped at its end. Open it before anything is built."""

    def __init__(self, engine: Engine, plan: Plan, attempts: Attempts, withheld: Sequence[str]) -> None:
        """`attempts` has what the run shares; `withheld` names variables that no worker may use."""
        self.halted = False
        self.confinement: tuple[str, ...] = ()
        self.replaced: tuple[str, ...] = ()  # see Runner
        self._engine = engine
        self._plan = plan
        self._attempts = attempts
        self._context = attempts.context
        self._withheld = tuple(withheld)
        self._turns = asyncio.Semaphore(engine.parallel)
        self._folder: Path
        self._sides: dict[Side, BatchSide] = {}
        self._archives: dict[str, Path] = {}
        self._carry: Carry
        self._versions: dict[str, str | None] = {}
        self._found: dict[TrialSpec, asyncio.Future[Trial | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost: set[tuple[str, str, Side]] = set()  # rows and sides that lost each of their workers
        self._waiting = 0  # trials of batches that have not started
        self._names = (f"tidegate-{secrets.token_hex(4)}-{number:04d}" for number in count(1))
        self._open = AsyncExitStack()

    @classmethod
    def of(cls, attempts: Attempts, plan: Plan, withheld: Sequence[str]) -> Self | None:
        """Return the batches of a run; None if its trials run on this machine, or if it has none, as for replays."""
        engine = attempts.context.suite.executor
        return cls(engine, plan, attempts, withheld) if isinstance(engine, Engine) and plan.rows else None

    async def __aenter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="batches-", dir=self._context.scratch))  # a tried fix has its own
        for side, checkout in self._context.checkouts.items():
            self._archives[side] = archive = self._folder / f"{side}.tar"
            await asyncio.to_thread(pack, checkout.folder, files_of(checkout.folder), archive)
            suite = self._context.suite
            self._sides[side] = BatchSide(
                side=side,
                revision=checkout.revision,
                build=checkout.build_of(suite),
                path=checkout.path_of(suite),
            )
        definitions = self._context.definitions
        if all(definitions != checkout.folder for checkout in self._context.checkouts.values()):
            self._archives[JUDGE] = archive = self._folder / f"{JUDGE}.tar"
            await asyncio.to_thread(pack, definitions, files_of(definitions), archive)
        folder = next(iter(self._context.checkouts.values())).folder
        context = EngineContext(folder, self._context.around.environ)
        self._carry = await self._open.enter_async_context(self._engine.opened(context))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._open.aclose()

    async def check(self, agents: Mapping[str, Agent]) -> dict[str, str | None]:
        """Have one worker check the agents with base's code alone, before any of head's can interfere.

        Raises CannotRunError if the engine returns no results, so that its failure is told from a failure of head.
        """
        rows = {row.key.agent: row for row in self._plan.rows}
        if rows:
            side = next(iter(self._sides))
            batch = self._batch((side,), tuple(rows.values()), (), _Share(None, None))
            try:
                results = await self._ran(batch)
            except BatchLostError as lost:
                raise CannotRunError(
                    f"The executor `{self._engine.type}` does not work: {lost}.",
                    "docs/executors.md says what a worker needs.",
                ) from None
            self._versions = results.contents.versions
            results.close()
        return {name: self._versions.get(name) for name in agents}

    def expect(self, specs: Sequence[TrialSpec]) -> None:
        """Begin to run these trials, in batches."""
        self.halted = False
        loop = asyncio.get_running_loop()
        self._found |= {spec: loop.create_future() for spec in specs}
        for batch in in_batches(specs, self._engine):
            self._start(batch)

    async def trial(self, spec: TrialSpec, row: PlanRow) -> Trial | None:
        """Return the record of an expected trial; None if no further trial started before its turn."""
        return await asyncio.shield(self._found[spec])

    def _start(self, specs: Sequence[TrialSpec], tries: int = 0) -> None:
        self._waiting += len(specs)
        task = asyncio.create_task(self._settled(self._run(specs, tries), specs))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _settled(self, running: Coroutine[None, None, None], specs: Iterable[TrialSpec]) -> None:
        """Hand an unexpected error to those who wait for the trials."""
        try:
            await running
        except Exception as error:
            for spec in specs:
                if not self._found[spec].done():
                    self._found[spec].set_exception(error)

    async def _run(self, specs: Sequence[TrialSpec], tries: int) -> None:
        """Run a batch, and again what was lost or met an outage."""
        async with self._turns:
            share = self._share(len(specs))
            self._waiting -= len(specs)
            admitted = [spec for spec in specs if self._admits(spec, tries)]
            missing = await self._once(admitted, share) if admitted else {}
        for part in await self._repeated(missing, tries):
            self._start(part, tries + 1)
            missing = {spec: trial for spec, trial in missing.items() if spec not in part}
        for spec, trial in missing.items():
            self._found[spec].set_result(trial)

    async def _repeated(self, missing: Mapping[TrialSpec, Trial], tries: int) -> list[list[TrialSpec]]:
        """Return the batches to run again: outages together, what was lost by row and side.

        A row and side that lost all of its workers before gets no second one: the trial is to blame by then.
        """
        if any(trial.not_measured == "outage" for trial in missing.values()):
            again = tries < RETRIES or await self._attempts.outage_waits.wait()
            return [list(missing)] if again else []
        parts = apart(spec for spec in missing if place_of(spec) not in self._lost)
        if tries < RETRIES:
            return list(parts)
        self._lost |= {place_of(spec) for spec in missing}
        return []

    def _admits(self, spec: TrialSpec, tries: int) -> bool:
        """Return True if the trial may start; else settle it."""
        stopped = self.halted and not tries
        refused = None if stopped else self._attempts.refusal(spec)
        if stopped or refused is not None:
            self._found[spec].set_result(refused)
            return False
        return True

    async def _once(self, specs: Sequence[TrialSpec], share: _Share) -> dict[TrialSpec, Trial]:
        """Run one batch and settle its trials; return those that are to be run again, with what they have shown."""
        for spec in specs:
            self._context.progress.started(spec)
        keys = {key_of(spec) for spec in specs}
        rows = tuple(row for row in self._plan.rows if row.key in keys)
        batch = self._batch(tuple(self._sides), rows, tuple(specs), share)
        usd, tokens = share.usd or 0.0, share.tokens or 0
        self._attempts.spending.add(usd, tokens)  # stays so if the batch is lost
        try:
            results = await self._ran(batch)
        except BatchLostError as lost:
            what = "1 trial is" if len(specs) == 1 else f"{len(specs)} trials are"
            self._context.progress.say(f"{what} lost: {lost}")
            return {spec: Trial(spec=spec, not_measured="worker_lost", reason=str(lost)) for spec in specs}
        report, trials = results.contents, results.trials(specs)
        self._attempts.spending.add(report.spent.usd - usd, report.spent.tokens - tokens)
        outages = {trial.spec: trial for trial in trials if trial.not_measured == "outage"}
        for trial in trials:
            await asyncio.to_thread(self._keep, trial.spec, results)
            seen = self._attempts.pace.charged(trial)
            self._attempts.pace.saw(seen)
            if trial.spec not in outages:
                self._found[trial.spec].set_result(seen)
        results.close()
        return outages

    async def _ran(self, batch: Batch) -> Bundle:
        """Have the engine run a batch; return its results, which are complete."""
        folder = self._folder / batch.name
        bundle, out = folder / "bundle.zip", folder / "out"
        out.mkdir(parents=True)
        seal = await asyncio.to_thread(write_batch, bundle, batch, self._archives)
        left = self._context.deadline - time.monotonic() + GRACE_SECS
        await self._carry(BatchJob(batch.name, bundle, out, min(60 * self._engine.minutes, left)))
        bundle.unlink(missing_ok=True)  # it takes as much room as both sides
        results = await asyncio.to_thread(read_results, out / RESULTS_FILE, seal, batch.trials)
        for name, version in results.contents.versions.items():
            if name in self._versions and self._versions[name] != version:
                raise BatchLostError(f"the worker has {name} {version}, and the first one had {self._versions[name]}")
        self.confinement = tuple(dict.fromkeys((*self.confinement, *results.contents.confinement)))
        self.replaced = tuple(dict.fromkeys((*self.replaced, *results.contents.replaced)))
        return results

    def _batch(
        self, sides: Sequence[Side], rows: tuple[PlanRow, ...], specs: tuple[TrialSpec, ...], share: _Share
    ) -> Batch:
        left = max(1.0, self._context.deadline - time.monotonic())
        budget = Budget(usd=share.usd, tokens=share.tokens, minutes=left / 60)
        batch = Batch(
            tidegate_version=__version__,
            name=next(self._names),
            sides=tuple(self._sides[side] for side in sides),
            has_judge=JUDGE in self._archives,
            suite=settings_of(self._context.suite, budget),
            rows=rows,
            trials=specs,
            pace=self._attempts.pace.known(row.key for row in rows),
            withheld=self._withheld,
        )
        return self._without_secrets(batch)

    def _without_secrets(self, batch: Batch) -> Batch:
        """Return the batch. Raises CannotRunError if it has a secret's value, as AgentV's targets can."""
        environ, suite = self._context.around.environ, self._context.suite
        names = (*suite.pass_env, *suite.server_variables)
        redaction = Redaction(secret_variables({name: environ[name] for name in names if name in environ}))
        text = "".join(row.model_dump_json() for row in batch.rows)
        if redaction.text(text) != text:
            raise CannotRunError(
                "A scenario or an agent contains a secret's value, which may not leave this machine.",
                "In targets.yaml, let the program read the variable itself, or use the executor `local`.",
            )
        return batch

    def _share(self, trials: int) -> _Share:
        """Return the batch's part of what is left of the budget, by its part of the trials that have not started."""
        budget, (usd, tokens) = self._context.suite.budget, self._attempts.spending.spent()
        part = trials / max(self._waiting, trials)
        return _Share(
            None if budget.usd is None else max(1e-6, part * (budget.usd - usd)),
            None if budget.tokens is None else max(1, math.floor(part * (budget.tokens - tokens))),
        )

    def _keep(self, spec: TrialSpec, results: Bundle) -> None:
        """Put a trial's record into its place in the run."""
        store = self._context.checkouts[spec.side].store
        store.clear_trial(spec)
        results.extract(spec, store)


def read_results(path: Path, seal: str, specs: Sequence[TrialSpec]) -> Bundle:
    """Return the worker's results of the bundle with that seal. Raises BatchLostError unless they are all complete."""
    try:
        results = Bundle(path)
        if results.contents.asked != seal:
            raise BadBundleError("belongs to another batch")
        results.trials(specs)
    except BadBundleError as error:
        raise BatchLostError(f"the worker's {path.name} {error}") from None
    return results


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
