"""What an agent changed in its workspace, as a git patch."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tidegate.trial.snapshot import Entry, Snapshot, take
from tidegate.trial.workspace import GIT, IDENTIFIED, Prepared, everything_below
from tidegate.vcs.git import as_alternate

MOST_LINES = 1000  # of a file that both sides have: difflib is slow with more
MOST_PATCH_BYTES = 1 << 20
_PLAIN = re.compile(r"[\w./+@%=,~ -]+", re.ASCII)  # git quotes other names
_NOTHING = "0000000"
_NO_END = b"\n\\ No newline at end of file\n"


def patch(before: Snapshot, after: Snapshot) -> bytes | None:
    """Return the patch from `before` to `after`; None if git has to write it."""
    old, new = _files(before), _files(after)
    names = sorted(name for name in old.keys() | new.keys() if _shown(old.get(name)) != _shown(new.get(name)))
    # Attributes say how git shows a file; a repository in the workspace is a single entry of a patch.
    if any(name.endswith(("/.git", ".gitattributes")) for name in (*before, *after)):
        return None
    parts = [_of_one(name, old.get(name), new.get(name)) for name in names]
    whole = b"".join(part for part in parts if part is not None)
    return whole if None not in parts and len(whole) <= MOST_PATCH_BYTES else None


def _files(snapshot: Snapshot) -> dict[str, Entry]:
    """Return what a patch can show: everything except folders and the workspace's own repository."""
    return {path: entry for path, entry in snapshot.items() if not entry.is_folder and not path.startswith(".git/")}


def _shown(entry: Entry | None) -> tuple[str, bytes] | None:
    """Return what a patch shows of a file."""
    return None if entry is None else (_mode(entry), entry.data)


def _mode(entry: Entry) -> str:
    return f"{entry.git_mode:o}"


def _of_one(name: str, old: Entry | None, new: Entry | None) -> bytes | None:
    """Return the patch of one file, or None if git has to write it."""
    lines = [_lines(entry) for entry in (old, new)]
    if lines[0] is None or lines[1] is None or not _PLAIN.fullmatch(name) or name.endswith(" "):
        return None
    if old and new and (_mode(old) != _mode(new) or max(map(len, filter(None, lines)), default=0) > MOST_LINES):
        return None
    ids = f"index {_id(old)}..{_id(new)}"
    head = f"diff --git a/{name} b/{name}\n"
    if old is None and new is not None:
        head += f"new file mode {_mode(new)}\n{ids}\n"
    elif new is None and old is not None:
        head += f"deleted file mode {_mode(old)}\n{ids}\n"
    elif old is not None:
        head += f"{ids} {_mode(old)}\n"
    tab = "\t" if " " in name else ""  # as git does, for other programs that read patches
    names = ["/dev/null" if entry is None else f"{side}/{name}{tab}" for side, entry in (("a", old), ("b", new))]
    body = difflib.diff_bytes(difflib.unified_diff, lines[0], lines[1], names[0].encode(), names[1].encode())
    return head.encode() + b"".join(line if line.endswith(b"\n") else line + _NO_END for line in body)


def _lines(entry: Entry | None) -> list[bytes] | None:
    """Return a text file's lines, each with its end; None if the entry is a link or not text."""
    if entry is None:
        return []
    if entry.is_link or b"\0" in entry.data:
        return None
    lines = entry.data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def _id(entry: Entry | None) -> str:
    """Return the abbreviated id of the file's blob."""
    if entry is None:
        return _NOTHING
    whole = b"blob %d\0" % len(entry.data) + entry.data
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()[: len(_NOTHING)]


SMALL_BYTES = 64 << 10  # of a workspace that is compared here: git takes longer to start, and a thread, too
DIFF_BYTES = 50_000_000
LARGE_FILE = 20_000_000  # bytes; git would hold several times as much in memory
DIFF_SECS = 120.0  # per git command: the workspace may contain anything
_GIT = (*GIT, "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")  # names as on the file system
_PLAINLY = ("--no-ext-diff", "--no-textconv", "--no-renames")


class NoDiffError(Exception):
    """The agent's changes cannot be determined; the message says why."""


class WorkspaceDiff(NamedTuple):
    """The agent's changes as a git patch, and the large files that it leaves out.

    `unshown`: repositories inside of the workspace, which a patch shows as one entry, empty folders that the template
    does not have, pipes and the like, and what git refuses.
    """

    patch: bytes
    left_out: tuple[str, ...] = ()
    unshown: tuple[str, ...] = ()


def workspace_diff(
    prepared: Prepared, workspace: Path, scratch: Path, limit_bytes: int = DIFF_BYTES, large_file: int = LARGE_FILE
) -> WorkspaceDiff:
    """Return what the agent changed. Raises NoDiffError if the patch is too large or takes too long.

    `scratch` is a new folder for git's files.
    """
    if workspace.is_symlink() or not workspace.is_dir():
        raise NoDiffError("the workspace is not a folder any more")
    scratch.mkdir()
    large = _larger_than(large_file, workspace)
    diff, refused = _diff_by_git(prepared, workspace, scratch, large, limit_bytes)
    if len(diff) > limit_bytes:
        raise NoDiffError(f"its diff has more than {limit_bytes} bytes")
    left_out = tuple(name for name in large if not _as_copied(prepared.folder / name, workspace / name))
    names = {os.fsdecode(name).rstrip("/") for name in refused} - _empty_folders(prepared.folder)
    own = {name for name in names if not any(f"{one}/".startswith(f"{name}/") for one in large)}
    return WorkspaceDiff(diff, left_out, tuple(sorted({*own, *_unshown(workspace)})))


