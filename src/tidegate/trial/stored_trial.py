"""Evaluates a trial that ended long ago, using its stored answers and a rebuilt copy of its workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tidegate.evaluators.advance import advance
from tidegate.evaluators.assess import record_of
from tidegate.evaluators.stored_answers import answer_to
from tidegate.model.evaluator import Score
from tidegate.model.probe import Answer, CommandAnswer, RunJudge, WorkspaceRequest
from tidegate.model.question import AskModel
from tidegate.model.suite import Limits, Scenario
from tidegate.model.trial import Trial
from tidegate.trial.directories import Folders
from tidegate.trial.environment import base_environment, script_variables
from tidegate.trial.processes import Supervisor, run_shell
from tidegate.trial.workspace import apply_diff, copy_workspace, prepare


@dataclass(frozen=True)
class RegradeContext:
    """What all trials of a regrade share: the checkout with the definitions, and the environment of its scripts."""

    root: Path
    guidance: tuple[str, ...]
    path: str
    passed_env: Mapping[str, str]
    limits: Limits
    supervisor: Supervisor


class StoredTrial:
    """One stored trial; its record is in `folders.record`."""

    def __init__(self, trial: Trial, scenario: Scenario, folders: Folders, context: RegradeContext) -> None:
        self._trial = trial
        self._scenario = scenario
        self._folders = folders
        self._context = context
        self._is_ready: bool | None = None
        self._scripts = 0

    async def evaluators(self) -> tuple[tuple[Answer, ...], ...]:
        """Return each evaluator's answers, up to its first question to a model, or one that cannot be answered."""
        record = record_of(self._trial, self._scenario)
        collected: list[tuple[Answer, ...]] = []
        for evaluator in self._scenario.evaluators:
            answers: list[Answer] = []
            while not isinstance(step := advance(evaluator, record, answers), Score | AskModel):
                answer = await self._answer(step)
                if answer is None:
                    break
                answers.append(answer)
            collected.append(tuple(answers))
        return tuple(collected)

    async def script(self, request: RunJudge) -> Answer | None:
        """Run an evaluator's script on the rebuilt workspace; return None if the workspace cannot be rebuilt."""
        if self._is_ready is None:
            self._is_ready = await asyncio.to_thread(self._make_workspace)
        if not self._is_ready:
            return None
        self._scripts += 1
        name = f"again-{self._scripts:02d}"
        folders, context = self._folders, self._context
        stdin = folders.record / f"{name}.stdin.json"
        stdin.write_text(request.stdin, encoding="utf-8")
        result, _ = await run_shell(
            context.supervisor,
            request.command,
            cwd=context.root / request.folder,
            env={
                **base_environment(context.path, folders.home, folders.tmp, context.passed_env),
                **script_variables(self._trial.spec, None, folders),
                **self._scenario.target.env,
            },
            output=folders.record / "output" / name,
            timeout_secs=request.timeout_secs,
            limits=context.limits,
            stdin=stdin,
        )
        return CommandAnswer(result=result)

    async def _answer(self, request: WorkspaceRequest) -> Answer | None:
        if isinstance(request, RunJudge):
            return await self.script(request)
        return answer_to(request, (*self._trial.answers, *chain.from_iterable(self._trial.evaluator_answers)))

    def _make_workspace(self) -> bool:
        """Create the scenario's workspace and apply the agent's changes. Return False if they no longer apply."""
        folders, root = self._folders, self._context.root
        folders.make(None)
        for name in ("transcript.txt", "events.jsonl"):
            if (folders.record / name).is_file():
                folders.share(name)
        start = prepare(self._scenario, root, root, self._context.guidance, folders.scratch / "start")
        copy_workspace(start, folders.workspace)
        diff = folders.record / "workspace.diff"
        if self._trial.workspace_lost:
            return False
        return not diff.is_file() or apply_diff(folders.workspace, diff.read_bytes())
