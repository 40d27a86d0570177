"""Puts base's guidance files into the workspace while checks run: head's may contain what a check looks for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tidegate.trial.processes import Account
from tidegate.trial.safe_files import Content, content_of, copy_below, remove_below
from tidegate.trial.workspace import Prepared


@contextmanager
def guidance_of_base(
    prepared: Prepared, of_base: Prepared | None, workspace: Path, account: Account | None, *, strictly: bool = False
) -> Iterator[None]:
    """Put base's guidance files in place of those that the trial has left alone, and afterwards head's back.

    A file that the trial has changed is part of its outcome. Strictly: raise OSError if head's cannot be put back.
    """
    if of_base is None or not workspace.is_dir():
        yield
        return
    names = sorted({entry.partition("#")[0] for one in (prepared, of_base) for entry in one.guidance})
    start, base = prepared.contents, of_base.contents
    differ = (name for name in names if start.get(name) != base.get(name))
    swapped = [name for name in differ if _is_untouched(start.get(name), workspace / name)]
    owner = (account.uid, account.gid) if account else None
    for name in swapped:
        _put(of_base.folder, workspace, name, owner)
    try:
        yield
    finally:
        for name in swapped:
            with suppress(*[] if strictly else [OSError]):
                _put(prepared.folder, workspace, name, owner)


def _is_untouched(start: Content | None, now: Path) -> bool:
    return content_of(now, {start.size}) == start if start else not os.path.lexists(now)


def _put(source: Path, workspace: Path, name: str, owner: tuple[int, int] | None) -> None:
    if (source / name).is_file():
        copy_below(workspace, name, source / name, owner)
    else:
        remove_below(workspace, name)
