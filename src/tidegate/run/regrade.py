"""Evaluates stored trials again with the current gates and evaluators; no agent runs."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tidegate.checks.evaluators.assess import answer_to, gate_answers, record_of
from tidegate.checks.measure import measure_trial
from tidegate.history.run_folder import AnswerStore, RunFolder, load_run
from tidegate.model.judge import AskModel
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.probe import Answer, Request, RunJudge
from tidegate.model.progress import Progress
from tidegate.model.suite import Scenario, Suite
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import encoded
from tidegate.run.build import HostEnvironment
from tidegate.run.grade import grade
from tidegate.run.judge_client import PanelClient
from tidegate.run.slots import SlotFiles, SlotNetworks
from tidegate.suite.plan import definition_hash, suite_hash
from tidegate.trial.checks import answered
from tidegate.trial.directories import Folders
from tidegate.trial.environment import base_environment, free_port, script_variables, side_path, variables_with_port
from tidegate.trial.judge_script import RestoredWorkspace, ScriptContext
from tidegate.trial.processes import Supervisor
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.readable import parts_of_checkout
from tidegate.trial.workspace import prepare


@dataclass(frozen=True)
class Regraded:
    """The new run, the old trial results, and the names of scenarios that the suite no longer has."""

    run: Run
    before: tuple[TrialResult, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class RegradeJob:
    """What regrading needs: the checkout with the definitions, and a scratch folder for scripts."""

    root: Path
    suite: Suite
    scratch: Path
    environ: Mapping[str, str]
    answers: AnswerStore  # the judge's stored answers, so that none is paid for twice
    progress: Progress

    @asynccontextmanager
    async def supervisor(self) -> AsyncIterator[Supervisor]:
        """Yield the supervisor of all scripts, which are confined as in a trial."""
        files = SlotFiles(self.suite, self.scratch, self.progress)
        with SlotNetworks(self.suite.network, self.progress) as networks:
            await networks.choose(None)
            await files.choose(self.environ, [self.root])
            async with await Supervisor.start(None, Confinement(await networks.open(), files.jail)) as supervisor:
                yield supervisor

    def judge_client(self) -> PanelClient:
        """Return the client that answers questions to the judge."""
        deadline = time.monotonic() + self.suite.budget.seconds
        return PanelClient.of(self.suite, self.root, self.environ, self.answers, deadline)

    def context(self, supervisor: Supervisor) -> ScriptContext:
        """Return what the scripts of all trials share."""
        return ScriptContext(self.root, self.suite.limits, supervisor)

    def environment(self, trial: Trial, scenario: Scenario, model: str | None, folders: Folders) -> dict[str, str]:
        """Return the variables of a trial's scripts."""
        around = HostEnvironment.of(self.environ, self.suite)
        own = script_variables(trial.spec, model, folders)
        return {
            **base_environment(
                side_path(self.root, self.suite.path, around.path), folders.home, folders.check_tmp, around.passed
            ),
            **own,
            **variables_with_port(scenario.target.environment({**around.passed, **own}), free_port()),
        }


async def regrade(stored: Path, out: Path, job: RegradeJob) -> Regraded:
    """Evaluate every trial of a stored run again, and store the new run in `out`.

    Gates use the answers that were recorded then; a gate that needs a new answer leaves the trial not measured.
    Scripts of evaluators run again, in a rebuilt copy of the final workspace. The judge gets only questions without a
    stored answer. The cost stays.
    """
    old, source, target = load_run(stored), RunFolder.at(stored), RunFolder(out)
    scenarios = {scenario.name: scenario for scenario in job.suite.scenarios}
    results = []
    async with job.supervisor() as supervisor, job.judge_client() as judge_client:
        work = _Work(old, source, target, job, job.context(supervisor), judge_client)
        for result in old.trials:
            target.copy_trial(result, source)
            results.append(await work.measured(result, scenarios.get(result.scenario)))
    run = _run(old, tuple(results), job.suite, scenarios)
    target.finish_run(run)
    unknown = dict.fromkeys(result.scenario for result in old.trials if result.scenario not in scenarios)
    return Regraded(run, old.trials, tuple(unknown))


@dataclass(frozen=True)
class _Work:
    """The old run, the new one, and what answers the questions of evaluators."""

    old: Run
    source: RunFolder
    target: RunFolder
    job: RegradeJob
    context: ScriptContext
    judge_client: PanelClient

    async def measured(self, result: TrialResult, scenario: Scenario | None) -> TrialResult:
        """Return the trial as measured now; unchanged if its record or scenario is missing or it was not measured."""
        trial = self.source.trial(result.spec)
        if trial is None or scenario is None or trial.not_measured is not None:
            return result
        trial = await self._asked(trial, scenario)
        self.target.keep_trial(trial)
        again = measure_trial(trial, scenario, judge_blocks=self.job.suite.policy.judge_blocks)
        metrics = again.metrics.model_copy(update={"cost_usd": result.metrics.cost_usd})
        kept = {"metrics": metrics, "cost_guessed": result.cost_guessed}
        again = again.model_copy(update=kept)
        self.target.finish_trial(again)
        return again

    async def _asked(self, trial: Trial, scenario: Scenario) -> Trial:
        spec = trial.spec
        scratch = self.job.scratch.joinpath(encoded(spec.scenario), encoded(spec.agent), str(spec.index))
        folders, root = Folders(self.target.trial_folder(spec), scratch), self.context.definitions
        confinement = self.context.supervisor.confinement
        confinement.reach(self.job.suite.network.gates)
        confinement.use(folders.file_rules(root, parts_of_checkout(root), folders.check_tmp))
        environment = self.job.environment(trial, scenario, self.old.agents[spec.agent].model, folders)
        stored = RestoredWorkspace(trial, folders, environment, self.context)
        known = (*trial.answers, *trial.judge_answers, *chain.from_iterable(trial.evaluator_answers))

        async def found(request: Request) -> Answer | None:
            if isinstance(request, RunJudge):
                return await stored.script(
                    request, lambda: prepare(scenario, root, root, self.job.suite.guidance, scratch / "start")
                )
            return None if isinstance(request, AskModel) else answer_to(request, known)

        async def carry(request: Request) -> Answer | None:
            if isinstance(request, AskModel):
                return await self.judge_client.carry(request)
            return await found(request)

        record = record_of(trial, scenario)
        asked = {
            "answers": gate_answers(scenario.gates, trial.answers),
            "evaluator_answers": tuple([await answered(one, record, found) for one in scenario.evaluators]),
            "judge_answers": await answered(scenario.judge, record, found) if scenario.judge else (),
        }
        return await grade(trial.model_copy(update=asked), scenario, carry, self.source.record(spec).diff)


def _run(old: Run, results: tuple[TrialResult, ...], suite: Suite, scenarios: Mapping[str, Scenario]) -> Run:
    rows = tuple(
        row.model_copy(update={"definition": definition_hash(scenarios[row.scenario])})
        if row.scenario in scenarios
        else row
        for row in old.rows
    )
    changed = {"trials": results, "rows": rows, "suite_hash": suite_hash(suite), "policy": suite.policy}
    return old.model_copy(update=changed)
