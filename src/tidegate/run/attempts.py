"""Runs one trial: in its own folder and slot, within the run's budget, and again after an infrastructure error."""

from __future__ import annotations

import asyncio
import math
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.model_proxy.traffic import TrafficLimits
from tidegate.agents.providers.access import Accesses, KeyAccess
from tidegate.errors import CannotRunError
from tidegate.model.agent import ALONE
from tidegate.model.event import End
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.probe import Answer, RunJudge
from tidegate.model.progress import Progress
from tidegate.model.provider import Access
from tidegate.model.suite import Suite
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import NotMeasured, Side, TrialSpec, is_inside
from tidegate.run.build import Checkout, HostEnvironment
from tidegate.run.pace import OutageWaits, Pace
from tidegate.trial.cost_meter import Spending
from tidegate.trial.directories import LEAST_MEMORY, Attempt, Folders, TrialDirectories, room_of
from tidegate.trial.environment import Environments, free_port, side_path
from tidegate.trial.judge_script import RestoredWorkspace, ScriptContext
from tidegate.trial.lifecycle import run_trial
from tidegate.trial.processes import Supervisor, SupervisorLost, SupervisorPool
from tidegate.trial.program_lookup import Built, find_target, system_path, untested, write_missing
from tidegate.trial.safe_files import redact_folder, remove_trees
from tidegate.trial.sandbox.readable import parts_of_checkout, protected_in
from tidegate.trial.sandbox.users import remove_left_in_memory
from tidegate.trial.shown_secrets import without_secrets
from tidegate.trial.workspace import MOST_SECS, Prepared, prepare
from tidegate.vcs.revisions import main_folder


@dataclass(frozen=True)
class RunContext:
    """What all trials of a run share."""

    suite: Suite
    checkouts: dict[Side, Checkout]
    scratch: Path
    definitions: Path  # the checkout that base's scenarios, templates and scripts are read from
    around: HostEnvironment
    progress: Progress
    slots: SupervisorPool
    deadline: float  # when the run ends, on the monotonic clock

    @cached_property
    def accesses(self) -> Accesses:
        """The access to the providers that agents name, which is shared by all trials."""
        return Accesses(self.around.environ)

    @cached_property
    def agent_path(self) -> str:
        """The system's folders of PATH: none of a checkout, or of the repository that Tidegate compares."""
        checkouts = [side.folder for side in self.sides]
        return system_path(self.around.path, (self.scratch, *checkouts, *map(main_folder, checkouts)))

    def definitions_of(self, row: PlanRow) -> Path:
        """Return the checkout that the row's template and scripts are read from: head's own, if head adds the row."""
        return self.sides[-1].folder if row.presence == "added" else self.definitions

    @property
    def sides(self) -> tuple[Checkout, ...]:
        """The checkouts, base's first."""
        return tuple(self.checkouts.values())


class _Product(NamedTuple):
    """What builds have left of a tool on one side; see TrialDirectories."""

    path: str
    target_path: str
    untested: tuple[str, ...]
    hidden: Mapping[str, str]
    missing: list[Path]  # a folder of `path` in which no program works, if there is one


MOST_ENDED = 50  # folders of ended trials that are deleted together
LITTLE_ROOM = 2 << 30  # bytes; with less of it, they are deleted at once
RETRIES = 2  # after a cause that often goes away by itself (verdict.md, Units)
_TRANSIENT: frozenset[NotMeasured] = frozenset(
    {"infrastructure", "outage", "reported_outage", "resources", "supervisor_lost"}
)


