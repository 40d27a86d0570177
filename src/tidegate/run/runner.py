"""Runs a plan's trials: schedules them, and applies slots and limits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Protocol, Self, TypeVar

from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.checks.measure import measure_trial
from tidegate.errors import CannotRunError
from tidegate.history.run_folder import AnswerStore
from tidegate.model.agent import Agent
from tidegate.model.bundle import NOTHING, Spent
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.plan import Plan, PlanRow, key_of
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import Side, TrialSpec, encoded
from tidegate.run.attempts import Attempts, RunContext
from tidegate.run.batches import Batches
from tidegate.run.build import Checkout, HostEnvironment, build
from tidegate.run.checkouts import scratch_folder
from tidegate.run.grade import Judging
from tidegate.run.judge_client import PanelClient
from tidegate.run.kept_builds import KeptBuild, build_key, builds_folder
from tidegate.run.pace import OutageWaits
from tidegate.run.replaced_files import replaced_since
from tidegate.run.slots import SlotFiles, SlotNetworks
from tidegate.suite.suggestions import unpriced
from tidegate.trial.cost_meter import Spending
from tidegate.trial.environment import side_path
from tidegate.trial.processes import Account, Supervisor, SupervisorLost, SupervisorPool
from tidegate.trial.safe_files import remove_trees
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.starter import Starter
from tidegate.trial.sandbox.supervisor.starter import MEMORY
from tidegate.trial.sandbox.users import BUILDERS, Users, advice_on_users, give, make_readable, why_not
from tidegate.trial.start import AgentCheckDirectories
from tidegate.vcs.worktrees import rejoin, separate

T = TypeVar("T")
SMALL_RECORD = 64 << 10  # bytes of trial.json


async def together(coroutines: Sequence[Coroutine[None, None, T]]) -> list[T]:
    """Return all results in order. The first failure cancels the others and is raised unwrapped."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