def _unshown(workspace: Path) -> Iterator[str]:
    """Yield the repositories inside of the workspace, and what is neither file nor folder nor link."""
    kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    for path in everything_below(workspace):
        name = path.relative_to(workspace)
        if path.name == ".git" and len(name.parts) > 1:
            yield str(name.parent)
        elif name.parts[0] != ".git" and not any(is_kind(path.lstat().st_mode) for is_kind in kinds):
            yield str(name)


def _empty_folders(folder: Path) -> set[str]:
    """Return the empty folders, outside of the folder's own repository."""
    names = {str(path.relative_to(folder)): path for path in everything_below(folder)}
    parents = {name.rpartition("/")[0] for name in names}
    found = (name for name, path in names.items() if name not in parents and path.is_dir() and not path.is_symlink())
    return {name for name in found if f"{name}/"[:5] != ".git/"}


def new_folders(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Return the empty folders of `after` that `before` does not have: a patch does not show them."""
    parents = {name.rpartition("/")[0] for name in after}
    empty = {name for name, entry in after.items() if entry.is_folder and name and name not in parents}
    return tuple(sorted(empty - before.keys()))


def small_snapshot(prepared: Prepared, workspace: Path) -> Snapshot | None:
    """Return what the workspace holds, if it began small and is a folder with few bytes; else None."""
    if prepared.files is None or workspace.is_symlink() or not workspace.is_dir():
        return None
    after = take(str(workspace), leave_out=".git")
    return after if after and sum(len(entry.data) for entry in after.values()) <= SMALL_BYTES else None


def _larger_than(most: int, workspace: Path) -> list[str]:
    """Return the regular files with more bytes than that."""
    found = []
    for path in everything_below(workspace):
        state = path.lstat()
        if stat.S_ISREG(state.st_mode) and state.st_size > most:
            found.append(str(path.relative_to(workspace)))
    return sorted(found)


def _as_copied(original: Path, copy: Path) -> bool:
    """Return True if the file of the template has the copy's size and time."""
    try:
        states = original.lstat(), copy.lstat()
    except OSError:
        return False
    return states[0].st_size == states[1].st_size and states[0].st_mtime_ns == states[1].st_mtime_ns


def _diff_by_git(
    prepared: Prepared, workspace: Path, scratch: Path, left_out: Sequence[str], limit_bytes: int
) -> tuple[bytes, list[bytes]]:
    """Return the agent's changes as git finds them, one byte more than the limit at the most, and what git left out.

    The agent may have changed the workspace's own `.git`, whose configuration can start programs, and its attributes,
    which can hide files. Therefore git uses a copy of the original repository, in which every file is text.
    """
    pristine, repository = prepared.folder / ".git", scratch / "repository"
    shutil.copytree(pristine, repository, ignore=shutil.ignore_patterns("objects"))
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info/attributes").write_bytes(_attributes(prepared.folder))
    objects = scratch / "objects"
    objects.mkdir()
    environment = {
        **IDENTIFIED,
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_DIR": str(repository),
        "GIT_WORK_TREE": str(workspace),
        "GIT_OBJECT_DIRECTORY": str(objects),
        **as_alternate(pristine / "objects"),
    }
    paths = scratch / "paths"
    paths.write_bytes(b"\0".join([b".", *(b":(exclude,literal)" + os.fsencode(name) for name in left_out)]))
    named = (f"--pathspec-from-file={paths}", "--pathspec-file-nul")
    _git(workspace, environment, 0, "add", "--all", "--force", "--ignore-errors", *named)
    refused = _git(workspace, environment, MOST_PATCH_BYTES, "ls-files", "-z", "--others", "--directory")
    diff = _git(workspace, environment, limit_bytes + 1, "diff", "--cached", "--binary", *_PLAINLY)
    return diff, [name for name in refused.split(b"\0") if name]


def _attributes(template: Path) -> bytes:
    """Return attributes that decide before those of the workspace: how the template has files, and all are shown."""
    own = template / ".gitattributes"
    of_template = own.read_bytes() if own.is_file() and not own.is_symlink() else b""
    return b"* !text !crlf !eol !ident !working-tree-encoding\n" + of_template + b"\n* diff\n"


def apply_diff(workspace: Path, diff: bytes) -> bool:
    """Apply an agent's changes to a fresh workspace. Return False if they do not apply."""
    done = subprocess.run(
        [*_GIT, "apply", "--whitespace=nowarn", "--allow-empty", "-"],
        cwd=workspace,
        env={**IDENTIFIED, "PATH": os.environ.get("PATH", os.defpath)},
        input=diff,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def _git(folder: Path, environment: dict[str, str], most: int, *arguments: str) -> bytes:
    """Return the first bytes that git prints, and end it then. Its exit status is ignored: it does as much as possible.

    Raises NoDiffError if it takes too long.
    """
    late = threading.Event()
    with subprocess.Popen(
        [*_GIT, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if most else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        timer = threading.Timer(DIFF_SECS, _kill, (process, late))
        timer.start()
        try:
            printed = process.stdout.read(most) if process.stdout else b""
            if most and len(printed) == most:
                process.kill()
            process.wait()
        finally:
            timer.cancel()
    if late.is_set():
        raise NoDiffError(f"git took longer than {DIFF_SECS:g} s")
    return printed


def _kill(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()
