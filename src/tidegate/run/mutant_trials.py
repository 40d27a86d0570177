"""Run the trials of mutants, and decide by the procedure of pull requests what they show."""

from __future__ import annotations
import __future__

import asyncio
import itertools
import marshal
import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from tidegate.checks.measure import measure_trial
from tidegate.decide.comparison.compare import compare
from tidegate.decide.procedure.steps import next_step, observe, start
from tidegate.decide.verdict import Decision, decide
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import RunFolder
from tidegate.model.comparison import Comparison
from tidegate.model.gate import Gate
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.plan import Plan, PlanRow, RowKey, key_of
from tidegate.model.proof import Mutant
from tidegate.model.surface import ObservedCall
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.build import Checkout
from tidegate.run.run_job import RunJob, run_of
from tidegate.run.runner import Runner
from tidegate.suite.plan import run_rows
from tidegate.trial import mutant_wrapper, recorder
from tidegate.trial import mutation as change
from tidegate.trial.environment import PLACEHOLDER, side_path
from tidegate.trial.mcp import answer_status, mutant_proxy

MOST_RECORDED_CALLS = 5_000

LEAST_SECS, TIMES = 5.0, 10  # a mutant's trial may take as long; so that one that hangs is cheap


class ObservedTrial(NamedTuple):
    """One trial: its record, its result, the calls of the tool in all of its steps, and what it left behind."""

    trial: Trial
    result: TrialResult
    calls: tuple[ObservedCall, ...]
    diff: str
    offered: dict[str, Any] | None = None  # by its MCP server, before the agent began; None if it did not answer


class MutantResult(NamedTuple):
    """What a mutant, or a pull request that changes nothing, shows."""

    verdict: Decision
    comparison: Comparison
    head: tuple[ObservedTrial, ...]


@dataclass
class MutantRunner:
    """Runs trials on unchanged base, and on a head that differs from it by one mutant."""

    work: RunJob
    runner: Runner
    scratch: Path
    search_path: str
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    ran: int = 0
    _base: dict[tuple[RowKey, int], asyncio.Task[ObservedTrial]] = field(default_factory=dict)
    _secs: dict[RowKey, float] = field(default_factory=dict)

    async def base(self, row: PlanRow, index: int) -> ObservedTrial:
        """Return base's trial of that number. All mutants share it."""
        key = (row.key, index)
        if key not in self._base:
            self._base[key] = asyncio.ensure_future(self._of_base(row, index))
        return await asyncio.shield(self._base[key])

    async def _of_base(self, row: PlanRow, index: int) -> ObservedTrial:
        ran = await self.run(TrialSpec(side="base", scenario=row.key.scenario, agent=row.key.agent, index=index), row)
        self._secs[row.key] = max(self._secs.get(row.key, 0.0), ran.result.metrics.duration_s or 0.0)
        return ran

    async def shown(
        self, rows: Sequence[PlanRow], mutant: Mutant | None, changed: Path | None = None, *, fresh: bool = False
    ) -> MutantResult:
        """Return what the procedure of pull requests finds, if head has the mutant. `changed`: head's checkout.

        `fresh`: base is run again, too.
        """
        plan, suite = Plan(rows=tuple(rows)), self.work.suite
        policy = suite.policy.model_copy(update={"fail_fast": True, "mode": "blocking"})
        by_key = {row.key: row for row in rows}
        state, ran = start(run_rows(plan, suite), policy), list[ObservedTrial]()
        results: list[TrialResult] = []
        front = None if mutant is None else self.front(rows[0], mutant)

        async def one(spec: TrialSpec) -> ObservedTrial:
            row = by_key[key_of(spec)]
            if spec.side == "base" and not fresh:
                return await self.base(row, spec.index)
            quick = row if mutant is None else self.quick(row)
            return await self.run(spec, quick, front=front, changed=changed, bare=mutant is None)

        while step := next_step(state):
            batch = await asyncio.gather(*map(one, step))
            phases = zip(batch, step, strict=True)
            new = [got.result.model_copy(update={"phase": spec.phase}) for got, spec in phases]
            ran += [got for got, spec in zip(batch, step, strict=True) if spec.side == "head"]
            results += new
            state = observe(state, new)
        base, head = (self._run(side, plan, results).model_copy(update={"policy": policy}) for side in ("base", "head"))
        comparison = compare(base, head)
        return MutantResult(decide(comparison, policy), comparison, tuple(ran))

    def front(self, row: PlanRow, mutant: Mutant | None) -> Front:
        """Write the scripts in front of the row's tool."""
        folder, target = self.scratch / f"front-{next(self.numbers)}", row.scenario.target
        if target.mcp is not None and target.mcp.url:
            raise ConfigurationError(
                f"the MCP server {target.mcp.name} is at a URL: this needs one on stdio.", "Leave its scenarios out."
            )
        if target.mcp is not None:
            return in_front_of_server(folder, target.mcp.command, mutant)
        if not target.binary:
            return Front((), "", _folders(folder)[0])
        own = mutant if mutant is None or not mutant.file else None
        return in_front_of_program(folder, target.binary, self.search_path, own)

    async def run(
        self,
        spec: TrialSpec,
        row: PlanRow,
        *,
        front: Front | None = None,
        changed: Path | None = None,
        bare: bool = False,
    ) -> ObservedTrial:
        """Run one trial behind the front, in the changed checkout if there is one. `bare`: nothing is in front."""
        front = None if bare else front or self.front(row, None)
        (here,) = self.work.sides
        suite, store = self.work.suite, RunFolder(self.scratch / f"run-{next(self.numbers)}")
        own = (*(front.path if front else ()), *(str(here.folder / folder) for folder in here.path_of(suite)))
        checkout = Checkout(
            spec.side, here.revision, changed or here.folder, store, own=suite.model_copy(update={"path": own})
        )
        attempts = self.runner.attempts.elsewhere({spec.side: checkout}, same_files=changed is None)
        attempts.front, heard = front.spool.parent if front else None, list[dict[str, Any]]()
        attempts.on_offer = heard.append
        if front is not None and front.command:
            row = _served_by(row, front.command)
        trial = await attempts.trial(spec, row)
        assert trial is not None
        self.ran += 1
        price = suite.price_of_budget(row.agent.model)
        result = await asyncio.to_thread(measure_trial, trial, row.scenario, price, judge_blocks=False)
        calls = front.calls(f"{trial.places.trial}/home") if front else ()
        diff = store.trial_folder(spec) / "workspace.diff"
        text = diff.read_text(errors="replace") if diff.is_file() else ""
        return ObservedTrial(trial, result, calls, text, heard[-1] if heard else None)

    def quick(self, row: PlanRow) -> PlanRow:
        """Return the row with time limits near what base needs."""
        limit = max(LEAST_SECS, TIMES * self._secs.get(row.key, 0.0))
        scenario = row.scenario
        gates = tuple(_limited(gate, limit) for gate in scenario.gates)
        timeout = min(limit, scenario.timeout_secs or limit)
        return row.model_copy(
            update={"scenario": scenario.model_copy(update={"gates": gates, "timeout_secs": timeout})}
        )

    def _run(self, side: Side, plan: Plan, results: Sequence[TrialResult]) -> Run:
        now = time.time()
        (here,) = self.work.sides
        work = replace(self.work, plan=plan)
        run = run_of(work, replace(here, side=side), (), now, now)
        return run.model_copy(update={"trials": tuple(one for one in results if one.side == side)})


