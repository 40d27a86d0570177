"""The folder `.tidegate/proofs`: finished proofs, for trends, and the results of one that was interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from tidegate.history.our_folder import make_our_folder
from tidegate.history.run_folder import read_value, write_value
from tidegate.model.mutant import Mutant, MutantResult
from tidegate.model.plan import PlanRow
from tidegate.model.proof import Proof
from tidegate.model.revision import Revision
from tidegate.model.value import Value

MOST_PROOFS = 50  # older ones are deleted
DECIDED = ("caught", "alive", "no_change")


class _Line(Value):
    """A result in the journal."""

    tool: str
    result: MutantResult


class Journal:
    """The results of a proof so far, line by line in a file; without one, it stores nothing."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[tuple[str, Mutant], MutantResult] = {}
        self._reused = set[tuple[str, Mutant]]()
        lines = file.read_text(encoding="utf-8").splitlines() if file is not None and file.is_file() else []
        for text in lines:
            try:
                line = _Line.model_validate_json(text)
            except ValidationError:
                continue  # it was being written when the run was stopped
            self._known[line.tool, line.result.mutant] = line.result

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence if results of an interrupted proof were reused."""
        told = f"results of mutants from an interrupted run were reused: {len(self._reused)}"
        return (told,) if self._reused else ()

    def reuse(self, tool: str, mutant: Mutant) -> MutantResult | None:
        """Return the mutant's result if an interrupted proof has it, and count it as reused."""
        found = self._known.get((tool, mutant))
        self._reused |= set() if found is None else {(tool, mutant)}
        return found

    def add(self, tool: str, result: MutantResult) -> None:
        """Store a result, unless the mutant was not decided."""
        if self._file is not None and result.state in DECIDED:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(_Line(tool=tool, result=result).model_dump_json() + "\n")

    def finish(self) -> None:
        """Delete the file: the proof is complete. Results that it did not need stay, for a proof of more mutants."""
        if self._file is None:
            return
        self._file.unlink(missing_ok=True)
        for key, result in self._known.items():
            if key not in self._reused:
                self.add(key[0], result)


def journal(repo: Path, revision: Revision, rows: Iterable[PlanRow], version: str) -> Journal:
    """Return the journal of a proof of these rows at this commit. Uncommitted changes have none: they may change."""
    if revision.dirty:
        return Journal()
    parts = [version, revision.sha, *(row.model_dump_json() for row in rows)]
    name = sha256("\n".join(parts).encode()).hexdigest()[:16]
    return Journal(_folder(repo) / f"unfinished-{name}.jsonl")


def keep(repo: Path, proof: Proof) -> None:
    """Store a proof, and delete the oldest ones. The share of a partial one cannot be compared."""
    if proof.share is None or proof.partial:
        return
    folder = _folder(repo)
    name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(proof.at))
    write_value(folder / f"{name}-{proof.sha[:12]}.json", proof.model_copy(update={"trend": None}))
    for old in sorted(folder.glob("*.json"))[:-MOST_PROOFS]:
        old.unlink(missing_ok=True)


def earlier(repo: Path, proof: Proof) -> Proof | None:
    """Return the newest stored proof of another commit; with uncommitted changes, of the same one too."""
    for file in sorted(_folder(repo).glob("*.json"), reverse=True) if not proof.partial else ():
        found = read_value(file, Proof)
        if found and (proof.dirty or found.dirty or found.sha != proof.sha):
            return found
    return None


def _folder(repo: Path) -> Path:
    return make_our_folder(repo) / "proofs"
