"""Where a trial runs: its folders, their owners, and which of them are kept."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tidegate.model.access import NetworkAccess, NetworkStep
from tidegate.model.event import CommandResult, End
from tidegate.model.plan import PlanRow
from tidegate.model.suite import Limits, Scenario
from tidegate.model.trial_spec import TrialSpec
from tidegate.trial.cost_meter import CostMeter
from tidegate.trial.processes import MEGABYTE, Account, Supervisor, run_shell
from tidegate.trial.safe_files import copy_plain, remove_trees
from tidegate.trial.sandbox.file_jail import SHARED, SHARED_MEMORY, FileRules
from tidegate.trial.sandbox.readable import is_within
from tidegate.trial.sandbox.supervisor.messages import Ended
from tidegate.trial.sandbox.users import make_private
from tidegate.trial.workspace import Prepared

LEAST_ROOM = 1 << 20  # bytes; a disk with less of it is full
LEAST_MEMORY = 1 << 30  # bytes that are free when a trial in memory begins


def has_memory() -> bool:
    """Return True if there is memory for the files of a small trial: in a container with a limit there is none."""
    try:
        limit = Path("/sys/fs/cgroup/memory.max")
        if limit.exists() and limit.read_text(encoding="ascii") != "max\n":
            return False
        free = int(Path("/proc/meminfo").read_text(encoding="ascii").partition("MemAvailable:")[2].split()[0]) << 10
        return min(free, room_of(SHARED_MEMORY)) >= LEAST_MEMORY
    except (OSError, IndexError):
        return False


def room_of(folder: Path | str) -> int:
    """Return the bytes that are free in the folder's file system."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


@dataclass(frozen=True)
class TrialDirectories:
    """What all trials of one scenario and side share."""

    prepared: Prepared  # with base's guidance files, if base has the scenario
    of_agent: Prepared  # the same with the side's own guidance files, as the agent finds it
    repo: Path  # the side's checkout
    definitions: Path  # the checkout that templates and scripts are read from
    path: str  # the side's PATH, for agents and the target
    target_path: str  # where the target is looked up
    check_path: str  # PATH of setup, gates and scripts
    wraps_target: bool  # for them a wrapper starts the target: of head they find nothing else
    agent_path: str  # where an agent's own program is looked up: nothing of either side's
    passed_env: Mapping[str, str]
    credentials: Mapping[str, str]  # the agent's own variables; only its own program gets them
    of_server: Mapping[str, str]  # the variables that are sent to an MCP server
    limits: Limits
    network: NetworkAccess
    untested: tuple[str, ...]  # see Trial
    hidden: Mapping[str, str]  # the system's programs that only head's `path` hides, by name
    readable: tuple[Path, ...]  # of the side's checkout
    of_checks: tuple[Path, ...] = ()  # what setup, gates and scripts may read besides
    front: Path | None = None  # of the scripts that `tidegate prove` puts in front of the tool

    @property
    def output_bytes(self) -> int:
        """The limit on what is read or kept of a command's output."""
        return int(self.limits.output_mb * MEGABYTE)


