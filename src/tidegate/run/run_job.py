"""Describes what to run and with which options, and creates the stored run from its results."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tidegate import __version__
from tidegate.decide.procedure.rules import screening_trials
from tidegate.decide.trust import trust
from tidegate.history.branch import Origin
from tidegate.history.fingerprint import (
    TemplateFiles,
    agent_mark,
    fingerprint,
    judge_mark,
    program_hash,
    scripts_hash,
    template_files,
    test_key,
)
from tidegate.history.run_folder import AnswerStore
from tidegate.model.bundle import NOTHING
from tidegate.model.judge_result import JudgeInfo
from tidegate.model.measurement import AgentInfo, Run, TrialResult
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.progress import Progress
from tidegate.model.revision import Links
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Suite
from tidegate.model.surface import Interface
from tidegate.model.trial_spec import TrialSpec
from tidegate.run.build import Checkout
from tidegate.run.join import Joined
from tidegate.suite.plan import Selection, refuse_self_judging, run_rows, suite_hash, with_seed
from tidegate.vcs.revisions import tree_hash

if TYPE_CHECKING:
    from tidegate.run.runner import Runner


_InitialState = tuple[str, str | None, tuple[str, ...] | None]  # whose template, and guidance of its own


@dataclass(frozen=True)
class Options:
    """What the user chose on the command line, and what the run receives from the machine."""

    environ: Mapping[str, str]
    progress: Progress
    config: str = "tidegate.yaml"
    instance: str = "default"
    selection: Selection = field(default_factory=Selection)
    jobs: int | None = None
    lenient_keys: bool = False  # on forks: a missing key or secret means not measured; else it is an error
    replay_only: bool = False  # no agent is run: what base's recorded sessions show decides
    gate: bool = True  # False: measure everything, ignore earlier runs, and block nothing
    origin: Origin | None = None  # on GitHub, for a history on a branch
    links: Links = field(default_factory=Links)
    shards: Path | None = None  # the plan and the bundles of shards to merge
    pause_s: float = 0.0  # seconds before a verification, and in all for a provider that does not answer
    began: float = field(default_factory=time.monotonic)  # checkouts count in the run's budget


@dataclass(frozen=True)
class RunJob:
    """A plan and the checkouts that it runs in.

    Scenarios and templates are read from `judge`, a clean checkout of base; without one, from the last checkout.
    """

    suite: Suite
    plan: Plan
    sides: tuple[Checkout, ...]
    scratch: Path
    answers: AnswerStore
    watched: tuple[str, ...] = ()  # globs of all files that can change an outcome
    judge: Path | None = None
    seed: int = field(default_factory=lambda: secrets.randbelow(1 << 32))  # of agents that choose by chance
    joined: Joined | None = None  # in the merge of shards: their trials
    _fingerprints: dict[tuple[tuple[str, str | None], ...], dict[RowKey, str]] = field(default_factory=dict, init=False)

    @property
    def definitions(self) -> Path:
        """The checkout that base's scenarios, templates and scripts are read from."""
        return self.judge or self.sides[-1].folder

    def definitions_of(self, row: PlanRow) -> Path:
        """Return the checkout that the row's template and scripts are read from: head's own, if head adds the row."""
        return self.sides[-1].folder if row.presence == "added" else self.definitions

    def read_commits(self) -> None:
        """Read what fingerprints need of the checkouts. Builds can change these and own them: git then refuses them."""
        _ = self._templates, self._scripts, self._programs

    def fingerprints(self, versions: Mapping[str, str | None]) -> dict[RowKey, str]:
        """Return each row's fingerprint. `versions`: of the agents' programs."""
        key = tuple(sorted(versions.items()))
        if key not in self._fingerprints:
            judge = judge_mark(self.suite, self.sides[0].folder)
            agents = {id(row.agent): row for row in self.plan.rows}  # most rows share one
            marks = {one: agent_mark(row, versions.get(row.key.agent)) for one, row in agents.items()}
            self._fingerprints[key] = {
                row.key: fingerprint(
                    row,
                    self._templates[_initial_state(row)],
                    marks[id(row.agent)],
                    judge,
                    (self._scripts[row.presence, row.scenario.name], self._programs[row.key.agent][0]),
                )
                for row in self.plan.rows
                if row.presence != "removed" and row.scenario.cache
            }
        return self._fingerprints[key]

    @cached_property
    def rows(self) -> tuple[RunRow, ...]:
        """The plan's rows as a run stores them."""
        return run_rows(self.plan, self.suite)

    @cached_property
    def suite_hash(self) -> str:
        """A hash of the suite's contents."""
        return suite_hash(self.suite)

    @cached_property
    def _templates(self) -> dict[_InitialState, TemplateFiles]:
        """The hashes of all templates' files when they are first asked for."""
        rows = {_initial_state(row): row for row in self.plan.rows}
        return {
            key: template_files(self.definitions_of(row), row.scenario, self.suite.guidance)
            for key, row in rows.items()
        }

    @cached_property
    def _scripts(self) -> dict[tuple[str, str], str]:
        """For each scenario, a hash of its evaluators' scripts."""
        rows = {(row.presence, row.scenario.name): row for row in self.plan.rows}
        return {key: scripts_hash(self.definitions_of(row), row.scenario) for key, row in rows.items()}

    @cached_property
    def _programs(self) -> dict[str, list[str]]:
        """For each agent, a hash of its program on each side. Base's trials are history for base's program."""
        agents = {row.key.agent: row.agent for row in self.plan.rows}
        return {
            name: [program_hash(side.folder, agent, self.suite.path) for side in self.sides]
            for name, agent in agents.items()
        }

    @property
    def edited_agents(self) -> frozenset[str]:
        """The agents whose program is not the same on all sides."""
        return frozenset(name for name, hashes in self._programs.items() if len(set(hashes)) > 1)

    def test_keys(self, repo: Path, fingerprints: Mapping[RowKey, str]) -> dict[RowKey, str]:
        """Return the key of each row's test on these two commits. Deterministic rows are cheap and always run again.

        Where something is built, the key has the commits and not only their files: a build can read a commit's message.
        """
        chosen = {row: text for row, text in fingerprints.items() if not self.plan.row(row).deterministic}
        if not chosen:
            return {}
        built = any(side.build_of(self.suite) for side in self.sides)
        code = [side.revision.sha if built else tree_hash(repo, side.revision, self.watched) for side in self.sides]
        return {key: test_key(text, self.plan.row(key), self.suite, code) for key, text in chosen.items()}


