"""The folder that an agent works in: prepared once per scenario and side, and copied for each trial."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath

from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.model.probe import FileAnswer
from tidegate.model.suite import INITIAL_STATE, Scenario
from tidegate.trial.processes import Account
from tidegate.trial.safe_files import Content, content_of, open_regular, remove_trees
from tidegate.trial.sandbox.users import give
from tidegate.trial.snapshot import Snapshot, has_attributes, take, write
from tidegate.vcs.git import IDENTITY

FIRST_SECS = 946_684_800  # since the epoch: 2000-01-01, as the date of the workspace's commit
MOST_SECS = 120.0  # to make a workspace, or to copy it
TOO_SLOW = "the workspace took too long to {}: is a file of the template very large?"
LOOK_AT_DISK = "Check disk space and permissions."
GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "maintenance.auto=false")
# Of a workspace's repository: what decides the answers of git, and no ordinary command writes again and again.
OF_GIT = tuple(f".git/{name}" for name in ("config", "HEAD", "refs/heads/main", "info/exclude"))
_NOT_OF_GIT = re.compile(  # not compared, or as refs
    r"\.git/(?:index|COMMIT_EDITMSG|packed-refs|(?:refs|modules|worktrees)/.*)"
)
NOT_AT_THE_START = (
    *("commondir", "hooks", "info/attributes", "info/grafts", "refs/replace", "shallow"),
    *(f"objects/{name}" for name in ("info/alternates", "info/commit-graph", "info/commit-graphs")),
    "objects/pack/multi-pack-index",
)
"""In a repository's folder, decide what git shows and does; no workspace has them before its setup."""
_LARGEST_REFS, _LARGEST_REF = 10_000_000, 1_000  # bytes of all that are packed, and of one
_NAME = re.compile(r"[\w-][\w.-]*")  # of an entry of a folder
_IN_ONE_PACK = ("-c", "core.bigFileThreshold=0")  # instead of a file per object, each of which a trial would copy
_NO_INDEX_BACK = ("-c", "pack.writeReverseIndex=false")
_FOR_GIT = re.compile(r"[*?\[ ]")  # have a meaning in its patterns
INDEX = ".git/index"
_NO_LOG = ("-c", "core.logAllRefUpdates=false")
IDENTIFIED = {
    **IDENTITY,
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",  # the same content gives the same commit
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class Prepared:
    """The initial workspace of all trials of one scenario and side."""

    folder: Path
    guidance: tuple[str, ...]  # relative paths of the guidance files in it
    files: Snapshot | None = None  # its contents; None if they are too large or of unusual kinds
    warnings: tuple[str, ...] = ()

    @cached_property
    def contents(self) -> dict[str, Content]:
        """See `contents`."""
        return contents(self.folder)

    @cached_property
    def guidance_hash(self) -> str:
        """A SHA-256 of the names and contents of the guidance files; '' if there are none."""
        found = hashlib.sha256()
        for name in sorted(self.guidance):
            path = self.folder / name
            content = path.read_bytes() if path.is_file() else b""
            found.update(os.fsencode(f"{name}\0{len(content)}\0") + content)
        return found.hexdigest() if self.guidance else ""


class TooSlowError(OSError):
    """A workspace could not be made in time; the message says what took too long."""


def prepare(
    scenario: Scenario,
    definitions: Path,
    side: Path,
    guidance: Sequence[str],
    folder: Path,
    *,
    of_base: Prepared | None = None,
    moved: str | None = None,
    seconds: float = MOST_SECS,
) -> Prepared:
    """Create the workspace in `folder`: the template from `definitions`, the guidance files from `side`.

    Files of the template that match `guidance` are also taken from the side (github.md, The two sides). If `of_base` is
    given, base's workspace, all else is a copy of it; its git ignores guidance files that are new. `moved`: where the
    side's scenario has its template, if that is another place. Raises ConfigurationError if the template is gone.
    """
    until = time.monotonic() + seconds
    guidance = scenario.guidance_or(guidance)
    folder.mkdir(parents=True)
    warnings: tuple[str, ...] = ()
    if of_base is not None:
        _copy_tree(of_base.folder, folder, until)
    elif scenario.template is not None:
        warnings = _copy_template(definitions, scenario.template, folder, until)
    for name in matching_files(folder, guidance):
        _remove(folder, name)
    if scenario.template is not None:
        place = scenario.template if moved is None or (side / scenario.template).exists() else moved
        _copy_files(initial_state(side, place), folder, guidance)
    _copy_files(side, folder, guidance)
    entries = tuple(matching_files(folder, guidance))
    if of_base is not None:
        prepared = Prepared(folder, entries, warnings=of_base.warnings)
        _hide(of_base, prepared)
    else:
        _date(folder)
        prepared = Prepared(folder, entries, _with_repository(folder, until), warnings)
    _ = prepared.contents  # read here, since this runs in a thread
    return prepared


def copy_workspace(
    prepared: Prepared, folder: Path, seconds: float = MOST_SECS, account: Account | None = None
) -> None:
    """Copy it with its git repository, for the account if given. Raises TooSlowError after the seconds.

    Blocks are shared if the file system can.
    """
    until = time.monotonic() + seconds
    if prepared.files is None:
        _copy_tree(prepared.folder, folder, until)
        give(account, folder)
        return
    try:
        write(prepared.files, str(folder), until, account)
    except TimeoutError:
        raise TooSlowError(TOO_SLOW.format("copy")) from None
    except OSError as error:
        raise CannotRunError(f"the workspace could not be copied: {error}", LOOK_AT_DISK) from None


def initial_state(checkout: Path, template: str) -> Path:
    """Return the folder of a checkout that becomes the workspace.

    Raises CannotRunError if a link leads out of the checkout. The side's build may have created one since the suite was
    read, and Tidegate may be able to read files that the build cannot.
    """
    whole = checkout / template
    folder = whole / INITIAL_STATE if (whole / INITIAL_STATE).is_dir() else whole
    if not _leads_into(checkout, folder):
        what = f"the template {folder.relative_to(checkout)} is a link that leads out of the checkout."
        raise CannotRunError(what, "Put the files themselves there.")
    return folder


def matching_files(folder: Path, patterns: Iterable[str]) -> list[str]:
    """Return the files below `folder` that match one of the globs, as sorted relative paths, without outward links.

    `**` also goes into links to folders, into each folder once.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        # `x/**` means everything below x; elsewhere `**` alone finds folders only.
        parts = PurePosixPath(pattern + "/*" if pattern.endswith("**") else pattern).parts
        for path in sorted(_matching(folder, folder, parts, set())):
            if path.is_file() and ".git" not in path.relative_to(folder).parts and _leads_into(folder, path):
                found[path.relative_to(folder).as_posix()] = None
    return list(found)


def _matching(root: Path, at: Path, parts: Sequence[str], followed: set[str]) -> Iterator[Path]:
    """Yield what matches the parts of a glob below `at`. `followed`: the places of links that `**` went into."""
    if not parts:
        yield at
        return
    first, rest = parts[0], parts[1:]
    if not glob.has_magic(first):
        yield from _matching(root, at / first, rest, followed)
        return
    if first == "**":
        yield from _matching(root, at, rest, followed)
    for path in _entries(at) if _leads_into(root, at) else ():
        if first != "**":
            yield from _matching(root, path, rest, followed) if fnmatchcase(path.name, first) else ()
        elif path.is_dir():
            to = os.path.realpath(path) if path.is_symlink() else ""
            if to not in followed:
                followed |= {to} if to else set()
                yield from _matching(root, path, parts, followed)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # it is none, or cannot be read
        return []


def is_guidance(name: str, patterns: Iterable[str]) -> bool:
    """Return True if a file of that name would match one of the globs."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return False
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        return bool(matching_files(Path(folder), patterns))


def everything_below(folder: Path) -> Iterator[Path]:
    """Yield all files, folders and links below a folder, without following links; nothing of one that does not exist,
    or no longer, since a server may still run.
    """
    waiting = [folder] if folder.is_dir() else []
    while waiting:  # iterative: folders may nest deeper than Python's recursion limit
        with suppress(FileNotFoundError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))


