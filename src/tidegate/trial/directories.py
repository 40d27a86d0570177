"""Where a trial runs, and with what: its folders, which of them outlives it, and whose they are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.model.event import End
from tidegate.model.plan import PlanRow
from tidegate.model.suite import Limits, Scenario
from tidegate.model.trial import TrialSpec
from tidegate.trial.cost_meter import CostMeter
from tidegate.trial.processes import MEGABYTE, Account, Supervisor
from tidegate.trial.safe_files import copy_file, copy_plain, remove_tree
from tidegate.trial.users import give, make_private
from tidegate.trial.workspace import Prepared

LEAST_ROOM = 1 << 20  # bytes; a disk with less of it is full


@dataclass(frozen=True)
class TrialDirectories:
    """Where and with what a trial is run; the same for all trials of one scenario and side."""

    prepared: Prepared
    repo: Path  # the side's checkout
    definitions: Path  # the checkout that says what the scenarios are: head's
    former: Path  # the one that says what they were: base's, where there are two
    path: str  # the side's PATH
    passed_env: Mapping[str, str]
    credentials: Mapping[str, str]  # the agent's own variables; nothing but its own program sees them
    limits: Limits

    @property
    def output_bytes(self) -> int:
        """The most that is read or kept of what a command leaves."""
        return int(self.limits.output_mb * MEGABYTE)


@dataclass(frozen=True)
class Folders:
    """A trial's own folders.

    `record` outlives the trial and is written while it runs, by us alone. All below `scratch` is gone afterwards; it
    belongs to the user that the trial's commands run as, but for `shared`, which they can only read.
    """

    record: Path
    scratch: Path

    @property
    def workspace(self) -> Path:
        """The agent's working directory."""
        return self.scratch / "workspace"

    @property
    def home(self) -> Path:
        """HOME."""
        return self.scratch / "home"

    @property
    def tmp(self) -> Path:
        """TMPDIR."""
        return self.scratch / "tmp"

    @property
    def shared(self) -> Path:
        """What the trial's commands may see of the record: the prompt; for scripts the transcript and the events."""
        return self.scratch / "shared"

    @property
    def results(self) -> Path:
        """Where scripts may leave files that are kept in the record."""
        return self.shared / "results"

    @property
    def calls(self) -> Path:
        """Where the recorder notes the target's calls."""
        return self.shared / "invocations.log"

    def on_full_disk(self) -> Path | None:
        """Which of them stands on a disk that has no room for anything."""
        for folder in (self.record, self.scratch):
            disk = os.statvfs(folder)
            if disk.f_bavail * disk.f_frsize < LEAST_ROOM or (disk.f_files and not disk.f_favail):
                return folder
        return None

    def make(self, account: Account | None) -> None:
        """Make them, all but the workspace."""
        self.scratch.mkdir(parents=True)
        make_private(account, self.scratch)
        self.record.mkdir(parents=True, exist_ok=True)
        self.shared.mkdir(mode=0o755)
        self.calls.touch()
        for folder in (self.home, self.tmp, self.results):
            folder.mkdir()
        give(account, self.home, self.tmp, self.results, self.calls)

    def share(self, name: str) -> Path:
        """Let the trial's commands read a file of the record; returns where they find it."""
        return Path(shutil.copyfile(self.record / name, self.shared / name))

    def keep_calls(self) -> None:
        """Put the recorder's notes into the record."""
        copy_file(self.calls, self.record / self.calls.name)

    def keep_results(self, limit_bytes: int) -> int:
        """Put what scripts have left into the record, plain files alone; returns how many entries were left out."""
        return copy_plain(self.results, self.record / self.results.name, limit_bytes)

    def remove_scratch(self) -> None:
        """Delete all but the record."""
        remove_tree(self.scratch)


def _nothing_relayed() -> None:
    """There is no relay."""


@dataclass(frozen=True)
class Attempt:
    """One try at a trial: what is run, where, and how far it may go."""

    spec: TrialSpec
    row: PlanRow
    place: TrialDirectories
    folders: Folders
    supervisor: Supervisor
    deadline: float  # of the run, on the monotonic clock
    on_step: Callable[[str], None]
    meter: CostMeter | None = None
    relayed: Callable[[], End | None] = _nothing_relayed  # what the model proxy knows of the agent's requests by now

    @property
    def scenario(self) -> Scenario:
        """What the agent is asked to do, and how that is judged."""
        return self.row.scenario
