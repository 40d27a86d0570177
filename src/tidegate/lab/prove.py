"""Prove a suite: map what it uses of the tool, and run its rows on mutants and on pull requests that change nothing."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tidegate.decide.surface.parts import commands, of_calls
from tidegate.decide.surface.used import MAPPED, Scenario, counts, users
from tidegate.errors import NothingToRunError
from tidegate.history.run_folder import AnswerStore
from tidegate.lab.mutants import changed_guidance, done_to, meets, of_guidance, of_program, of_server, server_meets
from tidegate.model.agent import FREE, LIST
from tidegate.model.event import ToolCall
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.progress import Progress
from tidegate.model.proof import Draft, Mutant, MutantResult, Proof, ToolProof, UsedPart
from tidegate.model.suite import Budget, Suite
from tidegate.model.surface import ObservedCall, Part
from tidegate.reports.prove_text import survived
from tidegate.reports.verdict_text import verdict_of
from tidegate.run.checkouts import one_side, scratch_folder
from tidegate.run.mutant_trials import MutantRunner, ObservedTrial, search_path_of
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.surface_survey import survey, tool_name
from tidegate.suite.load import load_suite
from tidegate.suite.plan import Selection, make_plan
from tidegate.text.noise import without_digits
from tidegate.trial.workspace import initial_state, matching_files

FIRST, EACH = 5, 10  # mutants after which the time is first estimated, and those between two lines

Drafter = Callable[[MutantRunner, ToolProof, Sequence[PlanRow]], Awaitable[tuple[Draft, ...]]]


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
        async with runner_of(work, options) as runner:
            if runner.build_errors:
                raise NothingToRunError("; ".join(runner.build_errors.values()), "Fix the build first.")
            work.scratch.joinpath("mutants").mkdir(mode=0o711)
            path = search_path_of(work, options.environ.get("PATH", os.defpath))
            trials = MutantRunner(work, runner, scratch / "mutants", path)
            proving = _Proving(trials, wanted, options.progress, rev)
            tools, more = await proving.tools(rows)
            used_up = runner.attempts.spending.used_up()
    mutants = [one for tool in tools for one in tool.mutants]
    return Proof(
        sha=base.revision.sha,
        at=at,
        dirty=base.revision.dirty,
        partial=partial(wanted, options.selection, used_up if any(one.state == "not_run" for one in mutants) else None),
        tools=tools,
        notes=(*notes, *more),
        trials=proving.trials.ran,
        seconds=round(time.monotonic() - began, 1),
    )


def partial(wanted: Wanted, chosen: Selection, used_up: str | None) -> str:
    """Return why not all mutants or not all scenarios were run; '' if they were. `used_up`: of the budget."""
    limits = {
        "a sample of the mutants": wanted.most_mutants is not None,
        "only some scenarios": chosen.scenarios or chosen.tags or chosen.tier is not None,
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

    trials: MutantRunner
    wanted: Wanted
    progress: Progress
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
            proof = await OneTool(self.trials, self.wanted, self.progress, tool, any_row, own).proof()
            if self.wanted.drafter is not None and own:
                self.progress.stage("drafting checks, and trying them")
                drafts = await self.wanted.drafter(self.trials, proof, [row for row, _ in own.values()])
                proof = proof.model_copy(update={"drafts": drafts})
                if not drafts and any(one.state == "alive" for one in proof.mutants):
                    notes.append(f"no drafts for {tool or 'the docs'}: no check that was tried catches what is alive")
            proofs.append(proof)
        return tuple(proofs), tuple(notes)

    async def _on_base(self, row: PlanRow) -> tuple[ObservedTrial, ...] | str:
        once = row.deterministic and not self.wanted.mutants  # a second trial shows what differs by itself
        ran = await asyncio.gather(*(self.trials.base(row, index) for index in (1, 2)[: 1 if once else 2]))
        missed = [one.result.reason for one in ran if one.result.decides != "pass"]
        if len(missed) == len(ran) or (row.deterministic and missed):
            return f"it does not pass {f'at {self.rev}' if self.rev else 'in the working tree'} ({missed[0]})"
        return tuple(ran)


@dataclass(frozen=True)
class Wanted:
    """What to prove. `kinds`: of mutants, for tests; none: all. `most_mutants`: the size of a sample; None: all."""

    mutants: bool = True
    kinds: tuple[str, ...] = ()
    most_mutants: int | None = None
    drafter: Drafter | None = None  # drafts checks for mutants that are alive
    max_usd: float | None = None


@dataclass
class OneTool:
    """The passing rows of one tool, each with its trials of base. `any_row`: a row of the tool, passing or not."""

    trials: MutantRunner
    wanted: Wanted
    progress: Progress
    tool: str
    any_row: PlanRow
    rows: dict[RowKey, tuple[PlanRow, tuple[ObservedTrial, ...]]]
    single: set[tuple[str, str, str]] = field(default_factory=set)  # options that take one value only

    async def proof(self) -> ToolProof:
        """Return what is found for the tool."""
        calls = tuple(call for _, ran in self.rows.values() for call in ran[0].calls)
        parts = await self._parts(calls)
        used = users(parts, {key.scenario: self._scenario(*pair) for key, pair in self.rows.items()})
        found = ToolProof(
            tool=self.tool,
            counts=counts(parts, used),
            scenarios=len({key.scenario for key in self.rows}),
            parts=tuple(UsedPart(part=part, scenarios=used[part.id]) for part in parts),
        )
        if not self.wanted.mutants or not self.rows:
            return found
        self.single = {part.id for part in parts if part.kind == "option" and len(part.choices) == 1}
        return found.model_copy(update={"mutants": await self._results(self._mutants(parts, calls))})

    async def _parts(self, calls: tuple[ObservedCall, ...]) -> tuple[Part, ...]:
        found = await survey(self.trials, self.any_row, progress=self.progress)
        listed = tuple(part for part in found.parts if part.kind in MAPPED)
        return listed if self.any_row.scenario.target.mcp is not None else (*listed, *of_calls(calls, listed))

    def _scenario(self, row: PlanRow, ran: tuple[ObservedTrial, ...]) -> Scenario:
        checks = [gate.model_dump_json() for gate in row.scenario.gates]
        checks += [evaluator.model_dump_json() for evaluator in row.scenario.evaluators]
        commands = [event.line for event in ran[0].trial.events if isinstance(event, ToolCall)]
        return Scenario(ran[0].calls, "\n".join([row.scenario.prompt, *checks, *commands]))

    def _mutants(self, parts: tuple[Part, ...], calls: tuple[ObservedCall, ...]) -> list[Mutant]:
        target = self.any_row.scenario.target
        read = any(row.agent.type not in FREE for row, _ in self.rows.values())
        found: list[Mutant] = []
        if target.mcp is not None:
            found += of_server(parts, calls, read=read)
        elif target.binary:
            found += of_program(parts, calls, target.binary)
        found += of_guidance(self._guidance.texts, target.binary, commands(parts), read=read)
        kinds = self.wanted.kinds
        return [one for one in found if not kinds or one.kind in kinds]

    @property
    def _guidance(self) -> Guidance:
        (here,) = self.trials.work.sides
        rows = [row for row, _ in self.rows.values()]
        return Guidance.of(here.folder, self.trials.work.suite, rows)

    async def _results(self, mutants: Sequence[Mutant]) -> tuple[MutantResult, ...]:
        """Return the result of each mutant; as many are run at once as there are slots."""
        guidance = self._guidance
        met = {number: self._met(mutant, guidance) for number, mutant in enumerate(mutants)}
        sample = random.Random(0).sample(range(len(mutants)), len(mutants))
        sampled = set(sample[: self.wanted.most_mutants])  # also of those that no call meets: they count as alive
        chosen = [number for number in met if met[number] and number in sampled]
        self.progress.stage(f"{len(chosen)} mutants of {self.tool or 'the docs'}")
        found: dict[int, MutantResult] = {}
        pace = MutantPace(len(chosen), self.progress)
        slots = asyncio.Semaphore(2 * (os.cpu_count() or 1))

        async def alike(numbers: list[int]) -> None:
            """Run the first of these mutants, and those of the others that do something else in its trials."""
            first: tuple[MutantResult, list[ObservedTrial]] | None = None
            for number in numbers:
                mutant = mutants[number]
                async with slots:
                    if first is None or not _does_the_same(mutant, *first):
                        first = await self._result(mutant, met[number], guidance)
                found[number] = _of_other(mutant, first[0])
                pace.saw(found[number])

        async with asyncio.TaskGroup() as group:
            for numbers in self._alike(mutants, chosen, met):
                group.create_task(alike(numbers))
        return tuple(found.get(n) or self._not_run(mutants[n], met[n], sampled=n in sampled) for n in met)

    def _alike(
        self, mutants: Sequence[Mutant], chosen: Sequence[int], met: Mapping[int, list[RowKey]]
    ) -> Iterable[list[int]]:
        """Return the numbers of the mutants, those together that do the same to all recorded calls.

        Agents that do not repeat themselves may do something else with each.
        """
        groups: dict[Hashable, list[int]] = {}
        server = self.any_row.scenario.target.mcp is not None
        for number in chosen:
            rows = [self.rows[key] for key in met[number]]
            repeats = not server and all(row.deterministic for row, _ in rows)
            done = done_to(mutants[number], (call for _, ran in rows for call in ran[0].calls)) if repeats else None
            groups.setdefault(number if done is None else (*met[number], done), []).append(number)
        return groups.values()

    def _not_run(self, mutant: Mutant, met: Sequence[RowKey], *, sampled: bool) -> MutantResult:
        if not sampled:
            return MutantResult(mutant=mutant, state="not_run", why="not in the sample", met_by=_names(met))
        return MutantResult(mutant=mutant, state="not_reached", why=survived(mutant, ()))

    def _met(self, mutant: Mutant, guidance: Guidance) -> list[RowKey]:
        """Return the rows whose recorded calls, or whose guidance, meet the mutant."""
        found = []
        for key, (row, (first, *_)) in self.rows.items():
            if mutant.file:
                hit = row.agent.type != "scripted" and mutant.file in guidance.files[key]
            elif row.scenario.target.mcp is not None:
                lists = any(isinstance(event, ToolCall) and event.tool == LIST for event in first.trial.events)
                hit = any(server_meets(mutant, call, lists=lists) for call in first.calls)
            else:
                hit = any(meets(mutant, call) for call in first.calls)
            found += [key] if hit else []
        return found

    async def _result(
        self, mutant: Mutant, met: Sequence[RowKey], guidance: Guidance
    ) -> tuple[MutantResult, list[ObservedTrial]]:
        """Run the rows that meet the mutant, the quickest first, until one catches it. Return its trials, too."""
        trials, ran = self.trials, list[ObservedTrial]()
        changed = guidance.changed(mutant, trials.scratch / f"docs-{next(trials.numbers)}") if mutant.file else None
        same, lost = mutant.kind != "hangs", ""
        for key in sorted(met, key=lambda key: self.rows[key][1][0].result.metrics.duration_s or 0.0):
            shown = await trials.shown([self.rows[key][0]], mutant, changed)
            ran += shown.head
            if shown.verdict.state == "not_run":
                lost = verdict_of(shown.comparison, shown.verdict).summary
            elif shown.verdict.would_block:
                return self._decided(mutant, met, caught_by=key.scenario), ran
            same = same and all(self._same(one) for one in shown.head)
        return self._decided(mutant, met, same=same, lost=lost), ran

    def _decided(
        self, mutant: Mutant, met: Sequence[RowKey], *, same: bool = False, lost: str = "", caught_by: str = ""
    ) -> MutantResult:
        """Return the result. `same`: base showed the same; `lost`: why nothing was measured."""
        result = MutantResult(mutant=mutant, state="alive", met_by=_names(met))
        if caught_by:
            return result.model_copy(update={"state": "caught", "caught_by": (caught_by,)})
        if lost:
            return result.model_copy(update={"state": "not_run", "why": lost})
        other_values = mutant.kind == "default_changed"
        other_values |= mutant.kind == "option_ignored" and ("option", mutant.command, mutant.name) not in self.single
        if same and mutant.file:
            return result.model_copy(update={"state": "not_run", "why": "only an agent with a model reads it"})
        if same and not other_values:
            return result.model_copy(update={"state": "no_change", "why": "all outputs and files stay the same"})
        return result.model_copy(update={"why": survived(mutant, _names(met), same=same)})

    def _same(self, head: ObservedTrial) -> bool:
        """Return True if the trial shows what base's trials showed.

        Where these differ, as in dates and ids, all three have to be equal without the words that have digits.
        """
        first, second = self.rows[head.result.key][1][:2]
        ours, theirs, again = map(_told, (head, first, second))
        return len(ours) == len(theirs) and all(
            one == other or (other != more and one.shape == other.shape == more.shape)
            for one, other, more in itertools.zip_longest(ours, theirs, again, fillvalue=ShownText("", ""))
        )


def _does_the_same(mutant: Mutant, first: MutantResult, ran: Sequence[ObservedTrial]) -> bool:
    """Return True if the mutant does to all calls of these trials of another one what that one did."""
    calls = [call for one in ran for call in one.calls]
    return first.state != "not_run" and done_to(mutant, calls) == done_to(first.mutant, calls) is not None


def _of_other(mutant: Mutant, result: MutantResult) -> MutantResult:
    """Return the result of another mutant, which does the same, as this one's."""
    if mutant == result.mutant:
        return result
    why = survived(mutant, result.met_by) if result.state == "alive" else result.why
    return result.model_copy(update={"mutant": mutant, "why": why})


