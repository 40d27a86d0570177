"""Puts a side's guidance files into the workspace while the agent runs. Setup, checks and scripts find base's."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from tidegate.trial.directories import Folders
from tidegate.trial.processes import Account
from tidegate.trial.safe_files import Content, content_of, folder_below
from tidegate.trial.workspace import INDEX, Prepared


@contextmanager
def guidance_for_agent(
    prepared: Prepared, of_agent: Prepared, folders: Folders, account: Account | None
) -> Iterator[None]:
    """Put the files of `of_agent` in place of those of `prepared`, and afterwards back what was there.

    A file that the trial has changed is part of its outcome, and stays. Raises OSError if a file cannot be put.
    """
    swap = _Swap(prepared, of_agent, folders, account)
    swap.begin()
    try:
        yield
    finally:
        with suppress(OSError):  # the trial has removed the workspace
            swap.end()


class _Swap:
    """What is put, and what was in its place: kept aside with its times and rights, as the setup has left it.

    What the setup has made stays: it would have overwritten a file of the side, too.
    """

    def __init__(self, prepared: Prepared, of_agent: Prepared, folders: Folders, account: Account | None) -> None:
        self._workspace, self._aside, self._account = folders.workspace, folders.scratch / "aside", account
        self._source = of_agent.folder
        before, after = prepared.contents, of_agent.contents
        differ = {name for name, _ in before.items() ^ after.items()}
        both = {name for name in differ if _is_folder(before.get(name)) and _is_folder(after.get(name))}
        of_setup = {name for name in differ - both if (one := self._in_place_of(name)) and one not in before}
        self._wanted = {name: after.get(name) for name in differ - both - of_setup}
        if differ and content_of(self._workspace / INDEX) == content_of(prepared.folder / INDEX):
            self._wanted[INDEX] = content_of(self._source / INDEX)
        self._kept: list[str] = []
        self._made: list[str] = []

    def begin(self) -> None:
        """Put the side's files. Those of `prepared` that it lacks go, with the folders that are empty then."""
        if self._wanted:
            self._aside.mkdir(mode=0o700)
        for name in sorted(self._wanted, reverse=True):
            self._clear(name)
        for name in sorted(self._files):
            self._put(name)

    def end(self) -> None:
        """Remove the side's files that the trial has left alone, and move back what was in their place."""
        changed = [name for name, has in self._files.items() if not self._is_removed(name, has)]
        for name in reversed(self._made):
            with suppress(OSError), _around(self._workspace, name) as (folder, last):  # the trial may use it
                os.rmdir(last, dir_fd=folder)
        for number, name in reversed(list(enumerate(self._kept))):
            is_free = not os.path.lexists(self._workspace / name)
            if is_free and not any(f"{one}/".startswith(f"{name}/") for one in changed):
                with suppress(OSError), _around(self._workspace, name) as (folder, last):
                    os.rename(self._aside / str(number), last, dst_dir_fd=folder)

    @property
    def _files(self) -> dict[str, Content]:
        return {name: has for name, has in self._wanted.items() if has is not None and not _is_folder(has)}

    def _clear(self, name: str) -> None:
        """Move aside what is in place of the file or folder, or of a folder around it."""
        wanted, found = self._wanted[name], self._in_place_of(name)
        place = self._workspace / found
        stays = _is_folder(content_of(place, ())) and (_is_folder(wanted) or (wanted is None and any(place.iterdir())))
        if found and not stays and (found == name or wanted is not None):
            with _around(self._workspace, found) as (folder, last):
                os.rename(last, self._aside / str(len(self._kept)), src_dir_fd=folder)
            self._kept.append(found)

    def _in_place_of(self, name: str) -> str:
        """Return what is there, or in place of a folder around it; '' if nothing is."""
        found = ((one, content_of(self._workspace / one, ())) for one in (*_folders_of(name), name))
        one, now = next(pair for pair in found if pair[0] == name or not _is_folder(pair[1]))
        return one if now is not None else ""

    def _put(self, name: str) -> None:
        """Copy the file, and make the folders around it that are missing. No link is on the way: see `_clear`."""
        for one in (*_folders_of(name), name):
            source, target = self._source / one, self._workspace / one
            if os.path.lexists(target):
                continue
            with _around(self._workspace, one):
                if source.is_dir():
                    target.mkdir()
                    self._made.append(one)
                else:
                    shutil.copyfile(source, target)
                shutil.copystat(source, target)
                if self._account is not None:
                    os.chown(target, *self._account)

    def _is_removed(self, name: str, has: Content) -> bool:
        """Remove the file if it is as it was put."""
        with suppress(OSError), _around(self._workspace, name) as (folder, last):
            if content_of(self._workspace / name, {has.size}) == has:
                os.unlink(last, dir_fd=folder)
                return True
        return False


def _folders_of(name: str) -> Iterator[str]:
    """Yield the folders around a file, the outermost first."""
    yield from (str(one) for one in reversed(PurePosixPath(name).parents[:-1]))


def _is_folder(has: Content | None) -> bool:
    return has is not None and stat.S_ISDIR(has.kind)


@contextmanager
def _around(workspace: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yield a descriptor of the folder that the file is in, whose times stay, and the file's name in it."""
    *folders, last = PurePosixPath(name).parts
    with folder_below(workspace, folders) as folder:
        state = os.fstat(folder)
        yield folder, last
        os.utime(folder, ns=(state.st_atime_ns, state.st_mtime_ns))
