"""What comes before the agent: setup commands, and checks of agents and of the tool under test."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.model.access import Access
from tidegate.model.event import CommandResult
from tidegate.model.suite import Limits
from tidegate.model.target import McpServer, Target
from tidegate.model.trial import Step
from tidegate.model.trial_spec import NotMeasured
from tidegate.text.shorten import error_line
from tidegate.trial.directories import Attempt, Folders
from tidegate.trial.environment import base_environment
from tidegate.trial.mcp import recording
from tidegate.trial.mcp.mcp_client import AS_AGENTS, connected, connected_at
from tidegate.trial.mcp.server_check import check_server, server_at_url, why_not
from tidegate.trial.processes import Command, Supervisor, run_shell
from tidegate.trial.program_lookup import program_words
from tidegate.trial.sandbox.readable import parts_of_checkout
from tidegate.trial.sandbox.users import give


def missing_target(target: Target, environment: Mapping[str, str], workspace: Path) -> str | None:
    """Return a message if the target is neither on the PATH of the trial's commands nor in the workspace, else None.

    In the workspace, it is called as `./tool`. A `binary` that is a path is not checked, because it is resolved from
    where it is called. An MCP server has its own check.
    """
    if target.mcp is not None or not target.binary or "/" in target.binary:
        return None
    if not environment["PATH"]:
        return f"`path` has no program `{target.binary}` where base has it"
    folders = [os.path.join(workspace, folder) for folder in (*environment["PATH"].split(os.pathsep), ".")]  # noqa: PTH118
    if shutil.which(target.binary, path=os.pathsep.join(folders)):
        return None
    if found := shutil.which(target.binary, mode=os.F_OK, path=os.pathsep.join(folders)):
        return f"`{Path(found).name}` cannot be executed: run `chmod +x` on it, and commit that"
    return f"there is no program `{target.binary}` on PATH; is that its name, and does `path` have its folder?"


SETUP_TIMEOUT_SECS = 300.0  # per setup command
HEALTH_CHECK_TIMEOUT_SECS = 30.0


class NotReadyError(Exception):
    """Setup or health check failed, or the run ended before they did, so there is nothing to measure."""

    def __init__(self, kind: NotMeasured, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Start:
    """The start of one trial. `environment` is that of setup and checks, `server` that of an MCP server."""

    def __init__(self, attempt: Attempt, environment: Mapping[str, str], server: Mapping[str, str]) -> None:
        self._attempt = attempt
        self._environment = environment
        self._server = server

    async def set_up(self, steps: list[Step], after_each: Callable[[], None]) -> None:
        """Run the scenario's setup, and add each command to `steps`. Raises NotReadyError if one fails."""
        most_secs = min(SETUP_TIMEOUT_SECS, self._attempt.most_secs.setup)
        for number, command in enumerate(self._attempt.scenario.setup, 1):
            self._attempt.on_step(f"setup: {command}")
            result = await self._command(command, f"setup-{number:02d}", most_secs)
            steps.append(Step(kind="setup", result=result))
            if not result.ok:
                raise NotReadyError(self._cause(result, "setup"), failure_of("setup command", result))
            await asyncio.to_thread(after_each)

    async def check(self, steps: list[Step]) -> None:
        """Run the health checks, and add each to `steps`. Raises NotReadyError if one fails."""
        target = self._attempt.scenario.target
        searched = {"PATH": self._attempt.place.target_path}
        if missing := missing_target(target, searched, self._attempt.folders.workspace):
            raise NotReadyError("health_check", missing)
        if target.mcp is not None:
            self._attempt.on_step(f"health check: {target.mcp.start}")
            result = await self._server_check(target.mcp)
            steps.append(Step(kind="health_check", result=result))
            if not result.ok:
                raise NotReadyError(self._cause(result, "health_check"), why_not(target.mcp.start, result))
        if target.health_check is not None:
            self._attempt.on_step(f"health check: {target.health_check}")
            result = await self._command(target.health_check, "health-check", HEALTH_CHECK_TIMEOUT_SECS)
            steps.append(Step(kind="health_check", result=result))
            if not result.ok:
                raise NotReadyError(self._cause(result, "health_check"), failure_of("health check", result))

    def _cause(self, result: CommandResult, kind: NotMeasured) -> NotMeasured:
        """Return why the trial cannot start: the budget, if its end stopped the command."""
        return "budget" if result.end == "timeout" and time.monotonic() >= self._attempt.deadline else kind

    async def _server_check(self, server: McpServer) -> CommandResult:
        """Open a session with the server and list what it offers, without recording anything."""
        attempt, name, nowhere = self._attempt, "server-check", Path(os.devnull)
        seconds = min(HEALTH_CHECK_TIMEOUT_SECS, max(0.1, attempt.deadline - time.monotonic()))
        if server.url:
            async with server_at_url(attempt, self._server, server, nowhere, name):
                opened = connected_at(server, attempt.folders.early_server, seconds, AS_AGENTS)
                result = await check_server(opened, attempt, name)
        else:
            command = server_command(attempt, server, self._server, name)
            folder = attempt.folders.scratch / "server-check-session"
            opened = connected(attempt.supervisor, command, folder, seconds, AS_AGENTS)
            result = await check_server(opened, attempt, name)
        return result.model_copy(update={"command": server.start})

    async def _command(self, command: str, name: str, timeout_secs: float) -> CommandResult:
        left = max(0.1, self._attempt.deadline - time.monotonic())
        result, _ = await self._attempt.command(command, name, self._environment, min(timeout_secs, left))
        return result


