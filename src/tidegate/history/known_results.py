"""Reads and writes what earlier runs know: base's history, and the trials of tests to resume.

Each test has a folder named by its key (fingerprint.py). It holds the history that the test started with, and the
trials of both sides with their records. Only trials that are measured and judged are kept. All others are run again.
One run at a time works on the tests of a folder.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Literal, NamedTuple

from tidegate.agents.invocations.shapes import shapes_of, unseen_share
from tidegate.decide.trust import not_judged
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.history.branch import Origin, copy_to, fetch, require_writable, write
from tidegate.history.fingerprint import fingerprint_at
from tidegate.history.our_folder import OUR_FOLDER, make_our_folder
from tidegate.history.pushes import Pushes
from tidegate.history.run_folder import AnswerStore, RunFolder, read_value, write_value
from tidegate.history.store import History, ReadSessions
from tidegate.model.measurement import PastTrial, Run, TrialResult, by_row
from tidegate.model.plan import Plan, RowKey
from tidegate.model.run_row import LEAST
from tidegate.model.suite import Suite
from tidegate.model.trial import SessionRecord
from tidegate.model.trial_spec import Side, is_inside
from tidegate.model.value import Value
from tidegate.vcs.revisions import repository_root, tracked_files

DAY = 86_400.0
SIDES: tuple[Side, Side] = ("base", "head")
_FILE = "test.json"
_LOST = "lost"  # an empty file, once head has lost a trial for a cause inside


class Known(NamedTuple):
    """What is known before the first trial: base's history, trials of the same tests, and warnings.

    `resumed`: the rows whose tests an earlier run has begun.
    """

    past: tuple[PastTrial, ...] = ()
    results: tuple[TrialResult, ...] = ()
    warnings: tuple[str, ...] = ()
    resumed: frozenset[RowKey] = frozenset()


class KnownResults:
    """Access to the results of earlier runs of this repository; also stores this run's results for later ones."""

    def __init__(
        self,
        root: Path,
        suite: Suite,
        stores: Mapping[Side, RunFolder],
        *,
        remembers: bool = True,
        origin: Origin | None = None,
    ) -> None:
        self._adds = suite.store.type == "directory"  # only default-branch jobs write to a branch
        self._history: History | None = None
        self._ignored: tuple[str, ...] = ()
        if remembers:
            self._history, self._ignored = read_history(root, suite, origin)
        self._tests = ResumableTests(_own_folder(root, suite), suite.store.max_days, time.time()) if remembers else None
        self._stores = stores
        self._fingerprints: Mapping[RowKey, str] = {}
        self._keys: Mapping[RowKey, str] = {}

    def alone(self) -> AbstractContextManager[None]:
        """Keep other runs out of the tests to resume. Raises CannotRunError if another run works on them."""
        return self._tests.alone() if self._tests is not None else nullcontext()

    def begin(
        self, fingerprints: Mapping[RowKey, str], keys: Mapping[RowKey, str], foreign: Container[str] = ()
    ) -> Known:
        """Resume the tests that an earlier run started, and start the others with base's history.

        `keys` identifies the rows' tests (fingerprint.py). A resumed test keeps the history that it started with, so
        that its own trials, added since, are not counted twice. It starts again if head has lost a trial in it, or if
        base has failed apart from a pull request since, so that base is known to fail. `foreign` holds the commits that
        base does not have.
        """
        self._fingerprints, self._keys = fingerprints, keys
        if self._history is None or self._tests is None:
            return Known()
        self._tests.remove_old()
        read = self._history.read(fingerprints, foreign)
        past = by_row(read.trials)
        begun = {
            row: found
            for row, key in keys.items()
            if (found := self._tests.begun(key)) is not None and not _failed_since(found.at, past[row])
        }
        for row, key in keys.items():
            if row not in begun:
                self._tests.begin(key, past[row])
        results = [
            self._tests.take(keys[row], result, self._stores[result.side])
            for row in begun
            for result in self._tests.trials(keys[row])
        ]
        known = [trial for found in begun.values() for trial in found.past]
        known += [trial for trial in read.trials if trial.key not in begun]
        return Known(tuple(known), tuple(results), (*self._ignored, *read.warnings), frozenset(begun))

    def versions(self) -> dict[str, str]:
        """Return the agents' versions at the last time that history was added; no agent is asked."""
        return self._history.versions() if self._history else {}

    def keep(self, result: TrialResult) -> None:
        """Store a new trial, so that a later run can resume its test."""
        if self._tests is not None and (key := self._keys.get(result.key)) is not None:
            self._tests.keep(key, result, self._stores[result.side])

    def sessions(self, foreign: Container[str] = ()) -> ReadSessions:
        """Return base's recorded sessions of the rows that `begin` was given. `foreign`: commits that base lacks."""
        return self._history.sessions.read(self._fingerprints, foreign) if self._history else ReadSessions({})

    def add(self, base: Run, sessions: Iterable[SessionRecord]) -> None:
        """Add base's new trials and sessions to the history if it is a folder; those of earlier runs are left out."""
        if self._history is not None and self._adds:
            new = past_trials(base, beside_head=True)
            self._history.sessions.add(self._fingerprints, sessions)
            self._history.add(self._fingerprints, new)
            self._history.prune()
            self._history.remember({name: agent.version for name, agent in base.agents.items()})


