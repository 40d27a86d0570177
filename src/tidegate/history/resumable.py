"""Stores the trials of each row's test, so that a re-run resumes the test instead of starting over.

Each test has a folder named by its key (fingerprint.py). It holds the history that the test started with, and the
trials of both sides with their records. Only measured trials are kept, and those that lack only the judge's answers.
All others are run again. One run at a time works on the tests of a folder.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tidegate.errors import CannotRunError
from tidegate.history.run_folder import RunFolder, write_value
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.row_replay import RowReplay
from tidegate.model.trial_spec import Side
from tidegate.model.value import Value

DAY = 86_400.0
SIDES: tuple[Side, Side] = ("base", "head")
_FILE, _REPLAY = "test.json", "replay.json"


class Beginning(Value):
    """The start of a test: its time in seconds since the epoch, and the trials of base's history at that time.

    `counted`: ids of the test's own trials that have been added to the history since.
    """

    schema_version: Literal[1] = 1
    key: str
    at: float
    past: tuple[PastTrial, ...] = ()
    counted: tuple[str, ...] = ()


class Replayed(Value):
    """What base's recorded sessions show in a test. `sessions`: a hash of them."""

    sessions: str
    found: RowReplay


class ResumableTests:
    """The resumable tests in a folder. `now` is in seconds since the epoch."""

    def __init__(self, folder: Path, max_days: float, now: float) -> None:
        self._folder = folder / "tests"
        self._lock = folder / "tests.lock"
        self._oldest = now - DAY * max_days
        self._now = now

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out. Raises CannotRunError if another run works on the tests.

        Two runs of one test would remove each other's trials, and each would have a chance of its own to pass.
        """
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with self._lock.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                where = self._folder.parent
                raise CannotRunError(
                    f"{where}: another run is using this store.",
                    "Wait until it has ended, or run in another clone.",
                ) from None
            yield

    def begin(self, key: str, past: Sequence[PastTrial]) -> None:
        """Start a new test and record the history that it starts with."""
        shutil.rmtree(self._folder / key, ignore_errors=True)
        write_value(self._folder / key / _FILE, Beginning(key=key, at=self._now, past=tuple(past)))

    def begun(self, key: str) -> Beginning | None:
        """Return the start of this test, or None if it is missing, damaged or too old."""
        try:
            found = Beginning.model_validate_json((self._folder / key / _FILE).read_bytes())
        except (OSError, ValidationError):
            return None
        return found if found.key == key and found.at >= self._oldest else None

    def count(self, key: str, trials: Iterable[str]) -> None:
        """Record that base's history now contains these trials of the test."""
        if (found := self.begun(key)) is not None:
            counted = tuple(dict.fromkeys((*found.counted, *trials)))
            write_value(self._folder / key / _FILE, found.model_copy(update={"counted": counted}))

    def keep(self, key: str, result: TrialResult, ran_in: RunFolder) -> None:
        """Store a trial with its record if it was measured, or if only the judge's answers are missing."""
        if result.decides is not None or result.not_measured in ("judge", "unreadable_judge"):
            self._side(key, result.side).copy_trial(result, ran_in)

    def trials(self, key: str) -> Iterator[TrialResult]:
        """Yield the stored trials of this test. Damaged ones are skipped, so that they are run again."""
        for side in SIDES:
            yield from (trial for trial in self._side(key, side).finished_trials() if trial.side == side)

    def replayed(self, key: str, sessions: str) -> RowReplay | None:
        """Return what replaying these sessions showed in this test, or None if it is missing or damaged."""
        try:
            found = Replayed.model_validate_json((self._folder / key / _REPLAY).read_bytes())
        except (OSError, ValidationError):
            return None
        return found.found if found.sessions == sessions else None

    def keep_replay(self, key: str, found: RowReplay, sessions: str) -> None:
        """Store what replaying these sessions showed."""
        write_value(self._folder / key / _REPLAY, Replayed(sessions=sessions, found=found))

    def take(self, key: str, result: TrialResult, into: RunFolder) -> TrialResult:
        """Copy a stored trial and its record into `into`. It is marked as reused and adds no judge cost."""
        taken = result.model_copy(update={"reused": True, "judge_use": None})
        into.copy_trial(taken, self._side(key, result.side))
        return taken

    def remove_old(self) -> None:
        """Delete tests that are damaged or too old to resume."""
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if self.begun(folder.name) is None:
                shutil.rmtree(folder, ignore_errors=True)

    def _side(self, key: str, side: Side) -> RunFolder:
        return RunFolder(self._folder / key / side)
