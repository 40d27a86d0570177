"""Stores base's earlier trials and recorded sessions: one file per fingerprint, limited by count and age."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from tidegate.history.run_folder import write_text
from tidegate.model.measurement import PastTrial, by_row
from tidegate.model.plan import RowKey
from tidegate.model.suite import Store
from tidegate.model.trial import SessionRecord
from tidegate.model.value import Value
from tidegate.text.redaction import without_secrets

MOST = 10  # sessions per row
DAY = 86_400.0
TRIALS, SESSIONS = ".jsonl", ".sessions"  # how the names of the files end
Sessions = tuple[SessionRecord, ...]
V = TypeVar("V", PastTrial, SessionRecord)


def _values(path: Path, kind: type[V], key: RowKey | None = None) -> tuple[list[V], int]:
    """Return the values in the file, one per line, and how many lines are ignored: damaged, or of another row."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return [], 0
    found = []
    for line in lines:
        with suppress(ValidationError):
            value = kind.model_validate_json(line)
            found += [value] if key in (None, value.key) else []
    return found, len(lines) - len(found)


def _write(path: Path, values: Iterable[Value]) -> None:
    """Write the values, one per line. Without any, there is no file."""
    whole = "".join(f"{value.model_dump_json()}\n" for value in values)
    if not whole:
        path.unlink(missing_ok=True)
    elif not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != whole:
        write_text(path, whole)


class ReadSessions(NamedTuple):
    """The sessions of each row, the best first, and one warning for each row with damaged ones."""

    by_row: dict[RowKey, Sessions]
    warnings: tuple[str, ...] = ()


class SessionStore:
    """The sessions in a folder. `now` is in seconds since the epoch."""

    def __init__(self, folder: Path, limits: Store, now: float) -> None:
        self._folder = folder
        self._oldest = now - DAY * limits.max_days
        self._newest = now + DAY

    def read(self, fingerprints: Mapping[RowKey, str], foreign: Container[str] = ()) -> ReadSessions:
        """Return the sessions of these rows. Those recorded on the commits in `foreign` are not base's: ignored."""
        found: dict[RowKey, Sessions] = {}
        warnings: list[str] = []
        for key, fingerprint in fingerprints.items():
            good, ignored = _values(self._path(fingerprint), SessionRecord, key)
            if ignored:
                warnings.append(f"recorded sessions of {key}: {ignored} ignored: damaged, or of another row")
            if kept := self._best(session for session in good if session.sha not in foreign):
                found[key] = kept
        return ReadSessions(found, tuple(warnings))

    def add(self, fingerprints: Mapping[RowKey, str], sessions: Iterable[SessionRecord]) -> None:
        """Add these sessions, within the limits. Dropped: rows without a fingerprint, and sessions that show a secret.

        Without its secret, a session cannot be replayed: commands and outputs would differ.
        """
        for session in sessions:
            fingerprint = fingerprints.get(session.key)
            if fingerprint and without_secrets(session) == session:
                known, _ = _values(self._path(fingerprint), SessionRecord, session.key)
                if session not in known:
                    _write(self._path(fingerprint), self._best([*known, session]))

    def prune(self) -> None:
        """Remove damaged and expired sessions, and files without any."""
        for path in self._folder.glob(f"*{SESSIONS}"):
            _write(path, self._best(_values(path, SessionRecord)[0]))

    def _best(self, sessions: Iterable[SessionRecord]) -> Sessions:
        """Return the newest that can be replayed, those that passed first."""
        young = [one for one in sessions if not one.problem and self._oldest <= one.at <= self._newest]
        return tuple(sorted(young, key=lambda one: (not one.passed, -one.at))[:MOST])

    def _path(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint}{SESSIONS}"


VERSIONS = "versions.json"
_versions = TypeAdapter(dict[str, str])


# For rows that are left without a history. Where other trials remain, it is of no interest.
ELSEWHERE = "history: {} stored trials do not count: they were measured on commits that the base branch does not have"


class ReadTrials(NamedTuple):
    """The trials of the requested rows, oldest first, and warnings about those that do not count."""

    trials: tuple[PastTrial, ...]
    warnings: tuple[str, ...]


class History:
    """The history stored in a folder. `now` is in seconds since the epoch."""

    def __init__(self, folder: Path, limits: Store, now: float) -> None:
        self._folder = folder / "history"
        self._limits = limits
        self._now = now

    @property
    def sessions(self) -> SessionStore:
        """Return the recorded sessions, which are stored beside the trials."""
        return SessionStore(self._folder, self._limits, self._now)

    def read(self, fingerprints: Mapping[RowKey, str], foreign: Container[str] = ()) -> ReadTrials:
        """Return the history of these rows. Damaged or unrelated lines are ignored with a warning, never an error.

        `foreign` holds the commits that base's branch does not have. Trials measured on them are left out, because they
        do not describe base, unless they were added when a pull request was merged.
        """
        trials: list[PastTrial] = []
        warnings: list[str] = []
        elsewhere = 0
        for key, fingerprint in fingerprints.items():
            stored, ignored = _values(self._path(fingerprint), PastTrial, key)
            of_base = [trial for trial in stored if trial.merged or trial.sha not in foreign]
            trials += self._capped(of_base)
            if ignored:
                warnings.append(f"history of {key}: {ignored} ignored: damaged, or of another row or version")
            elsewhere += 0 if of_base else len(stored)
        if elsewhere:
            warnings.append(ELSEWHERE.format(elsewhere))
        return ReadTrials(tuple(trials), tuple(warnings))

    def add(self, fingerprints: Mapping[RowKey, str], trials: Iterable[PastTrial]) -> None:
        """Add these trials, within the limits. Trials of rows without a fingerprint are dropped."""
        for key, more in by_row(without_secrets(trial) for trial in trials).items():
            if fingerprint := fingerprints.get(key):
                known, _ = _values(self._path(fingerprint), PastTrial, key)
                _write(self._path(fingerprint), self._capped([*known, *(one for one in more if one not in known)]))

    def prune(self) -> None:
        """Remove damaged, expired and surplus trials and sessions. Age is taken from them, not from the files."""
        self.sessions.prune()
        for path in self._folder.glob(f"*{TRIALS}"):
            _write(path, self._capped(_values(path, PastTrial)[0]))

    def remember(self, versions: Mapping[str, str | None]) -> None:
        """Store the versions of the agents' programs, so that fingerprints can be computed without running an agent."""
        known = {name: version for name, version in versions.items() if version is not None}
        if known:
            write_text(
                self._folder / VERSIONS, json.dumps({**self.versions(), **known}, indent=1, sort_keys=True) + "\n"
            )

    def versions(self) -> dict[str, str]:
        """Return the stored version of each agent's program; empty if the file is missing or cannot be read."""
        try:
            return _versions.validate_json((self._folder / VERSIONS).read_bytes())
        except (OSError, ValidationError):
            return {}

    def _path(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint}{TRIALS}"

    def _capped(self, trials: Iterable[PastTrial]) -> list[PastTrial]:
        """Return the newest trials within the limits, oldest first. Trials dated more than a day ahead are dropped."""
        youth = self._now - DAY * self._limits.max_days
        young = sorted((trial for trial in trials if youth <= trial.at <= self._now + DAY), key=lambda trial: trial.at)
        return young[-self._limits.max_trials :]