@dataclass
class Attempts:
    """Runs trials. Shared workspaces are prepared by the first trial that needs them."""

    context: RunContext
    spending: Spending
    outage_waits: OutageWaits
    begun: int = 0  # trials, as the budget counts them
    model_proxy: ModelProxy | None = None
    pace: Pace = field(default_factory=Pace)
    halted: bool = False  # no further trial starts
    refused: dict[str, str] = field(default_factory=dict)  # agents whose provider refused their key, with its message
    memory: Path | None = None  # a folder in memory, for small trials
    on_offer: Callable[[dict[str, Any]], None] = lambda _: None  # called with what an MCP server offers
    front: Path | None = None  # of scripts in front of the tool, which write into its folder `calls`
    _prepared: dict[tuple[object, ...], asyncio.Future[Prepared]] = field(default_factory=dict)
    _products: dict[tuple[object, ...], _Product] = field(default_factory=dict)
    _readable: dict[tuple[object, ...], tuple[Path, ...]] = field(default_factory=dict)
    _outgrown: set[tuple[Side, RowKey]] = field(default_factory=set)  # rows whose trials belong on the disk
    _ended: list[Path] = field(default_factory=list)  # folders of trials that have ended

    async def trial(self, spec: TrialSpec, row: PlanRow) -> Trial | None:
        """Return the first attempt without an infrastructure error, or the last one; None if halted before.

        There are three attempts, and more while the run waits for a provider that does not answer. What the tool can
        bring about is a fault of the trial: a tool must not get another chance when it fails.
        """
        attempts, faults = 0, dict[str, str]()
        while True:
            weight = ALONE if row.scenario.serial else row.agent.weight
            async with self.context.slots.slot(weight) as supervisor:
                if self.halted and not attempts:
                    return None
                if (refused := self.refusal(spec)) is not None:
                    return refused
                trial = self.pace.charged(await self._attempt(spec, row, supervisor))
                self.pace.saw(trial)
                self.pace.ended(spec)
            if trial.not_measured == "resources":  # perhaps it needs more than there is in memory
                self._outgrown.add((spec.side, row.key))
            if trial.not_measured not in _TRANSIENT:
                if faults:
                    trial = trial.model_copy(update={"faults": {**trial.faults, **faults}})
                    self.context.checkouts[spec.side].store.keep_trial(trial)
                return trial
            if is_inside(trial.not_measured):
                faults[f"an attempt without an outcome ({trial.not_measured})"] = ""
            waited = trial.not_measured == "outage" and await self.outage_waits.wait()
            attempts += 1
            if attempts > RETRIES and not waited:
                return trial

    def expect(self, specs: Sequence[TrialSpec]) -> None:
        """Prepare for these trials, which are requested in this order."""
        self.halted = False
        self.pace.expect(specs)

    def refusal(self, spec: TrialSpec) -> Trial | None:
        """Return why no attempt at the trial may start, as its record; else count the attempt and return None."""
        if (refused := self.refused.get(spec.agent)) is not None:
            return Trial(spec=spec, not_measured="auth", reason=refused)
        if (used_up := self._used_up()) is not None:
            return Trial(spec=spec, not_measured="budget", reason=used_up)
        return None

    def elsewhere(
        self, checkouts: Mapping[Side, Checkout], *, seconds: float = math.inf, same_files: bool = True
    ) -> Attempts:
        """Return the same with other checkouts, without progress: for trials that no budget of trials counts.

        They end after so many seconds. `same_files`: they have the same guidance files, so workspaces are shared.
        """
        suite = self.context.suite
        unlimited = suite.model_copy(update={"budget": suite.budget.model_copy(update={"trials": None})})
        context = replace(self.context, suite=unlimited, checkouts=dict(checkouts), progress=Progress())
        context = replace(context, deadline=min(context.deadline, time.monotonic() + seconds))
        prepared = self._prepared if same_files else {}
        waits, proxy = self.outage_waits, self.model_proxy
        shared = Attempts(context, self.spending, waits, model_proxy=proxy, memory=self.memory, _ended=self._ended)
        return replace(shared, _prepared=prepared)

    async def script(self, request: RunJudge, trial: Trial, row: PlanRow) -> Answer | None:
        """Run a script that needs the judge's answer after the trial has ended; return None if it cannot be run."""
        async with self.context.slots.slot() as supervisor:
            try:
                async with self._attempt_of(trial.spec, row, supervisor) as attempt:
                    place = attempt.place
                    supervisor.confinement.reach(place.network.gates)
                    supervisor.confinement.use(attempt.file_rules("gates"))
                    environments = Environments.of(attempt, free_port())
                    context = ScriptContext(place.definitions, place.limits, supervisor)
                    stored = RestoredWorkspace(trial, attempt.folders, environments.scripts, context)

                    def start() -> Prepared:
                        environments.wrap_target(attempt)
                        return place.prepared

                    return await stored.script(request, start)
            except (SupervisorLost, OSError):
                return None

    def _used_up(self) -> str | None:
        """Return why no further trial may start, or None. In that case the trial is counted as begun."""
        budget = self.context.suite.budget
        if time.monotonic() >= self.context.deadline:
            return f"the run's {budget.minutes:g} minutes were used up"
        if budget.trials is not None and self.begun >= budget.trials:
            return f"the run's {budget.trials} trials were used up"
        if (spent := self.spending.used_up()) is not None:
            return spent
        self.begun += 1
        return None

    async def _attempt(self, spec: TrialSpec, row: PlanRow, supervisor: Supervisor) -> Trial:
        self.context.checkouts[spec.side].store.clear_trial(spec)
        try:
            async with self._attempt_of(spec, row, supervisor, is_new=True) as attempt:
                attempt = replace(attempt, most_secs=await self.pace.limits(spec))
                self.context.progress.started(spec)
                with _with_lease(attempt, self.model_proxy, self.context.accesses) as lent:
                    began = time.monotonic()
                    trial = await run_trial(lent)
                    around = max(0.0, time.monotonic() - began - (trial.duration_s or 0.0))
                    trial = trial.model_copy(update={"around_s": round(around, 3)})
                    machine = self.context.around
                    return without_secrets(trial, machine.redaction, row.scenario, machine.given(row.scenario.target))
        except OSError as error:
            return Trial(spec=spec, not_measured="resources", reason=f"the trial could not be run: {error}")

    @asynccontextmanager
    async def _attempt_of(
        self, spec: TrialSpec, row: PlanRow, supervisor: Supervisor, *, is_new: bool = False
    ) -> AsyncIterator[Attempt]:
        """Yield the attempt; its folders have names that do not tell the side, and its record is kept afterwards."""
        context = self.context
        kept = context.checkouts[spec.side].store.trial_folder(spec).absolute()
        place = await self._directories(spec, row)
        memory = self._memory_for(spec.side, row, place.prepared) if is_new else None
        folders = Folders(record=self._new_folder(), scratch=self._new_folder(memory))
        attempt = Attempt(
            spec=spec,
            row=row,
            place=place,
            folders=folders,
            supervisor=supervisor,
            deadline=context.deadline,
            on_step=lambda text: context.progress.step(spec, text),
            on_offer=self.on_offer,
            meter=self.spending.meter(context.suite.price_of_budget(row.agent.model), row.scenario.max_usd),
        )
        try:
            folders.record.mkdir(mode=0o700)  # other users cannot read it
            if kept.exists():  # the record of a trial that goes on
                await asyncio.to_thread(shutil.copytree, kept, folders.record, symlinks=True, dirs_exist_ok=True)
            yield attempt
        finally:
            await self._put_away(folders, kept)
            if supervisor.account is not None and not remove_left_in_memory(supervisor.account.uid):
                await supervisor.close()  # the slot's next trial has another user

    async def _put_away(self, folders: Folders, kept: Path) -> None:
        """Move a trial's record, without secrets, to its place in the run, and delete its other folders later.

        While a trial runs, the paths of its outputs must not tell its side.
        """
        with suppress(OSError):  # it may not have been made
            folders.scratch.chmod(0o700)  # no other trial of the same user can enter it
            self._ended.append(folders.scratch)
            if len(self._ended) >= MOST_ENDED or min(map(room_of, (folders.scratch, folders.record))) < LITTLE_ROOM:
                ended = self._ended.copy()
                self._ended.clear()
                await asyncio.to_thread(remove_trees, *ended)
        if redaction := self.context.around.redaction:
            await asyncio.to_thread(redact_folder, folders.record, redaction)
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            folders.record.rename(kept)
        except OSError:  # on another disk, or there is a record already, or none was made
            if folders.record.exists():
                await asyncio.to_thread(shutil.copytree, folders.record, kept, symlinks=True, dirs_exist_ok=True)
                self._ended.append(folders.record)

    async def _directories(self, spec: TrialSpec, row: PlanRow) -> TrialDirectories:
        context = self.context
        checkout, server = context.checkouts[spec.side], row.scenario.target.mcp
        product = self._product(row, checkout)
        own, of_base = await self._workspace(row, checkout), await self._workspace_of_base(row, checkout)
        return TrialDirectories(
            prepared=of_base or own,
            of_agent=own,
            repo=checkout.folder,
            definitions=context.definitions_of(row),
            path=product.path,
            target_path=product.target_path,
            check_path=self._check_path(row, product.path),
            wraps_target=row.scenario.target.is_named,
            agent_path=context.agent_path,
            passed_env=context.around.passed,
            credentials=context.around.of_agent(row.agent),
            of_server=context.around.own(server.references if server else ()),
            limits=context.suite.limits,
            network=context.suite.network,
            readable=(*self._readable_of(checkout.folder), *product.missing),
            of_checks=self._readable_of(self._base.folder) if self._is_judged_by_base(row) else (),
            front=self.front,
            untested=product.untested,
            hidden=product.hidden,
        )

    def _product(self, row: PlanRow, checkout: Checkout) -> _Product:
        """Return what builds have left of the row's tool on this side, looked up once: trials only read it."""
        target = row.scenario.target
        key = checkout.side, row.presence, target.is_named, target.program
        if key not in self._products:
            self._products[key] = self._look_up(row, checkout)
        return self._products[key]

    def _look_up(self, row: PlanRow, checkout: Checkout) -> _Product:
        target = row.scenario.target
        base, own, name = self._built(self._base), self._built(checkout), target.program
        # What head puts in front of base's folders does not come before them.
        side = own._replace(path=[*(place for place in base.path if own.root / place in own.folders), *own.path])
        # If base's `path` has the target, a program of the system is another one.
        is_ours = bool(name) and base.program(name) is not None
        found = find_target(name, base, own) if is_ours else None
        if found is not None and side.program(name) != found:
            side = side._replace(path=[found.parent, *side.path])
        system = self.context.around.path
        missing = write_missing(self._new_folder(), base, Built(Path("/"), system.split(":")))
        path = side_path(checkout.folder, map(str, (*side.folders, *missing)), system)
        target_path = (str(found.parent) if found else "") if is_ours and target.is_named else path
        return _Product(path, target_path, untested(name, side, own), self._hidden(row, side), missing)

    def _readable_of(self, folder: Path) -> tuple[Path, ...]:
        """Return what trials may read of a checkout, looked up once for what is protected in it."""
        protected = protected_in(folder)
        if (folder, protected) not in self._readable:
            self._readable[folder, protected] = parts_of_checkout(folder)
        return self._readable[folder, protected]

    def _new_folder(self, around: Path | None = None) -> Path:
        """Return the path of a new folder for a trial: a random name, so that no trial can tell its side by it."""
        return Path(f"{around or self.context.scratch}/{secrets.token_hex(8)}")

    def _memory_for(self, side: Side, row: PlanRow, prepared: Prepared) -> Path | None:
        """Return a folder in memory for a trial that begins small, None if it belongs on the disk.

        Agents that ask a model may install what they need, and spend their time elsewhere. So do servers.
        """
        is_small = prepared.files is not None and not (row.agent.api or row.scenario.target.mcp)
        is_small = is_small and (side, row.key) not in self._outgrown
        return self.memory if self.memory and is_small and room_of(self.memory) > LEAST_MEMORY else None

    @property
    def _base(self) -> Checkout:
        return next(iter(self.context.checkouts.values()))

    def _built(self, checkout: Checkout) -> Built:
        return Built(checkout.folder, checkout.path_of(self.context.suite))

    def _is_judged_by_base(self, row: PlanRow) -> bool:
        return row.presence != "added" and len(self.context.checkouts) > 1

    def _check_path(self, row: PlanRow, path: str) -> str:
        """Return the PATH of what judges a trial: base's `path` and the system's."""
        if not self._is_judged_by_base(row):
            return path
        context = self.context
        return side_path(self._base.folder, self._base.path_of(context.suite), context.around.path)

    def _hidden(self, row: PlanRow, side: Built) -> Mapping[str, str]:
        """Return the system's programs that only head's `path` hides, by name; of base none."""
        base = side if row.presence == "added" else self._built(self._base)
        target = row.scenario.target.binary.rpartition("/")[2]
        names = [name for name in {*side.names} - {target} if base.program(name) is None]
        found = {name: shutil.which(name, path=self.context.agent_path) for name in names}
        return {name: program for name, program in found.items() if program}

    async def _workspace_of_base(self, row: PlanRow, checkout: Checkout) -> Prepared | None:
        """Return base's workspace for a trial of head; None if base lacks the scenario, or it cannot be made."""
        base = self.context.checkouts.get("base")
        if base is None or checkout.side == "base" or row.presence != "both":
            return None
        try:
            return await self._workspace(row, base)
        except (OSError, CannotRunError):
            return None

    async def _workspace(self, row: PlanRow, checkout: Checkout) -> Prepared:
        """Return the scenario's workspace for this side. Trials that start alike share one preparation."""
        key = (checkout.side, row.presence, row.scenario.template, row.own_template, row.scenario.guidance)
        if key not in self._prepared:
            self._prepared[key] = asyncio.ensure_future(self._prepare(row, checkout))
        return await self._prepared[key]

    async def _prepare(self, row: PlanRow, checkout: Checkout) -> Prepared:
        context, of_base = self.context, await self._workspace_of_base(row, checkout)
        return await asyncio.to_thread(
            prepare,
            row.scenario,
            context.definitions_of(row),
            checkout.folder,
            context.suite.guidance,
            self._new_folder(),
            of_base=of_base,
            moved=row.own_template if checkout.side == "head" else None,
            seconds=min(MOST_SECS, context.deadline - time.monotonic()),
        )


