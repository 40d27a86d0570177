"""Creates the checkouts that a run works in, and the folders for its records."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import NamedTuple

from tidegate.errors import ConfigurationError
from tidegate.history.our_folder import make_our_folder
from tidegate.history.run_folder import RunFolder
from tidegate.model.revision import Revision
from tidegate.model.trial_spec import Side
from tidegate.run.build import Checkout
from tidegate.trial.safe_files import remove_trees
from tidegate.vcs.revisions import merge_base, resolve, trees_of, working_tree
from tidegate.vcs.worktrees import checkout, checkouts

REGRADED = "-regraded"  # suffix of a run that was evaluated again
SIDES = ("base", "head")
NEW_SECS = 60.0


@contextmanager
def scratch_folder(start: str = "") -> Iterator[Path]:
    """Yield a folder for checkouts and workspaces, and delete it afterwards. Those of killed runs are deleted before.

    `start`: how its path begins; else it is in TMPDIR.

    It is outside of the repository, because agents read AGENTS.md and similar files in all parent folders.
    """
    around, _, name = (start or f"{tempfile.gettempdir()}/tidegate-run-").rpartition("/")
    remove_trees(*filter(_is_abandoned, Path(around).glob(f"{name}*")))
    folder = Path(tempfile.mkdtemp(prefix=name, dir=around)).resolve()
    lock = os.open(folder, os.O_RDONLY)
    try:
        flock(lock, LOCK_EX)
        yield folder
    finally:
        remove_trees(folder)
        os.close(lock)


def _is_abandoned(folder: Path) -> bool:
    """Return True if it is our user's and no process has locked it. One that was just made may not be locked yet."""
    with suppress(OSError), locked(folder, LOCK_EX) as state:
        return state.st_uid == os.geteuid() and state.st_mtime < time.time() - NEW_SECS
    return False


@contextmanager
def locked(folder: Path, how: int) -> Iterator[os.stat_result]:
    """Hold a lock on a folder. Raises OSError if it is not there, or another process holds a lock in its way."""
    with ExitStack() as opened:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        opened.callback(os.close, lock)
        flock(lock, how | LOCK_NB)
        yield os.fstat(lock)


class RevisionPair(NamedTuple):
    """Two commits as git references. `names` are the branch names for reports."""

    base: str
    head: str
    names: tuple[str, str] | None = None


class Commits(NamedTuple):
    """The commits of a pull request: the target branch's tip, the merge base, and head."""

    target: Revision
    base: Revision
    head: Revision


def commits_of(root: Path, asked: RevisionPair) -> Commits:
    """Return the commits that the references name now. Raises ConfigurationError if they cannot be compared."""
    base_name, head_name = asked.names or (asked.base, asked.head)
    head, target = resolve(root, asked.head), resolve(root, asked.base)
    base = merge_base(root, target, head)
    base_tree, head_tree = trees_of(root, base, head)
    return Commits(
        target,
        Revision(sha=base.sha, ref=base_name, tree=base_tree),
        Revision(sha=head.sha, ref=head_name, tree=head_tree),
    )


class TwoSides(NamedTuple):
    """Both sides of a pull request, and clean checkouts of base and of the target branch's tip.

    Only `base` and `head` are built. What judges is read from `judge`, which no build and no trial can write.
    """

    base: Checkout
    head: Checkout
    judge: Path
    tip: Path


@contextmanager
def two_sides(root: Path, commits: Commits, scratch: Path, out: Path) -> Iterator[TwoSides]:
    """Yield worktrees of the merge base and of head; their runs are stored in `out/runs/base` and `out/runs/head`."""
    runs = out / "runs"
    _start_afresh(runs)
    base, head, judge, tip = (scratch / secrets.token_hex(8) for _ in range(4))
    wanted = {base: commits.base, head: commits.head, judge: commits.base, tip: commits.target}
    if commits.target.sha == commits.base.sha:
        tip = judge
    with checkouts(root, {folder: wanted[folder] for folder in dict.fromkeys((base, head, judge, tip))}):
        yield TwoSides(
            Checkout("base", commits.base, base, RunFolder(runs / "base")),
            Checkout("head", commits.head, head, RunFolder(runs / "head")),
            judge,
            tip,
        )


@contextmanager
def one_side(root: Path, rev: str | None, scratch: Path, out: Path) -> Iterator[Checkout]:
    """Yield a worktree of `rev`, or the working tree if `rev` is None; its run is stored in `out`."""
    side: Side = "head"
    if rev is None:
        yield Checkout(side, working_tree(root), root, RunFolder(out))
        return
    revision = resolve(root, rev)
    with checkout(root, revision, scratch / secrets.token_hex(8)) as folder:
        yield Checkout(side, revision, folder, RunFolder(out))


def make_run_folder(root: Path) -> Path:
    """Create and return a new folder for a run, named by the time; simultaneous runs get different names."""
    runs = make_our_folder(root) / "runs"
    runs.mkdir(exist_ok=True)
    name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for number in itertools.count(2):
        try:
            (runs / name).mkdir()
        except FileExistsError:
            name = f"{name.partition('-')[0]}-{number}"
        else:
            break
    return runs / name


def _start_afresh(runs: Path) -> None:
    """Delete the runs and reports of an earlier call, so that no report outlives its runs.

    Raises ConfigurationError if the folder contains anything that Tidegate did not write.
    """
    foreign = [one for one in runs.glob("*") if one.name.removesuffix(REGRADED) not in SIDES] if runs.exists() else []
    if foreign:
        raise ConfigurationError(
            f"{runs} holds `{foreign[0].name}`, which is not ours.", "Name another folder with `--out`."
        )
    shutil.rmtree(runs, ignore_errors=True)
    for report in ("comment.md", "result.json", "report.html", "fix.patch"):
        (runs.parent / report).unlink(missing_ok=True)