def _initial_state(row: PlanRow) -> _InitialState:
    return row.presence, row.scenario.template, row.scenario.guidance


def screening_specs(work: RunJob, trials: int | None) -> list[TrialSpec]:
    """Return the trials of a single run: `trials` per row if given, else as many as a pull request's screening has."""
    suite = work.suite
    return [
        TrialSpec(side="head", scenario=row.scenario, agent=row.agent, index=index + 1)
        for row in work.rows
        for index in range(trials or (1 if row.deterministic else screening_trials(row.trials, suite.policy)))
    ]


def runner_of(work: RunJob, options: Options) -> Runner:
    """Return the runner for this work. Raises ConfigurationError if a model would judge itself."""
    from tidegate.run.runner import Runner  # only here: a pull request with nothing to run needs none

    work.read_commits()
    refuse_self_judging(work.suite, work.plan)
    return Runner(
        work.suite,
        with_seed(work.plan, work.seed),
        work.sides,
        work.scratch,
        environ=options.environ,
        progress=options.progress,
        definitions=work.definitions,
        answers=work.answers,
        jobs=options.jobs,
        began=options.began,
        pause_s=options.pause_s,
        withheld=_withheld(work, options),
        before=work.joined.spent if work.joined else NOTHING,
    )


def _withheld(work: RunJob, options: Options) -> tuple[str, ...]:
    """Return the variables that workers must not use: on forks, those that this job was not given either."""
    of_agents = (name for row in work.plan.rows for name in row.agent.variables)
    names = (*work.suite.pass_env, *work.suite.server_variables, *of_agents)
    return tuple(sorted({name for name in names if options.lenient_keys and not options.environ.get(name)}))


def run_of(
    work: RunJob,
    checkout: Checkout,
    results: Sequence[TrialResult],
    started: float,
    ended: float,
    runner: Runner | None = None,
) -> Run:
    """Return one side's run. `started` and `ended` are in seconds since the epoch."""
    agents = {row.key.agent: row.agent for row in work.plan.rows}
    versions = runner.versions if runner else {}
    fingerprints = work.fingerprints(versions)
    return Run(
        tidegate_version=__version__,
        side=checkout.side,
        revision=checkout.revision,
        suite_file=work.suite.file,
        suite_hash=work.suite_hash,
        policy=work.suite.policy,
        diagnosis=work.suite.diagnosis,
        rows=tuple(row.model_copy(update={"fingerprint": fingerprints.get(row.key, "")}) for row in work.rows),
        agents={name: AgentInfo(type=a.type, model=a.model, version=versions.get(name)) for name, a in agents.items()},
        judge=_judge(work),
        build_error=runner.build_errors.get(checkout.side) if runner else None,
        started_at=started,
        seconds=round(ended - started, 3),
        budget=work.suite.budget,
        seed=work.seed if any("seed" in type(row.agent).model_fields for row in work.plan.rows) else None,
        slots=runner.slots if runner else 1,
        replaced=runner.replaced if runner and checkout.side == "head" else (),
        confinement=runner.confinement if runner else (),
        trials=tuple(result for result in results if result.side == checkout.side),
    )


def _judge(work: RunJob) -> JudgeInfo | None:
    judge = work.suite.judge
    if judge is None or not any(row.scenario.judged for row in work.plan.rows):
        return None
    blocks = work.suite.policy.judge_blocks
    wordings = {words for row in work.plan.rows for words in row.scenario.wordings}
    return JudgeInfo(
        type=judge.type,
        model=judge.model,
        samples=max(member.samples for member in judge.members),
        panel=tuple(one.model for one in judge.members) if len(judge.members) > 1 else (),
        blocks=blocks,
        trust=trust(work.suite.calibration, judge.model, wordings),
    )


class BothRuns(NamedTuple):
    """Both runs, warnings of history that was ignored, and what both sides offer."""

    base: Run
    head: Run
    ignored: tuple[str, ...]
    interfaces: tuple[Interface, ...] = ()


def no_runs(work: RunJob) -> BothRuns:
    """Return two runs without trials, for a pull request that changes nothing that agents could notice."""
    now = time.time()
    base, head = (run_of(work, side, [], now, now) for side in work.sides)
    return BothRuns(base, head, ())