def contents(folder: Path) -> dict[str, Content]:
    """Return what all files, links and folders below the folder hold, and the files and refs of `.git`. Raises
    TooSlowError.
    """
    until, found = time.monotonic() + MOST_SECS, dict[str, Content]()
    for path in everything_below(folder):
        if time.monotonic() > until:
            raise TooSlowError(TOO_SLOW.format("read"))
        name = path.relative_to(folder).as_posix()
        decides = name in OF_GIT or not _NOT_OF_GIT.fullmatch(name)
        if decides and (content := content_of(path)) and not (stat.S_ISDIR(content.kind) and f"{name}/"[:5] == ".git/"):
            found[name] = content
    return found | refs_of(folder, repositories(found))


def repositories(names: Collection[str]) -> tuple[str, ...]:
    """Return the folders of git's repositories: `.git`, and those among what the setup has made, bare ones, too."""
    places = (name.removesuffix("HEAD") for name in names if name.endswith("/HEAD"))
    return (".git", *(place[:-1] for place in places if f"{place}refs" in names))


def refs_of(folder: Path, within: Iterable[str]) -> dict[str, Content]:
    """Return the commit of each branch, tag and other ref of these repositories, wherever git keeps it."""
    return {name: commit for place in within for name, commit in _refs(folder, place).items()}


