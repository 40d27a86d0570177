"""Prove a suite: map what it uses of the tool, and run its rows on mutants and on pull requests that change nothing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tidegate import __version__
from tidegate.errors import NothingToRunError
from tidegate.model.agent import FREE
from tidegate.model.plan import Plan, PlanRow
from tidegate.model.progress import Progress
from tidegate.model.proof import AlikeSides, Proof, ToolProof
from tidegate.model.suite import Budget, Suite
from tidegate.plan import Selection, make_plan
from tidegate.run.checkouts import one_side, scratch_folder
from tidegate.run.mutant_trials import MutantTrials, Ran, search_path_of
from tidegate.run.prove_tool import OneTool, Wanted
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.surface_changes import base_parts, changed_parts, tool_name
from tidegate.store.judge_answers import AnswerStore
from tidegate.store.proofs import Journal, journal
from tidegate.suite.load import load_suite


async def prove(repo: Path, rev: str | None, out: Path, options: Options, wanted: Wanted) -> Proof:
    """Return what is found about the suite at `rev`, or in the working tree if that is None."""
    at, began = time.time(), time.monotonic()
    with scratch_folder() as scratch, one_side(repo, rev, scratch, out) as side:
        base = replace(side, side="base")
        suite = load_suite(base.folder, options.config, environ=options.environ)
        suite = suite.model_copy(update={"budget": Budget(minutes=None, usd=wanted.max_usd)})
        rows, notes = _rows(suite, options)
        if not rows:
            raise NothingToRunError("no row can be run without a key.", "Name an agent with `--agent` and `--max-usd`.")
        work = RunJob(suite, Plan(rows=rows), (base,), scratch, AnswerStore(None))
        so_far = journal(repo, base.revision, rows, __version__)
        async with runner_of(work, options) as runner:
            if runner.build_errors:
                raise NothingToRunError("; ".join(runner.build_errors.values()), "Fix the build first.")
            work.scratch.joinpath("mutants").mkdir(mode=0o711)
            path = search_path_of(work, options.environ.get("PATH", os.defpath))
            trials = MutantTrials(work, runner, scratch / "mutants", path)
            proving = _Proving(trials, wanted, options.progress, so_far, rev)
            tools, more = await proving.tools(rows)
            alike = await proving.alike(rows) if wanted.alike else None
            used_up = runner.attempts.spending.used_up()
        if wanted.base is not None:
            firsts = {tool_name(row): row for row in reversed(rows)}
            before = await base_parts(repo, wanted.base, work, [firsts[tool.tool] for tool in tools], options)
            told = [changed_parts(tool, before[tool.tool], base.folder) for tool in tools]
            tools = tuple(t.model_copy(update={"changes": c}) for t, c in zip(tools, told, strict=True))
    so_far.finish()
    mutants = [one for tool in tools for one in tool.mutants]
    return Proof(
        sha=base.revision.sha,
        at=at,
        dirty=base.revision.dirty,
        partial=partial(wanted, options.selection, used_up if any(one.state == "not_run" for one in mutants) else None),
        tools=tools,
        alike=alike,
        notes=(*notes, *so_far.notes, *more),
        trials=proving.trials.ran,
        seconds=round(time.monotonic() - began, 1),
    )


def partial(wanted: Wanted, chosen: Selection, used_up: str | None) -> str:
    """Return why not all mutants or not all scenarios were run; '' if they were. `used_up`: of the budget."""
    limits = {
        "a sample of the mutants": wanted.most_mutants is not None,
        "only some scenarios": chosen.scenarios or chosen.tags or chosen.tier is not None or chosen.name or chosen.rows,
        "only some agents": chosen.agents,
        used_up: used_up,
    }
    return ", ".join(why for why, limited in limits.items() if why and limited)


def _rows(suite: Suite, options: Options) -> tuple[tuple[PlanRow, ...], tuple[str, ...]]:
    """Return the rows to run, without judges, and what is left out: agents that cost are run only if they are named."""
    rows, notes = [], dict[str, None]()
    for row in make_plan(suite, options.selection).rows:
        free = row.agent.type in FREE or not (row.agent.variables or row.agent.api)
        if not free and row.agent.type != "command" and not options.selection.agents:
            notes[f"the agent {row.key.agent} was not run, since it costs: name it with `--agent` and `--max-usd`"] = (
                None
            )
        elif not free and not options.selection.agents:
            notes[f"the agent {row.key.agent} was not run, since it needs a key"] = None
        elif row.scenario.target.tty:
            notes[f"{row.key.scenario} was left out: mutants of a tool on a terminal (`tty`) are not supported"] = None
        elif "/" in row.scenario.target.binary:
            notes[f"{row.key.scenario} was left out: its tool is called by a path, where no wrapper can stand"] = None
        else:
            rows.append(row.model_copy(update={"scenario": _unjudged(row)}))
    return tuple(rows), tuple(notes)


def _unjudged(row: PlanRow) -> object:
    evaluators = tuple(one for one in row.scenario.evaluators if not one.judged)
    return row.scenario.model_copy(update={"judge": None, "evaluators": evaluators})


@dataclass
class _Proving:
    """One run of `prove`."""

    trials: MutantTrials
    wanted: Wanted
    progress: Progress
    journal: Journal
    rev: str | None

    async def tools(self, rows: Sequence[PlanRow]) -> tuple[tuple[ToolProof, ...], tuple[str, ...]]:
        """Return what is found for each tool, and the rows that were left out."""
        self.progress.stage("running the scenarios without a mutant")
        seen = [*zip(rows, await asyncio.gather(*map(self._on_base, rows)), strict=True)]
        notes = [f"{row.key} was left out: {why}" for row, why in seen if isinstance(why, str)]
        usable = [(row, ran) for row, ran in seen if not isinstance(ran, str)]
        proofs = []
        for tool in dict.fromkeys(map(tool_name, rows)):
            any_row = next(row for row in rows if tool_name(row) == tool)
            own = {row.key: (row, ran) for row, ran in usable if tool_name(row) == tool}
            proof = await OneTool(self.trials, self.wanted, self.progress, self.journal, tool, any_row, own).proof()
            if self.wanted.drafter is not None and own:
                self.progress.stage("drafting checks, and trying them")
                drafts = await self.wanted.drafter(self.trials, proof, [row for row, _ in own.values()])
                proof = proof.model_copy(update={"drafts": drafts})
                if not drafts and any(one.state == "alive" for one in proof.mutants):
                    notes.append(f"no drafts for {tool or 'the docs'}: no check that was tried catches what is alive")
            proofs.append(proof)
        return tuple(proofs), tuple(notes)

    async def _on_base(self, row: PlanRow) -> tuple[Ran, ...] | str:
        once = row.deterministic and not self.wanted.mutants  # a second trial shows what differs by itself
        ran = await asyncio.gather(*(self.trials.base(row, index) for index in (1, 2)[: 1 if once else 2]))
        missed = [one.result.reason for one in ran if one.result.decides != "pass"]
        if len(missed) == len(ran) or (row.deterministic and missed):
            return f"it does not pass {f'at {self.rev}' if self.rev else 'in the working tree'} ({missed[0]})"
        return tuple(ran)

    async def alike(self, rows: Sequence[PlanRow]) -> AlikeSides:
        """Run pull requests that change nothing."""
        self.progress.stage("pull requests that change nothing")
        before, found = self.trials.ran, AlikeSides(runs=self.wanted.alike)
        for number in range(self.wanted.alike):
            shown = await self.trials.shown(rows, None, fresh=True)
            blocked = found.blocked + (shown.verdict.would_block and shown.verdict.state != "not_run")
            unconfirmed = any(row.state == "unconfirmed" for row in shown.comparison.rows)
            found = found.model_copy(update={"blocked": blocked, "unconfirmed": found.unconfirmed + unconfirmed})
            self.progress.say(f"{number + 1} of {found.runs} pull requests that change nothing: {blocked} blocked")
        return found.model_copy(update={"trials": self.trials.ran - before})
