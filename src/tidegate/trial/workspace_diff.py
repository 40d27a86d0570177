"""What an agent changed in its workspace, as a git patch."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import IO

from tidegate.trial.patch import patch
from tidegate.trial.snapshot import take
from tidegate.trial.workspace import GIT, IDENTIFIED, Prepared

DIFF_BYTES = 50_000_000
DIFF_SECS = 120.0  # per git command: the workspace may contain anything
_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")


class NoDiffError(Exception):
    """The agent's changes cannot be determined; the message says why."""


def workspace_diff(prepared: Prepared, workspace: Path, scratch: Path, limit_bytes: int = DIFF_BYTES) -> bytes:
    """Return the agent's changes as a git patch. Raises NoDiffError if it is too large or takes too long.

    `scratch` is a new folder for git's files, which is created if git is needed: a small patch of text is written here.
    """
    if workspace.is_symlink() or not workspace.is_dir():
        raise NoDiffError("the workspace is not a folder any more")
    after = take(str(workspace), leave_out=".git") if prepared.files is not None else None
    diff = patch(prepared.files, after) if prepared.files is not None and after is not None else None
    if diff is None:
        scratch.mkdir()
        diff = _diff_by_git(prepared, workspace, scratch, limit_bytes)
    if len(diff) > limit_bytes:
        raise NoDiffError(f"its diff has {len(diff)} bytes")
    return diff


def _diff_by_git(prepared: Prepared, workspace: Path, scratch: Path, limit_bytes: int) -> bytes:
    """Return the agent's changes as git finds them.

    The agent may have changed the workspace's own `.git`, whose configuration can start programs. Therefore git uses
    the original repository with a separate index.
    """
    index = scratch / "index"
    pristine = prepared.folder / ".git"
    shutil.copyfile(pristine / "index", index)
    objects = scratch / "objects"
    objects.mkdir()
    environment = {
        **IDENTIFIED,
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_DIR": str(pristine),
        "GIT_WORK_TREE": str(workspace),
        "GIT_INDEX_FILE": str(index),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(pristine / "objects"),
    }
    diff = scratch / "diff"
    with diff.open("wb") as file:
        try:
            _quietly(workspace, environment, "add", "--all", "--force", "--ignore-errors", ".")
            _quietly(workspace, environment, "diff", "--cached", "--binary", *_NO_PROGRAMS, stdout=file)
        except subprocess.TimeoutExpired:
            raise NoDiffError(f"git took longer than {DIFF_SECS:g} s") from None
    if diff.stat().st_size > limit_bytes:
        raise NoDiffError(f"its diff has {diff.stat().st_size} bytes")
    return diff.read_bytes()


def apply_diff(workspace: Path, diff: bytes) -> bool:
    """Apply an agent's changes to a fresh workspace. Return False if they do not apply."""
    done = subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", "apply", "--whitespace=nowarn", "--allow-empty", "-"],
        cwd=workspace,
        env={**IDENTIFIED, "PATH": os.environ.get("PATH", os.defpath)},
        input=diff,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def _quietly(folder: Path, environment: dict[str, str], *arguments: str, stdout: IO[bytes] | None = None) -> None:
    """Run git and ignore its exit status, so that it does as much as possible."""
    subprocess.run(
        [*GIT, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout or subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=DIFF_SECS,
        check=False,
    )
