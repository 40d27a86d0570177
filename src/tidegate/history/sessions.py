"""Stores recorded sessions of base: one file per fingerprint, one line per session, the best ten of each row."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from tidegate.history.run_folder import write_text
from tidegate.model.plan import RowKey
from tidegate.model.suite import Store
from tidegate.model.trial import Session
from tidegate.model.value import Value
from tidegate.text.redaction import without_secrets

MOST = 10  # sessions per row
SUFFIX = ".sessions"
DAY = 86_400.0
Sessions = tuple[Session, ...]


class _Entry(Value):
    """One line of a file. `digest` is a hash of the rest and reveals a damaged line."""

    fingerprint: str
    session: Session
    digest: str = ""

    @property
    def sealed(self) -> _Entry:
        text = self.model_copy(update={"digest": ""}).model_dump_json()
        return self.model_copy(update={"digest": hashlib.sha256(text.encode()).hexdigest()})

    def is_of(self, fingerprint: str, key: RowKey) -> bool:
        """Return True if the session was recorded with this fingerprint, in this row."""
        return self.fingerprint == fingerprint and self.session.key == key


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
            entries = list(self._entries(fingerprint))
            good = [one.session for one in entries if one and one.is_of(fingerprint, key)]
            if damaged := len(entries) - len(good):
                warnings.append(f"recorded sessions of {key}: {damaged} ignored: damaged, or of another row")
            if kept := self._best(session for session in good if session.sha not in foreign):
                found[key] = kept
        return ReadSessions(found, tuple(warnings))

    def add(self, fingerprints: Mapping[RowKey, str], sessions: Iterable[Session]) -> None:
        """Add these sessions, within the limits. Dropped: rows without a fingerprint, and sessions that show a secret.

        Without its secret, a session cannot be replayed: commands and outputs would differ.
        """
        for session in sessions:
            fingerprint = fingerprints.get(session.key)
            if fingerprint and without_secrets(session) == session:
                entries = self._entries(fingerprint)
                known = [one.session for one in entries if one and one.is_of(fingerprint, session.key)]
                if session not in known:
                    self._write(fingerprint, self._best([*known, session]))

    def prune(self) -> None:
        """Remove damaged, foreign and expired sessions, and files without any."""
        for path in self._folder.glob(f"*{SUFFIX}"):
            entries = self._entries(path.stem)
            self._write(path.stem, self._best(one.session for one in entries if one and one.fingerprint == path.stem))

    def _best(self, sessions: Iterable[Session]) -> Sessions:
        """Return the newest that can be replayed, those that passed first."""
        young = [one for one in sessions if not one.problem and self._oldest <= one.at <= self._newest]
        return tuple(sorted(young, key=lambda one: (not one.passed, -one.at))[:MOST])

    def _entries(self, fingerprint: str) -> Iterator[_Entry | None]:
        """Yield what each line holds; None if it is damaged."""
        try:
            lines = (self._folder / f"{fingerprint}{SUFFIX}").read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                entry = _Entry.model_validate_json(line)
            except ValidationError:
                yield None
                continue
            yield entry if entry == entry.sealed else None

    def _write(self, fingerprint: str, sessions: Sessions) -> None:
        path = self._folder / f"{fingerprint}{SUFFIX}"
        lines = [_Entry(fingerprint=fingerprint, session=one).sealed.model_dump_json() for one in sessions]
        text = "".join(f"{line}\n" for line in lines)
        if not text:
            path.unlink(missing_ok=True)
        elif not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text:
            write_text(path, text)
