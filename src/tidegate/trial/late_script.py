"""Runs scripts after the judge has answered, such as one that combines scores; the workspace is gone by then."""

from __future__ import annotations

from tidegate.model.probe import CommandAnswer, RunJudge
from tidegate.trial.directories import Attempt
from tidegate.trial.environment import base_environment, script_variables
from tidegate.trial.processes import run_shell


async def run_late(request: RunJudge, attempt: Attempt, name: str) -> CommandAnswer:
    """Run the script with the trial's variables in empty folders. Its output is stored in the trial's record."""
    place, folders = attempt.place, attempt.folders
    folders.make(attempt.supervisor.account)
    folders.workspace.mkdir()
    stdin = folders.record / f"{name}.stdin.json"
    stdin.write_text(request.stdin, encoding="utf-8")
    environment = {
        **base_environment(place.path, folders.home, folders.tmp, place.passed_env),
        **script_variables(attempt.spec, attempt.row.agent.model, folders),
        **attempt.scenario.target.env,
    }
    result, _ = await run_shell(
        attempt.supervisor,
        request.command,
        cwd=place.definitions / request.folder,
        env=environment,
        output=folders.record / "output" / name,
        timeout_secs=request.timeout_secs,
        limits=place.limits,
        stdin=stdin,
    )
    return CommandAnswer(result=result)
