"""Runs a judge's script: while its trial runs, after the judge has answered, or when a stored trial is regraded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tidegate.model.probe import CommandAnswer, RunJudge
from tidegate.model.suite import Limits
from tidegate.trial.directories import Folders
from tidegate.trial.processes import Supervisor
from tidegate.trial.shell_command import run_shell


class JudgeScripts:
    """Runs the scripts of one trial with its variables. Their input and output are kept in its record."""

    def __init__(
        self, folders: Folders, environment: Mapping[str, str], limits: Limits, supervisor: Supervisor
    ) -> None:
        self._folders = folders
        self._environment = environment
        self._limits = limits
        self._supervisor = supervisor

    async def run(self, request: RunJudge, name: str, checkout: Path) -> CommandAnswer:
        """Run the script of that checkout. `name` is the name of its files in the record."""
        record = self._folders.record
        self._folders.open_to_scripts(self._supervisor.account)
        stdin = record / f"{name}.stdin.json"
        stdin.write_text(request.stdin, encoding="utf-8")
        result, _ = await run_shell(
            self._supervisor,
            request.command,
            cwd=checkout / request.folder,
            env=self._environment,
            output=record / "output" / name,
            timeout_secs=request.timeout_secs,
            limits=self._limits,
            stdin=stdin,
        )
        return CommandAnswer(result=result)