def server_command(attempt: Attempt, server: McpServer, environment: Mapping[str, str], name: str) -> Command:
    """Return the command that starts the server as agents do, without recording. `name`: of its output."""
    folders = attempt.folders
    folder = folders.shared / "server-check" / name  # where a trial's commands may start programs
    stderr = folders.record / f"{name}.stderr"
    return Command(
        argv=(
            str(recording.install(folder, server, environment, folders.workspace, Path(os.devnull), Path(os.devnull))),
        ),
        cwd=folders.workspace,
        env=environment,
        stdout=Path(os.devnull),
        stderr=stderr,
        limits=attempt.place.limits,
    )


def failure_of(what: str, result: CommandResult) -> str:
    """Return how a command failed, with the line of its output that names the error."""
    why = error_line(result.stderr.strip() or result.stdout)
    return f"{what} `{result.command}` failed ({result.how_it_ended()}){why and f': {why}'}"


TIMEOUT_SECS = 60.0  # per command; some agents take seconds to print their version


@dataclass(frozen=True)
class AgentCheckDirectories:
    """Where an agent is checked; implements Machine (tidegate.model.agent)."""

    supervisor: Supervisor
    folder: Path  # for this check only
    repo: Path  # a side's checkout
    path: str
    agent_path: str
    credentials: Mapping[str, str]
    network: Access = True

    def program_words(self, name: str) -> tuple[str, ...] | None:
        """Return the words that start an agent's program; None if the system has none by that name."""
        return program_words(name, self.agent_path)

    async def output(self, command: str) -> CommandResult:
        """Run `sh -c command` in an empty folder, without the agent's API key, and confined as the agent is."""
        folders = Folders(record=self.folder, scratch=self.folder)
        home, tmp = folders.home, folders.tmp
        for folder in (home, tmp, folders.as_shared(tmp), folders.shared):
            folder.mkdir(parents=True, exist_ok=True)
        give(self.supervisor.account, home, tmp, folders.as_shared(tmp))
        self.supervisor.confinement.reach(self.network)
        self.supervisor.confinement.use(folders.file_rules(self.repo, parts_of_checkout(self.repo), tmp))
        result, _ = await run_shell(
            self.supervisor,
            command,
            cwd=home,
            env=base_environment(self.path, home, tmp, {}),
            output=self.folder / "output",
            timeout_secs=TIMEOUT_SECS,
            limits=Limits(),
        )
        return result