class Runner:
    """Runs trials of a plan on one or two sides. An async context manager: nothing that it starts outlives it.

    `on_result` is called with each result at once.
    """

    _users: Users | None = None

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
        began: float,
        pause_s: float = 0.0,
        withheld: Sequence[str] = (),  # variables that workers on other machines must not use
        before: Spent = NOTHING,
    ) -> None:
        self._plan, self.slots = plan, jobs or suite.jobs or os.cpu_count() or 1
        self._context = context = RunContext(
            suite=suite,
            checkouts={checkout.side: checkout for checkout in checkouts},
            scratch=scratch,
            definitions=definitions,
            around=HostEnvironment.of(environ, suite),
            progress=progress,
            slots=SupervisorPool(self.slots, self._start),
            deadline=began + suite.budget.seconds,
        )
        self._bench = PanelClient.of(suite, checkouts[0].folder, environ, answers, context.deadline)
        spending = Spending(suite.budget, lambda: self._spent_besides_agents(before))
        self._bench.end_with(spending.used_up)
        self.attempts = Attempts(context, spending, OutageWaits(pause_s, context.deadline, progress), before.trials)
        self._judging = Judging(context, self._bench, self.attempts)
        self._batches = Batches.of(self.attempts, plan, withheld)
        self._executor: TrialExecutor = self._batches or self.attempts
        self._networks, self._files = SlotNetworks(suite.network, progress), SlotFiles(suite, scratch, progress)
        self._measuring, self._open = asyncio.Lock(), AsyncExitStack()
        self.build_errors = dict[Side, str]()
        self.versions, self._replaced = dict[str, str | None](), tuple[str, ...]()
        self.on_result: Callable[[TrialResult], None] = lambda _: None

    async def __aenter__(self) -> Self:
        """Build every side and check every agent. A failed build is recorded in `build_errors`."""
        context = self._context
        async with AsyncExitStack() as opened:
            opened.callback(Starter.get().let_go)  # it runs on between two supervisors
            self._users = await self._choose_users()
            if self._users is not None:
                opened.enter_context(self._users)
            agents = {row.key.agent: row.agent for row in self._plan.rows if row.no_agent is None}
            if self._batches is not None:
                await opened.enter_async_context(self._batches)
            elif context.suite.model_proxy and any(agent.api for agent in agents.values()):
                self.attempts.model_proxy = opened.enter_context(ModelProxy())
            await opened.enter_context(self._networks).choose(self.attempts.model_proxy)
            checkouts = [side.folder for side in context.sides]
            await self._files.choose(context.around.environ, checkouts, own_users=self._users is not None)
            if self._files.in_memory and self._batches is None:
                self.attempts.memory = opened.enter_context(scratch_folder(MEMORY))
                self.attempts.memory.chmod(0o711)  # others may enter; each folder in it has its own permissions
            if self._batches is None:
                context.progress.say(f"isolation of trials: {', '.join(self.confinement)}")
            _ = context.agent_path  # found out before builds can change what a checkout belongs to
            await opened.enter_async_context(context.slots)
            for text in dict.fromkeys(unpriced(context.suite, self._plan)):
                context.progress.say(text)
            await self._build_all()
            self.versions = await (self._batches.check(agents) if self._batches else _check_agents(agents, context))
            await opened.enter_async_context(self._bench)
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    @property
    def spent(self) -> Spent:
        """Return what was spent so far, including what shards had spent before."""
        usd, tokens = self.attempts.spending.spent()
        return Spent(usd=usd, tokens=tokens, trials=self.attempts.begun)

    @property
    def confinement(self) -> tuple[str, ...]:
        """Return how trials are isolated, from users to the model proxy; on workers, all that they report."""
        if self._batches is not None:
            return self._batches.confinement
        relayed = ("keys in the model proxy",) if self.attempts.model_proxy else ()
        user = "same user as Tidegate" if self._users is None else "own user"
        return (user, *self._files.confinement, *self._networks.confinement, *relayed)

    async def run(
        self, specs: Sequence[TrialSpec], enough: Callable[[TrialResult], bool] = lambda _: False
    ) -> list[TrialResult]:
        """Run the trials, as many at once as there are slots. Results are in the order of `specs`.

        `enough` is called with each result. Once it returns True, no further trial starts; those are left out.
        """
        progress, executor = self._context.progress, self._executor
        progress.expect(len(specs))
        executor.expect([spec for spec in specs if self.cannot_run(spec) is None])

        async def one(spec: TrialSpec) -> TrialResult | None:
            try:
                result = await self._trial(spec)
            finally:
                self.attempts.pace.ended(spec)
            executor.halted |= result is not None and enough(result)
            return result

        results = [result for result in await together([one(spec) for spec in specs]) if result is not None]
        progress.expect(len(results) - len(specs))
        return results

    def learn(self, of_base: Iterable[TrialResult | PastTrial]) -> None:
        """Learn from earlier trials how long base needs, which limits the time of head's trials."""
        self.attempts.pace.learn(of_base)

    def _spent_besides_agents(self, before: Spent) -> tuple[float, int]:
        """Return the US dollars and the tokens of judges, and of all that shards had spent `before`."""
        return before.usd + self._bench.spent_usd, before.tokens + self._bench.spent_tokens

    async def _choose_users(self) -> Users | None:
        """Return a pool of users, one per slot; None if trials cannot run as separate users. Reports which once."""
        context = self._context
        if os.geteuid() == 0:
            context.scratch.chmod(0o711)  # others may enter; each folder in it has its own permissions
        why = await why_not([context.scratch, *(side.folder for side in context.sides)], context.around.path)
        if why is None:
            return Users()
        context.progress.say(f"trials are not isolated by user: {why}. {advice_on_users()}")
        return None

    async def _start(self) -> Supervisor:
        account = None if self._users is None else self._users.take()
        network = await self._networks.open()
        return await Supervisor.start(account, Confinement(network, self._files.jail))

    def _builder(self, checkout: Checkout) -> Account | None:
        """Return the user for a side's build, which then owns the checkout; None for the user's own working tree."""
        if self._users is None or not checkout.folder.is_relative_to(self._context.scratch):
            return None
        account = self._users.take(BUILDERS)
        give(account, checkout.folder)
        return account

    @property
    def replaced(self) -> tuple[str, ...]:
        """Return the files of head's commit that its build has replaced, and base's build has not."""
        return self._replaced or (self._batches.replaced if self._batches else ())

    async def _build_all(self) -> None:
        context = self._context
        sides = [side for side in context.sides if side.build_of(context.suite)]
        base, head = context.sides[0], context.sides[-1]
        compared = base is not head and head in sides
        folders = (*base.path_of(context.suite), *head.path_of(context.suite))
        replaced: Callable[[], tuple[str, ...]] = tuple
        if compared:
            replaced = await asyncio.to_thread(replaced_since, base.folder, head.folder, folders, context.suite)
        await together([self._build(side) for side in sides])
        if compared and self.build_errors.pop(base.side, None) is not None:
            await self._build(base)  # alone: what head's build did at the same time may be why
        self._replaced = await asyncio.to_thread(replaced)

    async def _build(self, checkout: Checkout) -> None:
        error = await self._built(checkout)
        if self._users is not None and checkout.folder.is_relative_to(self._context.scratch):
            await asyncio.to_thread(make_readable, checkout.folder)
        self.build_errors |= {} if error is None else {checkout.side: error}

    async def _built(self, checkout: Checkout) -> str | None:
        one, kept = self._context, self._kept_build(checkout)
        if kept and (age := await asyncio.to_thread(kept.take, checkout.folder)) is not None:
            said = f"base ({checkout.revision.ref}) is not built again: it was built {age / 60:.0f} minutes ago"
            one.progress.say(f"{said} (`store: {{builds: false}}` builds it in each run)")
            return None
        is_worktree = len(one.checkouts) > 1 and (checkout.folder / ".git").is_file()
        before = await asyncio.to_thread(separate, checkout.folder) if is_worktree else None
        builder = self._builder(checkout)
        # Not the slot's own supervisor: a trial's user must not own what all trials of the side share.
        confinement = self._files.of_build(checkout.folder)
        async with one.slots.slot(), await Supervisor.start(builder, confinement) as process:
            error = await build(one.suite, checkout, one.around, process, deadline=one.deadline, progress=one.progress)
        if before is not None:
            await asyncio.to_thread(remove_trees, checkout.folder / ".git")
            rejoin(checkout.folder, before)
        if kept and error is None:
            await asyncio.to_thread(kept.keep, checkout.folder)
        return error

    def _kept_build(self, checkout: Checkout) -> KeptBuild | None:
        """Return the place of base's build on this machine; None if it is not to be kept, or head could write there."""
        suite, around, jail = self._context.suite, self._context.around, self._files.jail
        safe = self._users is not None or (jail is not None and jail.means.landlock and not suite.files.write)
        builds = builds_folder(around.environ) if safe and suite.store.builds and checkout.side == "base" else None
        return None if builds is None else KeptBuild(builds, build_key(checkout, suite, around))

    def _row(self, spec: TrialSpec) -> PlanRow:
        """Return the trial's row, as its side's product has it."""
        return self._plan.row(key_of(spec)).on(spec.side)

    def cannot_run(self, spec: TrialSpec) -> Trial | None:
        """Return the record of a trial that cannot run, as its side was not built or a secret is missing; else None."""
        if spec.side in self.build_errors:
            return Trial(spec=spec, not_measured="build", reason=self.build_errors[spec.side])
        if secrets := self._row(spec).scenario.target.secrets:
            reason = f"no secret reaches this pull request: {', '.join(secrets)}"
            return Trial(spec=spec, not_measured="secret", reason=reason)
        return None

    async def _trial(self, spec: TrialSpec) -> TrialResult | None:
        row = self._row(spec)
        if (trial := self.cannot_run(spec) or await self._executor.trial(spec, row)) is None:
            return None
        if trial.not_measured == "auth":
            self._end_agent(spec.agent, trial.reason)
        result = await self._measured(await self._judging.graded(trial, row), row)
        self._context.checkouts[result.side].store.finish_trial(result)
        self.on_result(result)
        self._context.progress.finished(result)
        return result

    async def _measured(self, trial: Trial, row: PlanRow) -> TrialResult:
        """Return the trial's result. What it printed can take seconds to read: one at a time, for memory."""
        suite = self._context.suite
        price, blocks = suite.price_of_budget(row.agent.model), suite.policy.judge_blocks
        measure = partial(measure_trial, trial, row.scenario, price, judge_blocks=blocks)
        if self._context.checkouts[trial.spec.side].store.record_size(trial.spec) < SMALL_RECORD:
            return measure()  # a thread would cost more
        async with self._measuring:
            return await asyncio.to_thread(measure)

    def _end_agent(self, name: str, reason: str) -> None:
        """Start no more trials of an agent whose key was refused. Raises CannotRunError if no other agent is left."""
        refused = self.attempts.refused
        if name not in refused:
            refused[name] = reason
            self._context.progress.say(f"{refused_key(name, reason)}; no more of its trials are started")
        if refused.keys() >= {row.key.agent for row in self._plan.rows if row.no_agent is None}:
            said = ". ".join(refused_key(*one) for one in refused.items())
            raise CannotRunError(said, "Check the key in the environment; no further trial was started.")


