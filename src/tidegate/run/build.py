"""The suite's `build` commands, once per side, in its own checkout."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.gates.excerpt import excerpt
from tidegate.model.agent import Agent
from tidegate.model.command import CommandResult
from tidegate.model.measurement import Revision
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.model.trial import Side
from tidegate.store.run_folder import RunFolder
from tidegate.trial.environment import base_environment, git_trusts, side_path
from tidegate.trial.processes import Refused, Supervisor, SupervisorLost, run_shell
from tidegate.trial.users import give

MOST_LINES, MOST_CHARACTERS = 3, 500  # of what a broken build says
_ERROR = re.compile(r"\b(errors?|fatal|failed|cannot|\w+Error)\b", re.IGNORECASE)
TRIES = 3  # a broken build is confirmed by two more tries (scenarios.md, The trial, in order)


@dataclass(frozen=True)
class Checkout:
    """One side: its commit, where it is checked out, and where its run is stored."""

    side: Side
    revision: Revision
    folder: Path
    store: RunFolder
    own: Suite | None = None  # its commit's own suite: it says how the side is built; None: the suite in force does

    def build_of(self, suite: Suite) -> tuple[str, ...]:
        """The commands that build this side."""
        return (self.own or suite).build

    def path_of(self, suite: Suite) -> tuple[str, ...]:
        """The folders of this side's checkout that stand first in PATH."""
        return (self.own or suite).path


@dataclass(frozen=True)
class HostEnvironment:
    """What of our own environment reaches the commands of a run."""

    path: str  # the system's PATH
    passed: Mapping[str, str]  # the variables that `pass_env` names
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)  # all of it, for agents' own variables

    @classmethod
    def of(cls, environ: Mapping[str, str], suite: Suite) -> HostEnvironment:
        """Chosen from `environ` by the suite's allow-list."""
        passed = {name: environ[name] for name in suite.pass_env if name in environ}
        return cls(environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"), passed, environ)

    def of_agent(self, agent: Agent) -> dict[str, str]:
        """The agent's own variables: its key, and where its model is."""
        return self.own(agent.variables)

    def own(self, variables: Iterable[str]) -> dict[str, str]:
        """Those of an agent's or a judge's own variables that are set."""
        return {name: self.environ[name] for name in variables if self.environ.get(name)}


async def build(
    suite: Suite,
    checkout: Checkout,
    around: HostEnvironment,
    supervisor: Supervisor,
    *,
    deadline: float,
    progress: Progress,
) -> str | None:
    """Run the build commands; None when all went well, else in one line what failed, three times over."""
    error: str | None = None
    for attempt in range(1, TRIES + 1):
        again = "" if attempt == 1 else f", try {attempt} of {TRIES}"
        progress.say(f"building {checkout.side} ({checkout.revision.ref}){again}")
        try:
            error = await _build_once(suite, checkout, around, supervisor, deadline=deadline, attempt=attempt)
        except Refused as refused:
            raise CannotRunError(
                f"{checkout.side} could not be built: {refused}.", "Is there room on the disk?"
            ) from None
        except SupervisorLost as lost:
            return f"build on {checkout.side}: {lost}"
        if error is None:
            return None
        progress.say(error)
    return error


async def _build_once(
    suite: Suite, checkout: Checkout, around: HostEnvironment, supervisor: Supervisor, *, deadline: float, attempt: int
) -> str | None:
    output = checkout.store.folder / "build" / str(attempt)
    home = checkout.folder / ".tidegate" / "build-home"
    tmp = home / "tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    give(supervisor.account, home.parent)
    path = side_path(checkout.folder, checkout.path_of(suite), around.path)
    for number, command in enumerate(checkout.build_of(suite), 1):
        result, _ = await run_shell(
            supervisor,
            command,
            cwd=checkout.folder,
            env={**base_environment(path, home, tmp, around.passed), **git_trusts(checkout.folder)},
            output=output / f"{number:02d}",
            timeout_secs=max(1.0, deadline - time.monotonic()),
            limits=suite.limits,
        )
        if not result.ok:
            return f"build on {checkout.side}: `{command}` failed ({result.how_it_ended()}): {_reason(result)}"
    return None


def _reason(result: CommandResult) -> str:
    """Its first lines that speak of an error, since builders go on talking after them; else its last line."""
    lines = (result.stderr.strip() or result.stdout.strip() or "no output").splitlines()
    telling = [line.strip() for line in lines if _ERROR.search(line)] or [lines[-1].strip()]
    return excerpt(" · ".join(telling[:MOST_LINES]), MOST_CHARACTERS)