def open_history(root: Path, suite: Suite) -> History:
    """Return the history. Raises ConfigurationError if the folder of `store` is part of the commit."""
    return read_history(root, suite, None)[0]


def keep_history(root: Path, suite: Suite, add: Callable[[History], None], origin: Origin | None) -> str:
    """Let `add` write base's history, in a folder or on a branch, and return where that is.

    `add` may be called several times; each time it starts without its earlier additions. Raises NotKeptError if
    nothing can be added.
    """
    require_keepable(root, suite, origin)
    if suite.store.type == "branch":
        write(root, suite.store, origin, add, time.time())
        yours = "" if origin else ", which is yours to push"
        return f"on the branch `{suite.store.name}`{yours}"
    history = open_history(root, suite)
    add(history)
    history.prune()
    return f"in `{suite.store.path}`"


def require_keepable(root: Path, suite: Suite, origin: Origin | None) -> None:
    """Raise NotKeptError if it is already known that nothing can be added to base's history."""
    if suite.store.type == "branch":
        require_writable(suite.store, origin)
    else:
        _own_folder(root, suite)


def read_history(root: Path, suite: Suite, origin: Origin | None) -> tuple[History, tuple[str, ...]]:
    """Return the history and warnings. A branch is first copied to a folder, after a fetch if there is an `origin`."""
    folder = _own_folder(root, suite)
    if suite.store.type == "directory":
        return History(folder, suite.store, time.time()), ()
    name, copied = suite.store.name, folder / "branch"
    unreached = fetch(root, name, origin) if origin else None
    ignored = copy_to(root, name, copied, origin)
    return History(copied, suite.store, time.time()), (*([unreached] if unreached else ()), *ignored)


def open_pushes(root: Path, suite: Suite, names: tuple[str, ...], keys: Iterable[str]) -> Pushes:
    """Return the pushes of the pull request with these names."""
    return Pushes(_own_folder(root, suite), names, keys, suite.store.max_days, time.time())


def _own_folder(root: Path, suite: Suite) -> Path:
    """Return the folder of `store`. Raises ConfigurationError if it, or a link that leads to it, is part of the commit.

    A pull request could otherwise write base's history, or by one file have all that is stored ignored.
    """
    root = root.resolve()
    named = root / suite.store.path
    real = named.resolve()
    inside = {str(path.relative_to(root)) for path in (named, real) if path.is_relative_to(root)}
    linked = real != named and tracked_files(root, Path(suite.store.path).parts[0])
    if linked or any(tracked_files(root, path) for path in inside):
        raise ConfigurationError(
            f"{suite.store.path} is part of the commit, so that a pull request could write what base's trials showed.",
            f"Run `git rm -r --cached {suite.store.path}`, add it to .gitignore, and commit that.",
        )
    if named.is_relative_to(root / OUR_FOLDER):
        make_our_folder(root)  # git ignores it, so that the store is not committed by accident
    return named


def open_answers(root: Path, suite: Suite) -> AnswerStore:
    """Return the judge's stored answers."""
    return AnswerStore(_own_folder(root, suite) / "judge")


def history_counts(folder: Path, suite: Suite, plan: Plan) -> dict[RowKey, tuple[int, int]]:
    """Return (passes, trials) from the history for each non-deterministic row of the suite in a folder of a repository.

    No agent runs to report its version; the version is taken from the last time that history was added.
    """
    from tidegate.decide.comparison.compare import past_by_row  # only here: a run of one side needs no comparison

    history = open_history(repository_root(folder), suite)
    prints = _fingerprints(folder, suite, plan, history)
    past = past_by_row(history.read(prints).trials)
    return {key: past[key].counts if key in past else (0, 0) for key in prints}


