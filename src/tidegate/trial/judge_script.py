"""Runs scripts of judges and evaluators: in a trial, after the judge has answered, and on a trial that has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.model.probe import Answer, CommandAnswer, RunJudge
from tidegate.model.suite import Limits
from tidegate.model.trial import Trial
from tidegate.trial.directories import Folders
from tidegate.trial.processes import Supervisor, run_shell
from tidegate.trial.sandbox.users import give
from tidegate.trial.workspace import Prepared, copy_workspace
from tidegate.trial.workspace_diff import apply_diff


async def run_judge_script(
    context: ScriptContext, folders: Folders, environment: Mapping[str, str], request: RunJudge, name: str
) -> CommandAnswer:
    """Run the script of a judge or evaluator. Its input and output are kept in the record, in files of that name."""
    folders.open_to_scripts()
    folders.empty_tmp(context.supervisor.account)
    stdin = folders.record / f"{name}.stdin.json"
    stdin.write_text(request.stdin, encoding="utf-8")
    result, _ = await run_shell(
        context.supervisor,
        request.command,
        cwd=context.definitions / request.folder,
        env=environment,
        output=folders.record / name,
        timeout_secs=request.timeout_secs,
        limits=context.limits,
        stdin=stdin,
    )
    return CommandAnswer(result=result)


@dataclass(frozen=True)
class ScriptContext:
    """What scripts run with. `definitions` is the checkout that the scripts are in."""

    definitions: Path
    limits: Limits
    supervisor: Supervisor


class RestoredWorkspace:
    """One stored trial; its record is in `folders.record`, and `environment` is that of its scripts.

    `prepared` returns the scenario's initial workspace; it is called when the first script runs.
    """

    def __init__(self, trial: Trial, folders: Folders, environment: Mapping[str, str], context: ScriptContext) -> None:
        self._trial = trial
        self._folders = folders
        self._context = context
        self._environment = environment
        self._is_tried = False
        self._is_made = False
        self._count = 0

    async def script(self, request: RunJudge, prepared: Callable[[], Prepared]) -> Answer | None:
        """Run the script; return None if the workspace cannot be rebuilt."""
        if not self._is_tried:
            self._is_tried = True
            self._is_made = await asyncio.to_thread(self._make_workspace, prepared)
        if not self._is_made:
            return None
        self._count += 1
        name = f"stored-{self._count:02d}"
        return await run_judge_script(self._context, self._folders, self._environment, request, name)

    def _make_workspace(self, prepared: Callable[[], Prepared]) -> bool:
        """Create the scenario's workspace and apply the agent's changes. Return False if they no longer apply."""
        if self._trial.workspace_lost:
            return False
        folders, account = self._folders, self._context.supervisor.account
        folders.make(account)
        folders.make_for_checks(account)
        copy_workspace(prepared(), folders.workspace)
        diff = folders.record / "workspace.diff"
        applies = not diff.is_file() or apply_diff(folders.workspace, diff.read_bytes())
        give(account, folders.workspace)
        return applies
