"""Builds the last commit in a separate checkout and runs candidates for scenarios there, as a pull request would."""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidegate.agents.doc_follower import DocFollower
from tidegate.authoring.build_systems.files import is_program, text
from tidegate.authoring.observed_gates import Seen
from tidegate.authoring.tool import Tool
from tidegate.history.run_folder import AnswerStore, RunFolder
from tidegate.model.access import Access, NetworkAccess
from tidegate.model.event import CommandEnd, CommandResult, Event, ToolCall, ToolResult
from tidegate.model.field_types import HOST
from tidegate.model.measurement import TrialResult
from tidegate.model.probe import CommandAnswer
from tidegate.model.suite import Budget, Scenario, Suite
from tidegate.model.trial_spec import TrialSpec
from tidegate.run.build import Checkout
from tidegate.run.checkouts import one_side, scratch_folder
from tidegate.run.run_job import Options, RunJob, run_of, runner_of
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan
from tidegate.vcs.git import git

AGENT = "docs"
BUILD_MINUTES = 20.0
OBSERVED, CONFIRMED = 2, 3  # trials: to propose gates, and to keep them
MOST_ROUNDS = 7
SECONDS = 60.0  # of one trial
_ELF = b"\x7fELF"
_SKIPPED = (".git", "node_modules", "build-home")


@dataclass(frozen=True)
class Tried:
    """The tool as it was built, the files of its scenarios, and sentences about what was left out.

    `problem` says why nothing could be tried; then there are no files.
    """

    tool: Tool
    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()
    problem: str | None = None
    build_failed: bool = False


@dataclass(frozen=True)
class TriedTrial:
    """What one trial did: the result, its events, what the commands of its gates did, and its changes in the workspace.

    `statuses`: exit codes of the tool's calls by the agent. `commands`: what each of its commands did the last time.
    """

    result: TrialResult
    events: tuple[Event, ...]
    checked: tuple[Seen, ...]
    diff: str
    statuses: frozenset[int | None]
    commands: tuple[CommandResult, ...] = ()


@dataclass
class Tryout:
    """The checkout and what has run in it. `folder` is where scenario files and templates may be written.

    Trials reach no host until `open_network` lets them.
    """

    side: Checkout
    scratch: Path
    options: Options
    rounds: itertools.count[int] = field(default_factory=itertools.count)
    reach: Access = False  # of the agent and the tool
    asked: dict[str, None] = field(default_factory=dict)  # hosts that were refused

    @property
    def folder(self) -> Path:
        """The checkout's folder."""
        return self.side.folder

    async def build(self, suite: Suite) -> str | None:
        """Run the suite's build. Return why it failed, or None."""
        work = self._job(suite, self.scratch)
        async with runner_of(work, self.options) as runner:
            return runner.build_errors.get(self.side.side)

    async def run(self, suite: Suite, trials: int, *, on_disk: bool = False) -> dict[str, list[TriedTrial]]:
        """Run each scenario so many times, without building, and return what was seen, by scenario. `on_disk`: also
        with small workspaces, which are in memory otherwise.
        """
        work = self._job(suite.model_copy(update={"build": ()}), self.scratch / f"round{next(self.rounds)}")
        work.scratch.mkdir(exist_ok=True)
        (side,) = work.sides
        specs = [
            TrialSpec(side=side.side, scenario=row.key.scenario, agent=row.key.agent, index=index + 1)
            for row in work.plan.rows
            for index in range(trials)
        ]
        async with runner_of(work, self.options) as runner:
            runner.attempts.memory = None if on_disk else runner.attempts.memory
            side.store.begin_run(run_of(work, side, (), 0, 0, runner))
            results = await runner.run(specs)
        seen: dict[str, list[TriedTrial]] = {}
        for result in results:
            self.asked.update((one.host, None) for one in result.refused_hosts)
            record, trial = side.store.record(result.spec), side.store.trial(result.spec)
            answers = trial.answers if trial else ()
            ended = (trial.started_at + (trial.duration_s or 0.0) + (trial.around_s or 0.0)) if trial else 0.0
            checked = tuple(Seen(one.result, ended) for one in answers if isinstance(one, CommandAnswer))
            statuses = frozenset(call.exit_code for call in (trial.invocations if trial else ()))
            tried = TriedTrial(result, record.events, checked, record.diff, statuses, _commands(record.events))
            seen.setdefault(result.scenario, []).append(tried)
        return seen

    def open_network(self) -> None:
        """Let the next trials reach the hosts that earlier ones asked for; all hosts if none is known by name."""
        self.reach = tuple(host for host in self.asked if HOST.match(host)) or True

    def load(self) -> Suite:
        """Return the suite that was written into the checkout."""
        return load_suite(self.folder, environ=self.options.environ)

    def _job(self, suite: Suite, scratch: Path) -> RunJob:
        suite = suite.model_copy(update={"network": NetworkAccess(agent=self.reach)})
        store = RunFolder(self.scratch / "runs" / str(next(self.rounds)))
        return RunJob(suite, make_plan(suite), (replace(self.side, store=store),), scratch, AnswerStore(None))