class Folders:
    """The folders of one trial.

    `record` is kept and is written while the trial runs, by Tidegate alone. `scratch` is deleted afterwards. What is in
    it belongs to the user that the trial's commands run as, except for `shared`, which they can only read.
    """

    def __init__(self, record: Path, scratch: Path) -> None:
        self.record, self.scratch = record, scratch
        self.workspace = scratch / "workspace"  # the agent's working directory
        self.home = scratch / "home"
        self.tmp = scratch / "tmp"  # TMPDIR
        self.check_tmp = scratch / "check-tmp"  # TMPDIR of checks, empty for each. The tool keeps its own.
        # First on the commands' PATH: the recorder, the prompt and, for scripts, transcript and events.
        self.shared = scratch / "shared"
        self.wrapped = self.shared / "for-checks"  # the target's wrapper for what judges it
        self.results = scratch / "results"  # where scripts can leave files that are kept in the record
        self.calls = scratch / "invocations.log"  # the FIFO that the recorder writes the target's calls to
        self.early_server = self.tmp / ".mcp-server"  # the socket at which an MCP server waits for the agent

    def as_shared(self, tmp: Path) -> Path:
        """Return what commands with that TMPDIR see as /tmp, where the system allows mounts: the same, unless in /tmp.

        There, folders that mounts need would appear in it.
        """
        return self.scratch / f"shared-{tmp.name}" if is_within(str(self.scratch), SHARED) else tmp

    def on_full_disk(self) -> Path | None:
        """Return the record or scratch folder if its disk is full, else None."""
        for folder in (self.record, self.scratch):
            disk = os.statvfs(folder)
            if room_of(folder) < LEAST_ROOM or (disk.f_files and not disk.f_favail):
                return folder
        return None

    def make(self, account: Account | None) -> None:
        """Create all folders except the workspace."""
        self.scratch.mkdir(parents=True)
        make_private(account, self.scratch)
        self.record.mkdir(parents=True, exist_ok=True)
        self.shared.mkdir(mode=0o755)
        _own_folder(self.home, account)
        self._make_tmp(self.tmp, account)

    def make_for_checks(self, account: Account | None) -> None:
        """Create what checks write. No process of the agent is left; it is an OSError if one has made them."""
        _own_folder(self.results, account)
        self._make_tmp(self.check_tmp, account)

    def empty_tmp(self, account: Account | None) -> None:
        """Give the next check an empty TMPDIR: what the tool left there while another one ran could answer for it."""
        folders = (self.check_tmp, self.as_shared(self.check_tmp))
        for folder in folders:
            with suppress(OSError):  # it is not empty, or gone
                folder.rmdir()
        remove_trees(*folders)
        self._make_tmp(self.check_tmp, account)

    def _make_tmp(self, tmp: Path, account: Account | None) -> None:
        for folder in dict.fromkeys((tmp, self.as_shared(tmp))):
            _own_folder(folder, account)
        self.as_shared(tmp).chmod(0o1777)

    def file_rules(self, checkout: Path, readable: Iterable[Path], tmp: Path) -> FileRules:
        """Return the files that the trial's commands may use: these folders, and what is readable of the checkout."""
        return FileRules(
            read=(*readable, self.shared),
            write=(self.workspace, self.home, *dict.fromkeys((self.tmp, tmp)), self.results),
            feed=(self.calls,),
            list=(self.scratch, checkout),
            tmp=self.as_shared(tmp),
        )

    def open_to_scripts(self) -> None:
        """Provide what scripts read besides the workspace: the transcript and the events."""
        for name in ("transcript.txt", "events.jsonl"):
            if (self.record / name).is_file():
                self.share(name)

    def share(self, name: str) -> Path:
        """Copy a file of the record to where the trial's commands can read it; return the copy's path."""
        return Path(shutil.copyfile(self.record / name, self.shared / name))

    def keep_results(self, limit_bytes: int) -> int:
        """Copy the regular files that scripts have left into the record; return how many entries were skipped."""
        if not self.results.exists():
            return 0
        return copy_plain(self.results, self.record / self.results.name, limit_bytes)

    def remove_scratch(self) -> None:
        """Delete everything except the record."""
        remove_trees(self.scratch)


def _own_folder(folder: Path, account: Account | None) -> None:
    folder.mkdir()
    if account is not None:
        os.chown(folder, *account)


class TimeLimits(NamedTuple):
    """Seconds that the agent, each setup command and each check may take, besides the suite's own limits.

    `after_hang`: each check, once the agent or another check of the trial was stopped for time.
    """

    agent: float = math.inf
    setup: float = math.inf
    check: float = math.inf
    after_hang: float = math.inf


UNLIMITED = TimeLimits()


@dataclass(frozen=True)
class Attempt:
    """One attempt at a trial: what runs, where, and within which limits."""

    spec: TrialSpec
    row: PlanRow
    place: TrialDirectories
    folders: Folders
    supervisor: Supervisor
    deadline: float  # when the run ends, on the monotonic clock
    on_step: Callable[[str], None]
    on_offer: Callable[[dict[str, Any]], None] = lambda _: None  # called with what an MCP server offers
    meter: CostMeter | None = None
    most_secs: TimeLimits = UNLIMITED
    has_proxy: bool = False  # the agent reaches its model by the model proxy
    server_port: int = 0  # at which agents reach an MCP server with a URL
    faults: dict[str, str] = field(default_factory=dict)  # filled while the trial runs, see TrialResult
    relayed: Callable[[], End | None] = lambda: None  # what the model proxy knows of the agent's requests by now

    def file_rules(self, step: NetworkStep) -> FileRules:
        """Return the files that this step's commands may use. What judges a trial is none of the agent's business."""
        folders, place = self.folders, self.place
        judged = (place.definitions,) if step == "gates" else ()
        judged = judged if step == "agent" else (*judged, *place.of_checks)
        front, spool = ((place.front, place.definitions), (place.front / "calls",)) if place.front else ((), ())
        tmp = folders.check_tmp if step == "gates" else folders.tmp
        rules = folders.file_rules(place.repo, (*place.readable, *judged, *front), tmp)
        return replace(rules, write=(*rules.write, *spool))

    async def command(
        self, line: str, name: str, env: Mapping[str, str], timeout_secs: float, **more: Any
    ) -> tuple[CommandResult, Ended]:
        """Run a command in the workspace by `run_shell`. `name`: of its output in the record."""
        return await run_shell(
            self.supervisor,
            line,
            cwd=self.folders.workspace,
            env=env,
            output=self.folders.record / name,
            timeout_secs=timeout_secs,
            limits=self.place.limits,
            **more,
        )

    @property
    def scenario(self) -> Scenario:
        """The scenario: the agent's task and how it is evaluated."""
        return self.row.scenario