def replayable_rows(root: Path, suite: Suite, plan: Plan) -> frozenset[RowKey]:
    """Return the rows that `replay: {use: skip}` leaves to recorded sessions if a pull request changes nothing."""
    from tidegate.decide.replay.decide import shapes_by_session  # only here: a run of one side needs no comparison

    history = open_history(root, suite)
    prints = _fingerprints(root, suite, plan, history)
    past, sessions = by_row(history.read(prints).trials), history.sessions.read(prints).by_row
    unseen = {key: unseen_share(shapes_by_session(past[key])) for key in sessions}
    return frozenset(
        key
        for key, own in sessions.items()
        if len(own) >= LEAST and own[0].passed and unseen[key] <= suite.policy.replay.max_unseen
    )


def _fingerprints(root: Path, suite: Suite, plan: Plan, history: History) -> dict[RowKey, str]:
    """Return the fingerprints of the rows that chance has a part in, by the versions that agents had at last."""
    versions = history.versions()
    return {
        row.key: fingerprint_at(root, row, suite, versions.get(row.key.agent))
        for row in plan.rows
        if not row.deterministic
    }


def past_trials(run: Run, *, beside_head: bool = False) -> list[PastTrial]:
    """Return a run's measured trials as history entries, except those of earlier runs, which the history has."""
    trials = ((run.started_at + number / 1000, trial) for number, trial in enumerate(run.trials))
    kept = (past_trial(trial, at, run.revision.sha) for at, trial in trials if not trial.reused)
    return [trial.model_copy(update={"beside_head": beside_head}) for trial in kept if trial is not None]


def without_failed_rows(trials: Sequence[TrialResult]) -> list[TrialResult]:
    """Return those of base's trials beside a pull request that may enter its history: of rows without a failure.

    Head can be the reason for a failure, and the other trials of the row alone would make it look better than it is.
    """
    failed = {trial.key for trial in trials if trial.decides == "fail"}
    return [trial for trial in trials if trial.key not in failed]


def _failed_since(at: float, past: Iterable[PastTrial]) -> bool:
    """Return True if all trials of base since then that were measured apart from a pull request failed."""
    since = [trial.decides for trial in past if trial.at > at and not trial.beside_head]
    return bool(since) and "pass" not in since


def past_trial(trial: TrialResult, at: float, sha: str, *, merged: bool = False) -> PastTrial | None:
    """Return a trial as an entry of the history; None if it was not measured."""
    if trial.decides is None:
        return None
    return PastTrial(
        scenario=trial.scenario,
        agent=trial.agent,
        decides=trial.decides,
        at=at,
        sha=sha,
        merged=merged,
        uses=trial.invocations.uses,
        shapes=shapes_of(trial),
        rewritten=trial.rewritten,
        made=trial.made,
        faults=trial.faults,
        end=trial.end,
        metrics=trial.metrics,
        around_s=trial.around_s,
    )


class Beginning(Value):
    """The start of a test: its time in seconds since the epoch, and the trials of base's history at that time."""

    schema_version: Literal[1] = 1
    key: str
    at: float
    past: tuple[PastTrial, ...] = ()


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
        """Return the start of this test, or None if it is missing, damaged, too old, or head has lost a trial in it."""
        if (self._folder / key / _LOST).exists():
            return None
        found = read_value(self._folder / key / _FILE, Beginning)
        return found if found and found.key == key and found.at >= self._oldest else None

    def keep(self, key: str, result: TrialResult, ran_in: RunFolder) -> None:
        """Store a trial with its record if it was measured. A pass that the judge could not judge is run again.

        Once head has lost one for a cause inside, all of the test is run again: else only its passes would be kept.
        """
        if result.side == "head" and result.not_measured is not None and is_inside(result.not_measured):
            (self._folder / key / _LOST).touch()
        if result.decides == "fail" or (result.decides is not None and not not_judged(result)):
            self._side(key, result.side).copy_trial(result, ran_in)

    def trials(self, key: str) -> Iterator[TrialResult]:
        """Yield the stored trials of this test. Damaged ones are skipped, so that they are run again."""
        for side in SIDES:
            yield from (trial for trial in self._side(key, side).finished_trials() if trial.side == side)

    def take(self, key: str, result: TrialResult, into: RunFolder) -> TrialResult:
        """Copy a stored trial and its record into `into`. It is marked as reused and adds no judge cost."""
        taken = result.model_copy(update={"reused": True, "judge_use": None})
        into.copy_trial(taken, self._side(key, result.side))
        return taken

    def remove_old(self) -> None:
        """Delete tests that cannot be resumed."""
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if self.begun(folder.name) is None:
                shutil.rmtree(folder, ignore_errors=True)

    def _side(self, key: str, side: Side) -> RunFolder:
        return RunFolder(self._folder / key / side)