def _commands(events: Iterable[Event]) -> tuple[CommandResult, ...]:
    """Return what each command of the agent did the last time."""
    called: dict[str, str] = {}
    found: dict[str, CommandResult] = {}
    for event in events:
        if isinstance(event, ToolCall) and event.command:
            called[event.id] = event.command
        elif isinstance(event, ToolResult) and event.id in called:
            command = called[event.id]
            end: CommandEnd = "exited" if event.exit_code is not None else "timeout"
            found[command] = CommandResult(command=command, end=end, exit_code=event.exit_code, stdout=event.output)
    return tuple(found.values())


@asynccontextmanager
async def tryout(root: Path, options: Options) -> AsyncIterator[Tryout]:
    """Yield a tryout in a checkout of the last commit, which is deleted afterwards."""
    with scratch_folder() as scratch, one_side(root, "HEAD", scratch, scratch / "run") as side:
        yield Tryout(side, scratch, options)


def draft(tool: Tool, scenarios: Iterable[Scenario]) -> Suite:
    """Return a suite for the tool with these scenarios and the agent that follows their prompts."""
    return Suite(
        guidance=(),
        build=tool.build,
        path=tool.path,
        pass_env=tool.pass_env,
        agents={AGENT: DocFollower(type="doc-follower", indented=True)},
        scenarios=tuple(scenarios),
        budget=Budget(minutes=BUILD_MINUTES),
    )


def needs_network(here: Tryout) -> tuple[str, ...]:
    """Return a note if trials work only with a network; empty if not."""
    if here.reach is False:
        return ()
    hosts = "the whole network" if here.reach is True else ", ".join(here.reach)
    return (f"some of it works only with {hosts}: `network` allows that; see if it should",)


def located(tool: Tool, folder: Path) -> Tool | None:
    """Return the tool with the folder in which the build put its program; None if it is nowhere in the checkout."""
    if any(is_program(folder / place / tool.binary) for place in tool.path):
        return tool
    found = [path.relative_to(folder) for path in _programs(folder, tool.binary)]
    if not found:
        return None
    nearest = min(found, key=lambda path: (len(path.parts), path))
    return tool._replace(path=(str(nearest.parent),))


def made(tool: Tool, folder: Path) -> Tool | None:
    """Return the tool as the program that its build has made in place of the expected one; None if there is none.

    Of several, the one that README files name most.
    """
    listed = git(folder, "ls-files", "--others", "-z").stdout
    found = [folder / name for name in listed.split("\0") if name and is_program(folder / name)]
    compiled = [path for path in found if path.read_bytes().startswith(_ELF)]
    readme = "\n".join(text(path) for path in sorted(folder.glob("README*")))
    named = {path: len(re.findall(rf"(?<![\w-]){re.escape(path.name)}(?![\w-])", readme)) for path in compiled}
    best = max(compiled, key=lambda path: (named[path], -len(path.name)), default=None)
    if best is None or not named[best]:
        return None
    return tool._replace(binary=best.name, path=(best.parent.relative_to(folder).as_posix(),))


def _programs(folder: Path, name: str) -> Sequence[Path]:
    return [
        path
        for path in folder.rglob(name)
        if is_program(path) and not set(_SKIPPED).intersection(path.relative_to(folder).parts)
    ]


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
