"""Checks agents before any trial runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.model.access import Access
from tidegate.model.event import CommandResult
from tidegate.model.suite import Limits
from tidegate.trial.directories import Folders
from tidegate.trial.environment import base_environment
from tidegate.trial.processes import Supervisor
from tidegate.trial.program_lookup import program_words
from tidegate.trial.sandbox.readable import parts_of_checkout
from tidegate.trial.sandbox.users import give
from tidegate.trial.shell_command import run_shell

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
        for folder in (home, tmp, folders.shared_tmp):
            folder.mkdir(parents=True, exist_ok=True)
        give(self.supervisor.account, home, tmp, folders.shared_tmp)
        self.supervisor.confinement.reach(self.network)
        self.supervisor.confinement.use(folders.file_rules(self.repo, parts_of_checkout(self.repo)))
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