@contextmanager
def _with_lease(attempt: Attempt, model_proxy: ModelProxy | None, accesses: Accesses) -> Iterator[Attempt]:
    """Yield the attempt with a token and the proxy's address in place of the agent's own variables.

    Without a proxy, or for an agent that does not use it, the attempt is unchanged.
    """
    agent = attempt.row.agent
    api = agent.api
    if model_proxy is None or api is None:
        yield attempt
        return
    provider = agent.chosen_provider
    if provider is None:
        known = {**attempt.place.credentials, **agent.env}
        access: Access = KeyAccess(known[api.key])
        upstream = known.get(api.endpoint) or api.address
    else:
        access, upstream, api = accesses.of(provider, api), provider.address(api), provider.narrowed(api)
    with model_proxy.lent(api, access, upstream, _limits(attempt)) as lease:
        rest = {name: value for name, value in agent.env.items() if name not in agent.variables}
        row = attempt.row.model_copy(update={"agent": agent.model_copy(update={"env": rest})})
        lent = {api.key: lease.token, api.endpoint: lease.address}
        place = replace(attempt.place, credentials=lent)
        yield replace(attempt, row=row, place=place, has_proxy=True, relayed=lease.traffic.told)


def _limits(attempt: Attempt) -> TrafficLimits:
    """Return what the proxy enforces: the budget for every agent, and turns for agents that do not limit them."""
    agent, meter = attempt.row.agent, attempt.meter

    def spent(told: End) -> str | None:
        if meter is None:
            return None
        meter.tell(told)
        over = meter.over()
        return over[0] if over is not None else None

    turns = None if agent.limits_turns else attempt.scenario.max_turns or agent.max_turns
    leaves_room = (lambda _: True) if meter is None else meter.leaves_room
    return TrafficLimits(turns, spent, leaves_room, agent.may_ask, may_fetch=attempt.place.network.agent is True)
