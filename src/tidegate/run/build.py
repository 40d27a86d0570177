"""Runs the suite's `build` commands once per side, in that side's checkout."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.history.run_folder import RunFolder
from tidegate.model.agent import Agent
from tidegate.model.event import CommandResult
from tidegate.model.judge import SYSTEM_PATH
from tidegate.model.progress import Progress
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.model.target import Target
from tidegate.model.trial_spec import Side
from tidegate.text.redaction import Redaction, secret_variables
from tidegate.text.shorten import ERROR, excerpt
from tidegate.trial.environment import base_environment, git_trusts, side_path
from tidegate.trial.processes import Refused, Supervisor, SupervisorLost, run_shell
from tidegate.trial.safe_files import redact_folder, redacted
from tidegate.trial.sandbox.file_jail import explained
from tidegate.trial.sandbox.users import give

MOST_LINES, MOST_CHARACTERS = 3, 500  # quoted from a failed build's output
TRIES = 3  # a failed build is retried twice (scenarios.md, The trial, in order)


@dataclass(frozen=True)
class Checkout:
    """One side: its commit, where it is checked out, and where its run is stored."""

    side: Side
    revision: Revision
    folder: Path
    store: RunFolder
    own: Suite | None = None  # the commit's own suite, which defines its build; None: the suite in force

    def build_of(self, suite: Suite) -> tuple[str, ...]:
        """Return the commands that build this side."""
        return (self.own or suite).build

    def path_of(self, suite: Suite) -> tuple[str, ...]:
        """Return the folders of this side's checkout that come first in PATH."""
        return (self.own or suite).path


@dataclass(frozen=True)
class HostEnvironment:
    """The part of Tidegate's environment that the commands of a run receive."""

    path: str  # the system's PATH
    passed: Mapping[str, str]  # the variables that `pass_env` names
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)  # all variables, for agents' own

    @classmethod
    def of(cls, environ: Mapping[str, str], suite: Suite) -> HostEnvironment:
        """Select the variables from `environ` that the suite allows."""
        passed = {name: environ[name] for name in suite.pass_env if name in environ}
        return cls(environ.get("PATH", SYSTEM_PATH), passed, environ)

    @cached_property
    def redaction(self) -> Redaction:
        """Removes the values of Tidegate's secrets from what a run leaves behind."""
        return Redaction(secret_variables(self.environ))

    def given(self, target: Target) -> set[str]:
        """Return the values of variables that a trial of this target has."""
        own = (self.environ[name] for name in target.references if name in self.environ)
        return {*self.passed.values(), *target.env.values(), *own}

    def of_agent(self, agent: Agent) -> dict[str, str]:
        """Return the agent's own variables: its API key and its provider's address."""
        return self.own(agent.variables)

    def own(self, variables: Iterable[str]) -> dict[str, str]:
        """Return those of the given variables that are set and not empty."""
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
    """Run the build commands. Return None on success, else one line about the failure of the last try.

    There are three tries. What fails twice alike is not tried again. `deadline` is on the monotonic clock.
    Raises CannotRunError if the system refuses to start a command.
    """
    error = last = None
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
        if error == last:
            break
        last = error
    return error


async def _build_once(
    suite: Suite, checkout: Checkout, around: HostEnvironment, supervisor: Supervisor, *, deadline: float, attempt: int
) -> str | None:
    """Run the build commands in order; return None, or one line about the first that fails."""
    output = checkout.store.folder / "build" / str(attempt)
    home = checkout.folder / ".tidegate" / "build-home"
    tmp = home / "tmp"
    if tmp.resolve() != checkout.folder.resolve() / tmp.relative_to(checkout.folder):
        return f"build on {checkout.side}: .tidegate is a link in its commit, and the folder is Tidegate's own"
    for folder in (output, tmp):
        folder.mkdir(parents=True, exist_ok=True)
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
        redact_folder(output, around.redaction)
        if not result.ok:
            result = redacted(result, around.redaction)
            why = explained(supervisor.confinement.take_refused_files())
            return f"build on {checkout.side}: `{command}` failed ({result.how_it_ended()}): {_reason(result)}{why}"
    return None


def _reason(result: CommandResult) -> str:
    """Return the first lines that mention an error (builders print more after them), else the last line."""
    lines = (result.stderr.strip() or result.stdout.strip() or "no output").splitlines()
    telling = [line.strip() for line in lines if ERROR.search(line)] or [lines[-1].strip()]
    return excerpt(" · ".join(telling[:MOST_LINES]), MOST_CHARACTERS)
