"""What is run, with what was chosen for it, and the run that comes of it."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tidegate import __version__
from tidegate.calibration.trust import trust
from tidegate.history.branch import Origin
from tidegate.history.fingerprint import fingerprint, judge_mark, test_key
from tidegate.history.script_contents import scripts_hash
from tidegate.model.judgement import JudgeInfo
from tidegate.model.measurement import AgentInfo, Run, TrialResult
from tidegate.model.plan import Plan, RowKey
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.model.trial import TrialSpec
from tidegate.plan import Selection, refuse_self_judging, run_rows, suite_hash
from tidegate.procedure.steps import screening_trials
from tidegate.run.build import Checkout
from tidegate.run.runner import Runner
from tidegate.store.judge_answers import AnswerStore
from tidegate.vcs.revisions import tree_hash

# What holds today, and nothing else; every report says it (docs/security.md).
CONFINEMENT = ("own environment", "own HOME and TMPDIR", "no process outlives its step")


@dataclass(frozen=True)
class Options:
    """What a person chose on the command line, and what of the machine reaches the run."""

    environ: Mapping[str, str]
    progress: Progress
    config: str = "tidegate.yaml"
    instance: str = "default"
    selection: Selection = field(default_factory=Selection)
    jobs: int | None = None
    lenient_keys: bool = False  # as on a fork: what lacks a key or a secret is not measured; else that ends the run
    gate: bool = True  # False: to find out everything, without what earlier runs know, and without blocking anything
    origin: Origin | None = None  # of a job on GitHub, for a history that is kept on a branch
    pause_s: float = 0.0  # before a verification, so that it is apart in time from what it verifies


@dataclass(frozen=True)
class Work:
    """A plan, and the checkouts that it is run in; scenarios and templates are read at the last of them."""

    suite: Suite
    plan: Plan
    sides: tuple[Checkout, ...]
    scratch: Path
    answers: AnswerStore
    watched: tuple[str, ...] = ()  # globs of what is each side's own: code, docs, guidance

    @property
    def definitions(self) -> Path:
        """Where scenarios and templates are read."""
        return self.sides[-1].folder

    def fingerprints(self, versions: Mapping[str, str | None]) -> dict[RowKey, str]:
        """Of the rows that chance has a part in; `versions` are those of the agents' programs."""
        judge = judge_mark(self.suite, self.sides[0].folder)
        return {
            row.key: fingerprint(
                row,
                self.definitions,
                self.suite.guidance,
                versions.get(row.key.agent),
                judge,
                self._scripts[row.scenario.name],
            )
            for row in self.plan.rows
            if row.presence != "removed" and row.scenario.cache and not row.deterministic
        }

    @cached_property
    def _scripts(self) -> dict[str, str]:
        """A hash of the files of its evaluators' scripts, for each scenario, and of those of base that decide too."""
        hashes: dict[str, str] = {}
        for row in self.plan.rows:
            if row.scenario.name not in hashes:
                former = scripts_hash(self.sides[0].folder, row.before) if row.before else ""
                hashes[row.scenario.name] = scripts_hash(self.sides[-1].folder, row.scenario) + former
        return hashes

    def test_keys(self, repo: Path, fingerprints: Mapping[RowKey, str]) -> dict[RowKey, str]:
        """Of each row's whole test, on these two commits of the repository."""
        trees: dict[str | None, list[str]] = {}
        keys: dict[RowKey, str] = {}
        for row, text in fingerprints.items():
            template = self.plan.row(row).scenario.template
            if template not in trees:
                own = () if template is None else (f"{glob.escape(template)}/**",)
                trees[template] = [tree_hash(repo, side.revision, (*self.watched, *own)) for side in self.sides]
            keys[row] = test_key(text, self.suite, trees[template])
        return keys


def screening_specs(work: Work, trials: int | None) -> list[TrialSpec]:
    """The trials of a single run: as many per row as were asked for, else as the screening of a pull request has."""
    suite = work.suite
    return [
        TrialSpec(side="head", scenario=row.scenario, agent=row.agent, index=index + 1)
        for row in run_rows(work.plan, suite.trials)
        for index in range(trials or (1 if row.deterministic else screening_trials(row.trials, suite.policy)))
    ]


def runner_of(work: Work, options: Options) -> Runner:
    """What runs the trials of this work; ConfigurationError where the judge would judge itself."""
    refuse_self_judging(work.suite, work.plan)
    return Runner(
        work.suite,
        work.plan,
        work.sides,
        work.scratch,
        environ=options.environ,
        progress=options.progress,
        definitions=work.definitions,
        answers=work.answers,
        jobs=options.jobs,
    )


def run_of(
    work: Work,
    checkout: Checkout,
    results: Sequence[TrialResult],
    started: float,
    ended: float,
    runner: Runner | None = None,
) -> Run:
    """One side's run, measured from `started` to `ended` (seconds since the epoch)."""
    agents = {row.key.agent: row.agent for row in work.plan.rows}
    versions = runner.versions if runner else {}
    fingerprints = work.fingerprints(versions)
    return Run(
        tidegate_version=__version__,
        side=checkout.side,
        revision=checkout.revision,
        suite_file=work.suite.file,
        suite_hash=suite_hash(work.suite),
        policy=work.suite.policy,
        diagnosis=work.suite.diagnosis,
        rows=tuple(
            row.model_copy(update={"fingerprint": fingerprints.get(row.key, "")})
            for row in run_rows(work.plan, work.suite.trials)
        ),
        agents={name: AgentInfo(type=a.type, model=a.model, version=versions.get(name)) for name, a in agents.items()},
        judge=_judge(work),
        build_error=runner.build_errors.get(checkout.side) if runner else None,
        started_at=started,
        seconds=round(ended - started, 3),
        confinement=(*CONFINEMENT, *runner.confinement) if runner else CONFINEMENT,
        trials=tuple(result for result in results if result.side == checkout.side),
    )


def _judge(work: Work) -> JudgeInfo | None:
    judge = work.suite.judge
    if judge is None or not any(row.scenario.judged for row in work.plan.rows):
        return None
    blocks = work.suite.policy.judge_blocks
    wordings = {words for row in work.plan.rows for words in row.scenario.wordings}
    return JudgeInfo(
        type=judge.type,
        model=judge.model,
        samples=judge.samples,
        blocks=blocks,
        trust=trust(work.suite.calibration, judge.model, wordings),
    )
