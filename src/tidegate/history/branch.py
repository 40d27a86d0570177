"""Stores base's history on an orphan branch (`store: {type: branch}`), using git objects only.

The branch is never checked out. Readers copy its files to a folder. Writers commit on top of the branch's current
tip and start over if another writer was faster, so that no trials are lost.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.history.run_folder import write_text
from tidegate.history.store import History
from tidegate.model.suite import Store
from tidegate.vcs.git import IDENTITY, NO_ANSWER, git, must, read_blobs
from tidegate.vcs.revisions import commit_of, is_shallow

MARKER = "tidegate-history.json"
_MARK = '{"schema_version": 1}\n'
_OURS = re.compile(r"history/([0-9a-f]{1,64}\.(?:jsonl|sessions)|versions\.json)|" + re.escape(MARKER))
_FILE_MODE = "100644"
MAX_FILES = 2_000
MAX_BYTES = 16_000_000  # per file
ATTEMPTS = 8
PATIENCE_S = 120.0  # for each command that contacts `origin`
_DENIED = re.compile(
    r"\b40[134]\b|denied|permission|not granted|not found|authentication|could not read username|protected|declined",
    re.IGNORECASE,
)


class NotKeptError(CannotRunError):
    """New trials could not be added to the branch."""


@dataclass(frozen=True)
class Origin:
    """The remote that a job's checkout comes from. `environ` holds git's variables for access to it."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)  # contains the token
    writes: bool = False  # whether this job may add to the branch


def fetch(root: Path, name: str, origin: Origin) -> str | None:
    """Fetch the branch from `origin`. Return a warning if that fails; None on success or if there is no such branch."""
    heads = _ask(root, origin, "ls-remote", "--exit-code", "origin", f"refs/heads/{name}")
    if heads.returncode == 2:  # the remote answered, and the branch does not exist
        git(root, "update-ref", "-d", _tracking(name))
        return None
    if heads.returncode == 0:
        wanted = ("--no-tags", "--no-filter", *(("--depth=1",) if is_shallow(root) else ()))
        refspec = f"+refs/heads/{name}:{_tracking(name)}"
        heads = _ask(root, origin, "fetch", "--quiet", *wanted, "origin", refspec)
    if heads.returncode == 0:
        return None
    said = _said(heads.stderr)
    advice = ": the job needs `contents: read`" if _DENIED.search(said) else ""
    instead = "is left out" if commit_of(root, _tracking(name)) is None else "is used as it was last fetched"
    return f"base's history on the branch `{name}` could not be fetched, and {instead} ({said}){advice}"


def copy_to(root: Path, name: str, folder: Path, origin: Origin | None = None) -> tuple[str, ...]:
    """Replace the contents of `folder` with the branch's history: the fetched one or, without `origin`, the local one.

    Returns a warning for files that are left out.
    """
    return _copy(root, _tip(root, name, origin), name, folder)


def _copy(root: Path, commit: str | None, name: str, folder: Path) -> tuple[str, ...]:
    found, problems = _blobs(root, commit, name)
    for path in folder.rglob("*") if folder.is_dir() else ():
        if path.is_file() and str(path.relative_to(folder)) not in found:
            path.unlink()
    for path_of, content in zip(found, read_blobs(root, list(found.values())), strict=True):
        (folder / path_of).parent.mkdir(parents=True, exist_ok=True)
        (folder / path_of).write_bytes(content)
    return problems


def write(root: Path, limits: Store, origin: Origin | None, add: Callable[[History], None], now: float) -> None:
    """Add trials to the branch, at `origin` or, if that is None, in this repository. Raises NotKeptError on failure.

    `add` is called again with the current contents of the branch each time that another writer was faster.
    """
    require_writable(limits, origin)
    why = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, 0.1 * 2**attempt))
        problem = None if origin is None else fetch(root, limits.name, origin)
        if problem:
            raise NotKeptError(f"{problem}.", "Nothing was added to it.")
        parent = _tip(root, limits.name, origin)
        with tempfile.TemporaryDirectory(prefix="tidegate-history-") as folder:
            tree = _tree_after(root, parent, Path(folder), limits, add, now)
        if tree is None:
            return
        parents = () if parent is None else ("-p", parent)
        commit = must(root, "commit-tree", tree, *parents, "-m", "base's history", env=IDENTITY)
        why = _publish(root, limits.name, commit, origin)
        if not why:
            return
        if why.endswith(NO_ANSWER):
            break  # the push may have succeeded, so do not repeat it
        if _DENIED.search(why):
            raise NotKeptError(
                f"base's history was not kept, since the job's token may not push to the branch `{limits.name}`: {why}",
                "Give the job `contents: write`, and leave the branch out of rules that protect branches.",
            )
    raise NotKeptError(
        f"base's history was not kept: `{limits.name}` could not be written, {attempt + 1} times tried: {why}",
        "Run the workflow again.",
    )


def require_writable(limits: Store, origin: Origin | None) -> None:
    """Raise NotKeptError if this job may not add to the branch."""
    if origin is not None and not origin.writes:
        raise NotKeptError(
            f"the branch `{limits.name}` is not written: this job is none of the default branch's, or a dry run.",
            "Base's history is written by `command: history` on a push to the default branch, or on its schedule.",
        )


