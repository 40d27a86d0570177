"""The guidance files of a suite, and checkouts in which one of them is changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tidegate.model.mutant import Mutant
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.suite import Suite
from tidegate.mutants.listed import changed_guidance
from tidegate.trial.workspace import initial_state, matching_files


class Guidance(NamedTuple):
    """The guidance files, relative to the checkout: those of each row, and the texts of all."""

    files: dict[RowKey, tuple[str, ...]]
    texts: dict[str, str]

    @classmethod
    def of(cls, checkout: Path, suite: Suite, rows: Sequence[PlanRow]) -> Guidance:
        """Return the guidance of these rows. A file of a template replaces the repository's of the same name."""
        files: dict[RowKey, tuple[str, ...]] = {}
        for row in rows:
            globs, template = row.scenario.guidance_or(suite.guidance), row.scenario.template
            found = {name: name for name in matching_files(checkout, globs)}
            if template is not None:
                folder = initial_state(checkout, template)
                inside = folder.relative_to(checkout).as_posix()
                found |= {name: f"{inside}/{name}" for name in matching_files(folder, globs)}
            files[row.key] = tuple(found.values())
        names = dict.fromkeys(name for own in files.values() for name in own)
        return cls(files, {name: (checkout / name).read_text(errors="replace") for name in names})

    def changed(self, mutant: Mutant, folder: Path) -> Path:
        """Write all guidance files into the folder, one of them changed, and return the folder."""
        for name, text in self.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(changed_guidance(mutant, text) if name == mutant.file else text)
        return folder