def _refs(folder: Path, place: str) -> dict[str, Content]:
    packed = _start_of(folder / place / "packed-refs", _LARGEST_REFS) or b""
    rows = (row.split() for row in packed.splitlines() if row[:1] not in (b"#", b"^"))
    found = {f"{place}/{os.fsdecode(row[1])}": Content(0, 0, row[0]) for row in rows if len(row) > 1}
    for path in everything_below(folder / place / "refs"):
        content = content_of(path)
        if content is not None and not stat.S_ISDIR(content.kind):
            commit = _start_of(path, _LARGEST_REF)
            own = Content(0, 0, commit.strip()) if commit is not None else content
            found[path.relative_to(folder).as_posix()] = own
    return found


def _start_of(path: Path, most: int) -> bytes | None:
    """Return the first bytes of a regular file; None if it is none."""
    file = open_regular(path)
    if file is None:
        return None
    with file:
        return file.read(most)


def read_file(workspace: Path, name: str, limit_bytes: int) -> FileAnswer:
    """Return the contents of `name`, if its owner could read it: Tidegate may be root. Never reads outside of the
    workspace and never blocks on a pipe.
    """
    file = open_regular(f"{workspace}/{name}") if _NAME.fullmatch(name) else None
    try:
        if file is None:  # its name has several parts, or it is a link, or something is wrong with it
            root = os.path.realpath(workspace)
            real = os.path.realpath(os.path.join(root, name))  # noqa: PTH118 (it may be absolute; then it escapes)
            if real != root and not real.startswith(root + os.sep):
                return FileAnswer(state="escapes")
            if not stat.S_ISREG(Path(real).stat().st_mode):
                return FileAnswer(state="not_a_file")
            folders = Path(real).relative_to(root).parents
            if not all(Path(root, folder).stat().st_mode & stat.S_IXUSR for folder in folders):
                return FileAnswer(state="unreadable")
            file = os.fdopen(os.open(real, os.O_RDONLY), "rb")
        with file:
            state = os.fstat(file.fileno())
            if not state.st_mode & stat.S_IRUSR:
                return FileAnswer(state="unreadable")
            too_large = state.st_size > limit_bytes
            data = b"" if too_large else file.read(limit_bytes)
    except FileNotFoundError:
        return FileAnswer(state="missing")
    except (OSError, ValueError):
        return FileAnswer(state="unreadable")
    if too_large:
        return FileAnswer(state="too_large")
    return FileAnswer(state="present", text=data.decode("utf-8", "replace"))


def _leads_into(root: Path, path: Path) -> bool:
    """Return True if the path is `root` or, with all links resolved, lies below it."""
    real = os.path.realpath(root)
    ends = (os.path.realpath(path.parent), os.path.realpath(path))
    return path == root or all(end == real or end.startswith(real + os.sep) for end in ends)


def _copy_tree(source: Path, target: Path, until: float) -> None:
    target.mkdir(parents=True, exist_ok=True)
    done = _in_time(["cp", "-a", "--reflink=auto", f"{source}/.", str(target)], target, dict(os.environ), until)
    if done.returncode != 0:
        raise CannotRunError(
            f"the workspace could not be copied: {done.stderr.decode('utf-8', 'replace').strip()}",
            LOOK_AT_DISK,
        )


def _copy_template(definitions: Path, template: str, folder: Path, until: float) -> tuple[str, ...]:
    """Copy it without repositories, for Tidegate's user; return warnings of links that lead out of it."""
    initial = initial_state(definitions, template)
    if not initial.is_dir():
        gone = f"the template {template} is gone: the build removed it."
        raise ConfigurationError(gone, "Let `build` leave it where it is.")
    _copy_tree(initial, folder, until)
    warnings = tuple(_cut_links(initial, folder))
    give(Account(os.geteuid(), os.getegid()), folder)  # git refuses files that belong to the build's user
    _make_usable(folder)
    _remove_repositories(folder)
    return warnings