def _tip(root: Path, name: str, origin: Origin | None) -> str | None:
    """Return the commit to read: for a job the fetched one, else the local one, or the fetched one if that is newer."""
    here, there = (commit_of(root, ref) for ref in (f"refs/heads/{name}", _tracking(name)))
    if origin is not None:
        return there
    if here is None or there is None:
        return here or there
    return there if git(root, "merge-base", "--is-ancestor", here, there).returncode == 0 else here


def _blobs(root: Path, commit: str | None, name: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the branch's history files as path → object id, and a warning for what is left out."""
    if commit is None:
        return {}, ()
    found: dict[str, str] = {}
    too_large = 0
    for line in must(root, "ls-tree", "-r", "-l", "-z", commit).split("\0")[:-1]:
        attributes, _, path = line.partition("\t")
        mode, _, sha, size = attributes.split()
        if mode == _FILE_MODE and _OURS.fullmatch(path):
            if int(size) <= MAX_BYTES and len(found) < MAX_FILES:
                found[path] = sha
            else:
                too_large += 1
    if MARKER not in found or must(root, "cat-file", "blob", found[MARKER]) != _MARK.strip():
        return {}, (f"the branch `{name}` is ignored: it is not a history of this version, since it has no `{MARKER}`",)
    return found, (
        f"{too_large} files of the branch `{name}` are ignored: too large, or too many",
    ) if too_large else ()


def _tree_after(
    root: Path, parent: str | None, folder: Path, limits: Store, add: Callable[[History], None], now: float
) -> str | None:
    """Return the tree of `parent` with the additions; None if nothing changes."""
    found, problems = _blobs(root, parent, limits.name)
    if parent is not None and not found:
        raise NotKeptError(f"{problems[0]}: nothing was added to it.", "Name another one: `store.name`.")
    _copy(root, parent, limits.name, folder)
    history = History(folder, limits, now)
    add(history)
    history.prune()
    write_text(folder / MARKER, _MARK)
    tree = _tree_with(root, parent, folder)
    return None if parent is not None and tree == must(root, "rev-parse", f"{parent}^{{tree}}") else tree


def _tree_with(root: Path, parent: str | None, folder: Path) -> str:
    """Return the tree of `parent` with its history files replaced by those in the folder; other files are kept."""
    with tempfile.TemporaryDirectory(prefix="tidegate-index-") as scratch:
        repository = must(root, "rev-parse", "--path-format=absolute", "--git-common-dir")
        own = {"GIT_DIR": repository, "GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(Path(scratch, "index"))}
        must(folder, "read-tree", parent or "--empty", env=own)
        known = must(folder, "ls-files", "-z", env=own).split("\0")[:-1]
        gone = [path for path in known if _OURS.fullmatch(path) and not (folder / path).is_file()]
        here = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
        names = "".join(f"{path}\n" for path in here)
        blobs = must(folder, "hash-object", "-w", "--no-filters", "--stdin-paths", env=own, given=names).split()
        changes = [f"0 {'0' * len(blobs[0])}\t{path}\n" for path in gone]
        changes += [f"{_FILE_MODE} {blob}\t{path}\n" for blob, path in zip(blobs, here, strict=True)]
        must(folder, "update-index", "--add", "--replace", "--index-info", env=own, given="".join(changes))
        return must(folder, "write-tree", env=own)


def _publish(root: Path, name: str, commit: str, origin: Origin | None) -> str:
    """Move the branch to the commit, which no other writer's commit may be lost by. Return "", or why it failed."""
    if origin is not None:
        refspec = f"{commit}:refs/heads/{name}"
        done = _ask(root, origin, "push", "--porcelain", "--no-verify", "origin", refspec)
        return "" if done.returncode == 0 else _reason(done.stdout, done.stderr)
    before = commit_of(root, f"refs/heads/{name}") or "0" * len(commit)
    if before.strip("0") and git(root, "merge-base", "--is-ancestor", before, commit).returncode != 0:
        return "another process has written it"
    done = git(root, "update-ref", "-m", "base's history", f"refs/heads/{name}", commit, before)
    return "" if done.returncode == 0 else _said(done.stderr)


def _reason(stdout: str, stderr: str) -> str:
    """Return why a push failed: git's status of the branch, and the server's messages."""
    refused = [line.rpartition("\t")[2] for line in stdout.splitlines() if line.startswith("!")]
    return "; ".join([*refused, _said(stderr)]) if refused else _said(stderr)


def _said(stderr: str) -> str:
    """Return up to three messages of the server or fatal errors of git, else the last line of stderr."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("remote: ", "fatal: "))]
    return "; ".join(told[:3]) or (lines or ["no message"])[-1]


def _ask(root: Path, origin: Origin, *arguments: str) -> subprocess.CompletedProcess[str]:
    return git(root, *arguments, env=origin.environ, timeout_s=PATIENCE_S)


def _tracking(name: str) -> str:
    return f"refs/remotes/origin/{name}"
