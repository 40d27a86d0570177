"""The tests of rows, trial by trial: a re-run of the same test goes on where it ended, and never starts again.

One folder for each test, by its key (fingerprint.py): what history it began with, and the trials of both sides with
their records. Only measured trials are kept, and those that lack nothing but the judge: the others are run again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.trial import Side
from tidegate.model.value import Value
from tidegate.store.run_folder import RunFolder, write_value

DAY = 86_400.0
SIDES: tuple[Side, Side] = ("base", "head")
_FILE = "test.json"


class Beginning(Value):
    """How a test began: when (seconds since the epoch), and with which trials of base's history.

    `counted`: which of its own trials, by their ids, that history has had from it since.
    """

    schema_version: Literal[1] = 1
    key: str
    at: float
    past: tuple[PastTrial, ...] = ()
    counted: tuple[str, ...] = ()


class ResumableTests:
    """The tests in a folder. `now`: seconds since the epoch."""

    def __init__(self, folder: Path, max_days: float, now: float) -> None:
        self._folder = folder / "tests"
        self._oldest = now - DAY * max_days
        self._now = now

    def begin(self, key: str, past: Sequence[PastTrial]) -> None:
        """Remember what a new test begins with."""
        shutil.rmtree(self._folder / key, ignore_errors=True)
        write_value(self._folder / key / _FILE, Beginning(key=key, at=self._now, past=tuple(past)))

    def begun(self, key: str) -> Beginning | None:
        """How this test began; None where there is none, or none that can be read or is young enough."""
        try:
            found = Beginning.model_validate_json((self._folder / key / _FILE).read_bytes())
        except (OSError, ValidationError):
            return None
        return found if found.key == key and found.at >= self._oldest else None

    def count(self, key: str, trials: Iterable[str]) -> None:
        """Note that base's history has these trials of the test from now on."""
        if (found := self.begun(key)) is not None:
            counted = tuple(dict.fromkeys((*found.counted, *trials)))
            write_value(self._folder / key / _FILE, found.model_copy(update={"counted": counted}))

    def keep(self, key: str, result: TrialResult, ran_in: RunFolder) -> None:
        """Keep a trial with its record, whole or not at all; one that was not measured only if judging it will do."""
        if result.decides is not None or result.not_measured == "judge":
            self._side(key, result.side).copy_trial(result, ran_in)

    def trials(self, key: str) -> Iterator[TrialResult]:
        """The trials of this test; what is damaged is left out, so that it is run again."""
        for side in SIDES:
            yield from (trial for trial in self._side(key, side).finished_trials() if trial.side == side)

    def take(self, key: str, result: TrialResult, into: RunFolder) -> TrialResult:
        """Store a trial of this test, with its record, in the run that uses it again, and pays nothing for it."""
        taken = result.model_copy(update={"reused": True, "judge_use": None})
        into.copy_trial(taken, self._side(key, result.side))
        return taken

    def remove_old(self) -> None:
        """Forget tests that are too old to go on."""
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if self.begun(folder.name) is None:
                shutil.rmtree(folder, ignore_errors=True)

    def _side(self, key: str, side: Side) -> RunFolder:
        return RunFolder(self._folder / key / side)