def _cut_links(template: Path, copy: Path) -> Iterator[str]:
    """Yield a warning for each link that leads somewhere in the template's checkout, and nowhere in its copy."""
    for link in everything_below(copy):
        name = link.relative_to(copy)
        if link.is_symlink() and not link.exists() and (template / name).exists():
            yield f"{name} is a link that leads out of the template, so it leads nowhere: put the file itself there"


def _make_usable(folder: Path) -> None:
    """Let the owner read and write everything. git keeps no such rights, so only a build can have taken them."""
    for path in (folder, *everything_below(folder)):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o7777 | (0o700 if path.is_dir() else 0o600))


def _remove_repositories(folder: Path) -> None:
    """Delete all `.git` entries. A commit has none; one made by a build could start programs in later git commands."""
    remove_trees(*[path for path in everything_below(folder) if path.name == ".git"])


def _date(folder: Path) -> None:
    """Give all files fixed times, since some tools sort by them: one second apart, the last name's first."""
    for number, path in enumerate(sorted(everything_below(folder), reverse=True)):
        os.utime(path, (FIRST_SECS + number, FIRST_SECS + number), follow_symlinks=False)


def _remove(folder: Path, name: str) -> None:
    """Remove the file, and the folders around it that are empty then."""
    (folder / name).unlink(missing_ok=True)  # two names may be links to one file
    with suppress(OSError):
        for around in list(PurePosixPath(name).parents)[:-1]:
            (folder / around).rmdir()


def _copy_files(source: Path, target: Path, patterns: Sequence[str]) -> None:
    """Copy matching files that do not exist yet. Links are followed only inside `source` and `target`."""
    if not source.is_dir():
        return
    for name in matching_files(source, patterns):
        if not os.path.lexists(target / name) and _leads_into(target, target / name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, target / name)


def _with_repository(folder: Path, until: float) -> Snapshot | None:
    """Make the folder a git repository of one commit; return its snapshot, or None if it cannot have one."""
    for part in ("objects", "refs"):
        (folder / ".git" / part).mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    _git(folder, until, *_IN_ONE_PACK, "add", "--all", "--force", ".")
    _git(folder, until, *_NO_LOG, "commit", "--quiet", "--allow-empty", "--no-verify", "--message=start")
    files = take(str(folder))
    if files is None or has_attributes(files, str(folder)):
        return None
    _compact(folder, until)
    return take(str(folder))


def _hide(base: Prepared, own: Prepared) -> None:
    """Date the side's guidance files as those of base, and let git ignore new ones."""
    for name in own.guidance:
        same = base.folder / name
        date = same.stat().st_mtime if same.is_file() else FIRST_SECS
        os.utime(own.folder / name, (date, date))
    if added := [name for name in own.guidance if name not in base.contents and not {*name} & {*"\\\n"}]:
        (own.folder / ".git/info").mkdir(exist_ok=True)
        lines = ("/" + _FOR_GIT.sub(r"[\g<0>]", name) + "\n" for name in added)
        (own.folder / ".git/info/exclude").write_bytes(os.fsencode("".join(lines)))


def _compact(folder: Path, until: float) -> None:
    """Leave as few files and folders in the repository as git accepts: each trial gets them."""
    repository = folder / ".git"
    _git(folder, until, *_NO_INDEX_BACK, "pack-objects", "--all", "--quiet", str(repository / "pack"))
    commit = (repository / "refs/heads/main").read_text(encoding="ascii")
    (repository / "packed-refs").write_text(f"{commit.strip()} refs/heads/main\n", encoding="ascii")
    (repository / "COMMIT_EDITMSG").unlink()
    for part in ("refs/heads", "objects"):
        shutil.rmtree(repository / part)
    (repository / "objects/pack").mkdir(parents=True)
    for file in repository.glob("pack-*"):
        file.rename(repository / "objects/pack" / file.name)


def _git(folder: Path, until: float, *arguments: str) -> None:
    environment = {**IDENTIFIED, "PATH": os.environ.get("PATH", os.defpath)}
    done = _in_time([*GIT, *arguments], folder, environment, until)
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip()
        raise CannotRunError(f"git failed in a workspace: {reason}", "Try `git add` by hand in the template.")


def _in_time(
    command: list[str], folder: Path, environment: dict[str, str], until: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of ours until that time, on the monotonic clock; TooSlowError if it is killed then."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=max(0.0, until - time.monotonic()),
        )
    except subprocess.TimeoutExpired:
        what = "copy" if command[0] == "cp" else "commit"
        raise TooSlowError(TOO_SLOW.format(what)) from None