def refused_key(agent: str, reason: str) -> str:
    """Return the sentence about an agent whose key was refused."""
    return f"The agent {agent} was refused by its model's provider: {reason}"


class TrialExecutor(Protocol):
    """Carries out trials: on this machine (`Attempts`), or in batches by an engine (`Batches`)."""

    halted: bool  # no further trial starts

    def expect(self, specs: Sequence[TrialSpec]) -> None:
        """Prepare for these trials, which are requested in this order."""

    async def trial(self, spec: TrialSpec, row: PlanRow) -> Trial | None:
        """Return the record of an expected trial, whose files are in its side's store; None if halted before."""


async def _check_agents(agents: Mapping[str, Agent], context: RunContext) -> dict[str, str | None]:
    """Return each agent's version, None if it has none. Raises CannotRunError for the first agent that cannot run."""
    found = await asyncio.gather(*(_version(*one, context) for one in agents.items()), return_exceptions=True)
    versions: dict[str, str | None] = {}
    for name, version in zip(agents, found, strict=True):
        if isinstance(version, BaseException):
            raise version
        versions[name] = version
    return versions


async def _version(name: str, agent: Agent, context: RunContext) -> str | None:
    side, *_ = context.checkouts.values()
    async with context.slots.slot() as supervisor:
        place = AgentCheckDirectories(
            supervisor=supervisor,
            folder=context.scratch / "agents" / encoded(name),
            repo=side.folder,
            path=side_path(side.folder, side.path_of(context.suite), context.around.path),
            agent_path=context.agent_path,
            credentials=context.around.of_agent(agent),
            network=context.suite.network.agent,
        )
        try:
            version = await agent.check(place)
            if agent.chosen_provider is not None and agent.api is not None:
                await asyncio.to_thread(context.accesses.check, f"agent {name}", agent.chosen_provider, agent.api)
            return version
        except SupervisorLost as lost:
            raise CannotRunError(f"The agent {name} could not be checked: {lost}.", "Run it again.") from None
