"""Finds out how this machine can confine files, and says what every command of a run may use."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from tidegate.model.access import FileAccess
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.trial.directories import make_shared_tmp
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.file_jail import SHARED_MEMORY, FileJail, FileRules, Means, means_to_confine
from tidegate.trial.sandbox.readable import home_folders, is_within, readable_folders
from tidegate.vcs.revisions import main_folder

_SAID = {
    (True, True): "files by Landlock and own mounts",
    (True, False): "files by Landlock",
    (False, True): "files by own mounts",
    (False, False): "files not confined",
}


class SlotFiles:
    """What the commands of a run may use. `choose` comes before the first `jail`."""

    def __init__(self, suite: Suite, scratch: Path, progress: Progress) -> None:
        self._suite = suite
        self._scratch = scratch
        self._progress = progress
        self._means: Means | None = None
        self._repositories: dict[Path, Path] = {}  # by checkout
        self.jail: FileJail | None = None

    async def choose(self, environ: Mapping[str, str], checkouts: Sequence[Path]) -> None:
        """Find out what this machine has; say it if files cannot be confined.

        This comes before builds, which can change what a checkout's `.git` says, and own it: git then refuses it.
        """
        suite = self._suite
        means = self._means = await means_to_confine()
        if not (means.landlock or means.mounts):
            self._progress.say(f"trials can use all files of their user: {means.lacking}")
        homes = home_folders(environ)
        self._repositories = {folder: main_folder(folder) for folder in checkouts}
        protected = [*homes, str(self._scratch), *map(str, self._repositories.values())]
        in_memory = () if means.mounts else tuple(path for path in protected if is_within(path, [SHARED_MEMORY]))
        if means.landlock and in_memory:
            said = f"trials have no {SHARED_MEMORY}: they would reach {', '.join(in_memory)}"
            self._progress.say(f"{said}. If they need shared memory, move that elsewhere (TMPDIR is for scratch files)")
        passed = [environ[name] for name in suite.pass_env if name in environ]
        home = environ.get("HOME", "/")
        access = FileAccess(read=_places(suite.files.read, home), write=_places(suite.files.write, home))
        self.jail = FileJail(
            means=means,
            access=access,
            read=(
                *readable_folders(environ.get("PATH", ""), passed, homes, protected),
                str(self._scratch / "system-programs"),
            ),
            hidden=tuple(homes),
            shared_memory=not in_memory,
        )

    @property
    def confinement(self) -> tuple[str, ...]:
        """Return how files and system calls are confined, for the result."""
        means = self._means
        if means is None:
            return ()
        return _SAID[means.landlock, means.mounts], f"system calls {'' if means.calls else 'not '}filtered"

    def of_build(self, checkout: Path) -> Confinement:
        """Confine a side's build to its checkout and to reading the repository that it belongs to."""
        tmp = self._scratch / secrets.token_hex(8)
        make_shared_tmp(tmp)
        confinement = Confinement(None, self.jail)
        confinement.use(FileRules(read=(self._repositories[checkout] / ".git",), write=(checkout,), tmp=tmp))
        return confinement


def _places(paths: Sequence[str], home: str) -> tuple[str, ...]:
    """Return the paths, and where links lead: of /run, which is hidden, only paths that begin with it are kept."""
    expanded = [home.rstrip("/") + path[1:] if path.startswith("~") else path for path in paths]
    return tuple(dict.fromkeys(place for path in expanded for place in (path, os.path.realpath(path))))