class ShownText(NamedTuple):
    """Something that a trial showed, as a text or a hash, and the same without the words that have digits."""

    exact: str
    shape: str


def _told(ran: ObservedTrial) -> list[ShownText]:
    """Return what the calls of a trial showed and wrote, and what it left, without the names of its folders."""
    texts, found = [ran.diff], list[ShownText]()
    for call in ran.calls:
        texts += [repr((call.argv, call.exit_code)), call.stdout, call.stderr]
        found.append(ShownText(*call.wrote) if call.wrote else ShownText("", ""))
    hidden = map(ran.trial.places.hide, texts)
    return [*found, *(ShownText(text, without_digits(text)) for text in hidden)]


def _names(met: Sequence[RowKey]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key.scenario for key in met))


@dataclass
class MutantPace:
    """Shows how many of `total` mutants were run, and estimates the rest from those of this run."""

    total: int
    progress: Progress
    began: float = field(default_factory=time.monotonic)
    seen: int = 0
    caught: int = 0

    def saw(self, result: MutantResult) -> None:
        """Count a result."""
        self.seen += 1
        self.caught += result.state == "caught"
        if self.seen in (FIRST, self.total) or self.seen % EACH == 0:
            self.progress.say(f"{self.seen} of {self.total} mutants run, {self.caught} caught{self._left()}")

    def _left(self) -> str:
        left = self.total - self.seen
        if self.seen < FIRST or not left:
            return ""
        seconds = left * (time.monotonic() - self.began) / self.seen
        return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"


class Guidance(NamedTuple):
    """The guidance files, relative to the checkout: those of each row, and the texts of all."""

    files: dict[RowKey, tuple[str, ...]]
    texts: dict[str, str]

    @classmethod
    def of(cls, checkout: Path, suite: Suite, rows: Sequence[PlanRow]) -> Guidance:
        """Return the guidance of these rows. A file of a template replaces the repository's of the same name."""
        files: dict[RowKey, tuple[str, ...]] = {}
        for row in rows:
            globs, template = row.scenario.guidance_or(suite.guidance), row.scenario.template
            found = {name: name for name in matching_files(checkout, globs)}
            if template is not None:
                folder = initial_state(checkout, template)
                inside = folder.relative_to(checkout).as_posix()
                found |= {name: f"{inside}/{name}" for name in matching_files(folder, globs)}
            files[row.key] = tuple(found.values())
        names = dict.fromkeys(name for own in files.values() for name in own)
        return cls(files, {name: (checkout / name).read_text(errors="replace") for name in names})

    def changed(self, mutant: Mutant, folder: Path) -> Path:
        """Write all guidance files into the folder, one of them changed, and return the folder."""
        for name, text in self.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(changed_guidance(mutant, text) if name == mutant.file else text)
        return folder