def _limited(gate: Gate, limit: float) -> Gate:
    own = getattr(gate, "timeout_secs", None)
    return gate if own is None else gate.model_copy(update={"timeout_secs": min(own, limit)})


def _served_by(row: PlanRow, command: str) -> PlanRow:
    target, server = row.scenario.target, row.scenario.target.mcp
    assert server is not None
    target = target.model_copy(update={"mcp": server.model_copy(update={"command": command})})
    return row.model_copy(update={"scenario": row.scenario.model_copy(update={"target": target})})


def search_path_of(work: RunJob, path: str) -> str:
    """Return where the wrapper finds the real tool."""
    (here,) = work.sides
    return side_path(here.folder, here.path_of(work.suite), path)


class Front(NamedTuple):
    """The folder to put first on PATH, or the command that starts the MCP server; and where calls are recorded."""

    path: tuple[str, ...]
    command: str
    spool: Path

    def calls(self, home: str = "") -> tuple[ObservedCall, ...]:
        """Return what was recorded, in order; of one trial, if its HOME is given."""
        found = []
        for file in sorted(self.spool.glob("*.json"))[:MOST_RECORDED_CALLS]:
            try:
                call = ObservedCall.model_validate_json(file.read_bytes())
            except (OSError, ValidationError):
                continue  # the trial's user may write anything there
            if not home or call.home == home:
                found.append(call)
        return tuple(found)


def in_front_of_program(folder: Path, binary: str, search_path: str, mutant: Mutant | None) -> Front:
    """Write the wrapper of a program into the folder. `search_path`: where it finds the real one."""
    spool, path = _folders(folder)
    data = mutant.model_dump(mode="json") if mutant else {}
    call = f"\nmain({binary!r}, {search_path!r}, {str(spool)!r}, {data!r})\n"
    files = (change.__file__, mutant_wrapper.__file__)
    recorder.write_script(path / binary, _compiled(*files) + call.encode())
    return Front((str(path),), "", spool)


def in_front_of_server(folder: Path, command: str, mutant: Mutant | None) -> Front:
    """Write the proxy of an MCP server into the folder."""
    spool, path = _folders(folder)
    data = mutant.model_dump(mode="json") if mutant else {}
    call = f"\nos._exit(main({command!r}, {str(spool)!r}, {data!r}))\n"
    script = path / "server"
    recorder.write_script(script, _compiled(answer_status.__file__, mutant_proxy.__file__) + call.encode())
    return Front((), f"{shlex.quote(str(script))} {PLACEHOLDER}", spool)


def _folders(folder: Path) -> tuple[Path, Path]:
    spool, path = folder / "calls", folder / "bin"
    spool.mkdir(parents=True)
    path.mkdir()
    for place in (folder, path):
        place.chmod(0o755)
    spool.chmod(0o1777)  # every trial has a user of its own
    return spool, path


@cache
def _compiled(*files: str) -> bytes:
    """Return code that runs the files, compiled for the interpreter that will run it: this saves 12 ms per call.

    Imports of one another are left out.
    """
    source = "\n".join(Path(file).read_text(encoding="utf-8") for file in files)
    source = re.sub(r"(?m)^from tidegate\..*\n", "", source)
    code = compile(source, "mutant", "exec", __future__.annotations.compiler_flag, optimize=2)
    return b"import marshal\nexec(marshal.loads(%b))\n" % repr(marshal.dumps(code)).encode()
