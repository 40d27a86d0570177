"""Selects the commits to compare, and lists what changed between them."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tidegate.errors import ConfigurationError
from tidegate.model.revision import Revision
from tidegate.text.shorten import shown_name
from tidegate.vcs.git import IDENTITY, git, must, names

_MODULES = "--ignore-submodules=none"  # whatever a commit's .gitmodules says
_MAIN = ("main", "master", "trunk", "develop")  # usual names of the target branch
MOST_NAMED = 500  # files in one command of git, whose length has a limit


def repository_root(folder: Path) -> Path:
    """Return the top folder of the repository that contains `folder`.

    Raises ConfigurationError if `folder` does not exist or is not in a repository.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"there is no folder {folder}.", "Name the repository's folder with `--repo`.")
    done = git(folder, "rev-parse", "--show-toplevel")
    if done.returncode != 0:
        raise ConfigurationError(
            f"{folder.resolve()} is not in a git repository.", "Run it in a repository, or `git init` one."
        )
    return Path(done.stdout.strip())


@cache
def main_folder(checkout: Path) -> Path:
    """Return the folder of the repository that a checkout belongs to; the checkout itself if git does not know it."""
    done = git(checkout, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return Path(done.stdout.strip()).parent if done.returncode == 0 else checkout


def is_shallow(root: Path) -> bool:
    """Return True if the clone lacks a part of the history."""
    return git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"


def commit_of(root: Path, ref: str) -> str | None:
    """Return the full hash of the commit that `ref` names, or None."""
    done = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return done.stdout.strip() if done.returncode == 0 else None


def _branch(root: Path, ref: str) -> str | None:
    """Return the commit of the branch: a local one, one of the remote that `ref` names, or one of `origin`."""
    if ref == "HEAD" or re.fullmatch("[0-9a-f]{40,64}", ref):
        return None
    # A branch may be named `origin/main`, too.
    places = ("remotes", "heads") if ref.startswith("origin/") else ("heads", "remotes", "remotes/origin")
    names = [f"refs/{place}/{ref}" for place in places]
    found = git(root, "for-each-ref", "--format=%(refname) %(objectname)", *names).stdout.splitlines()
    commits = dict(line.rsplit(" ", 1) for line in found)
    return next((commits[name] for name in names if name in commits), None)


def _as_deep(root: Path) -> tuple[str, ...]:
    """Return fetch options that keep the clone's depth. Shallow options would turn a full clone into a shallow one."""
    return ("--filter=blob:none", "--depth=1") if is_shallow(root) else ()


def resolve(root: Path, ref: str) -> Revision:
    """Return the commit that `ref` names: a local one, one of `origin`, or one fetched from there.

    A branch comes before a tag of the same name, which the author of a pull request may have set. A hash must be
    complete to be fetched. Raises ConfigurationError if there is no such commit.
    """
    sha = _branch(root, ref) or commit_of(root, ref)
    if sha is None and not ref.startswith("-") and git(root, "remote", "get-url", "origin").returncode == 0:
        fetched = git(root, "fetch", "--quiet", *_as_deep(root), "origin", ref)
        sha = commit_of(root, "FETCH_HEAD") if fetched.returncode == 0 else None
    if sha is None:
        raise ConfigurationError(
            f"there is no commit `{ref}` in {root}{_meant(root, ref)}.",
            "Name a branch, a tag or a commit that `git log` knows; in a workflow's checkout step, "
            "set `fetch-depth: 2`, or `0` where it has a `ref`.",
        )
    return Revision(sha=sha, ref=ref)


def _meant(root: Path, ref: str) -> str:
    """Return a "did you mean" hint if `ref` is a usual name of the target branch, which has another one here, or ""."""
    known = [name for name in _MAIN if _branch(root, name)] if ref in _MAIN else []
    return f" (did you mean {' or '.join(f'`{name}`' for name in known)}?)" if known else ""


def has_file(root: Path, revision: Revision, path: str) -> bool:
    """Return True if the commit contains the file."""
    return git(root, "cat-file", "-e", "--end-of-options", f"{revision.sha}:{path}").returncode == 0


def working_tree(root: Path) -> Revision:
    """Return the checked-out commit, and whether any file in the working tree differs from it."""
    head = resolve(root, "HEAD")
    branch = git(root, "symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip()
    return Revision(sha=head.sha, ref=branch or "HEAD", dirty=is_dirty(root))


def is_dirty(root: Path) -> bool:
    """Return True if any file in the working tree differs from the checked-out commit."""
    return bool(must(root, "status", "--porcelain"))


def branch_name(root: Path, ref: str) -> str:
    """Return the branch that `ref` names, without its remote: `x` for `refs/heads/x`, `origin/x` and `HEAD` on it.

    Returns `ref` itself if it is a commit, a tag, or unknown, and `HEAD` if no branch is checked out.
    """
    found = git(
        root, "rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", ref
    ).stdout.strip()
    kind, _, name = found.removeprefix("refs/").partition("/")
    if kind == "remotes":
        name = name.partition("/")[2]
    return name if name and kind in ("heads", "remotes") else ref


def default_base(root: Path) -> str:
    """Return the branch that pull requests target: origin's default branch, or the first one with a usual name.

    Raises ConfigurationError if there is none of these.
    """
    remote = git(root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").stdout.strip()
    usual = [f"{place}{name}" for names in (_MAIN[:2], _MAIN[2:]) for place in ("", "origin/") for name in names]
    for name in (remote, *usual):
        if name and commit_of(root, name):
            return name
    raise ConfigurationError("no base branch was found.", "Name it: `tidegate pr --base BRANCH`.")


def merge_base(root: Path, base: Revision, head: Revision) -> Revision:
    """Return the commit at which head branched off base, so that later changes on base do not count as head's.

    If they have merged each other, several commits qualify. The pull request's author chooses their dates, so the
    one on base's own line of first parents is taken. Fetches the full history if the clone is shallow. Raises
    ConfigurationError if there is no common commit.
    """
    done = git(root, "merge-base", "--all", base.sha, head.sha)
    if done.returncode != 0 and is_shallow(root):
        git(root, "fetch", "--quiet", "--filter=blob:none", "--unshallow", "origin")
        done = git(root, "merge-base", "--all", base.sha, head.sha)
    if done.returncode != 0:
        raise ConfigurationError(
            f"`{base.ref}` and `{head.ref}` have no commit in common here.",
            "In a shallow clone, fetch what is missing: `fetch-depth: 2` in a workflow's checkout step "
            "(`0` where it has a `ref`), or `git fetch --unshallow`.",
        )
    found = done.stdout.split()
    own = must(root, "rev-list", "--first-parent", base.sha).split() if len(found) > 1 else []
    return Revision(sha=next((sha for sha in own if sha in found), found[0]), ref=base.ref)


def checked_out_sides(root: Path, head_sha: str, base_ref: str) -> tuple[str, str]:
    """Return what to compare when a pull request is checked out: (base, head), for `resolve`.

    Two commits are the pull request: its head, which is compared with where it left the base branch, and GitHub's test
    merge, whose second parent is that head and whose first parent is base. Any other commit is refused, also another
    merge: its first parent would be taken for base. (The payload's base.sha may be older than the test merge, and
    base's later changes would be charged to the pull request.)
    """
    head = must(root, "rev-parse", "HEAD")
    if head == head_sha:
        return base_ref, head
    both = parents(root)
    if len(both) == 2 and both[1] == head_sha and not _is_known_foreign(root, both[0], base_ref):
        return both[0], head
    raise ConfigurationError(
        f"{_checked_out(root)} is checked out, which is neither the pull request's head {head_sha[:12]} "
        f"nor GitHub's test merge of it into `{base_ref}`.",
        "In the step of actions/checkout, remove the line `ref:`, or set "
        "`ref: ${{ github.event.pull_request.head.sha }}` (`ref: ${{ inputs.sha }}` on workflow_dispatch). "
        "The name of a branch checks out whatever was pushed last.",
    )


def require_checked_out(root: Path, sha: str) -> None:
    """Raise ConfigurationError unless HEAD is that commit, which a merge queue wants to merge."""
    if must(root, "rev-parse", "HEAD") != sha:
        raise ConfigurationError(
            f"{_checked_out(root)} is checked out, and the merge group is {sha[:12]}.",
            "In the step of actions/checkout, remove the line `ref:`: on merge_group it then checks out the group.",
        )


def parents(root: Path) -> list[str]:
    """Return the parents of HEAD, from the commit's own text: a shallow clone hides them from other commands."""
    header = must(root, "cat-file", "commit", "HEAD").partition("\n\n")[0]
    return [line.split()[1] for line in header.splitlines() if line.startswith("parent ")]


def _is_known_foreign(root: Path, sha: str, branch: str) -> bool:
    """Return True if the whole branch is here and does not have that commit; a shallow clone cannot tell."""
    tip = commit_of(root, f"origin/{branch}") or commit_of(root, branch)
    if tip is None or is_shallow(root):
        return False
    return git(root, "merge-base", "--is-ancestor", sha, tip).returncode == 1


def _checked_out(root: Path) -> str:
    """Return HEAD's hash, and its branch or the first line of its message."""
    subject = must(root, "log", "-1", "--format=%s", "HEAD")
    branch = git(root, "symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip()
    what = f"branch `{branch}`" if branch else f"“{subject[:60]}”"
    return f"{must(root, 'rev-parse', 'HEAD')[:12]} ({what})"


def changed_files(root: Path, base: Revision, head: Revision, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the files that differ between the commits and match one of the globs (`**` as in .gitignore)."""
    flags = ("-r", "--name-only", "-z", "--no-renames", _MODULES)
    return tuple(map(shown_name, _matching(root, patterns, "diff-tree", *flags, base.sha, head.sha)))


def _matching(root: Path, patterns: Sequence[str], *command: str) -> tuple[str, ...]:
    """Return those of the names that a git command lists that match one of the globs, sorted."""
    if not patterns:
        return ()
    return tuple(sorted({*names(root, *command, "--", *(f":(glob){pattern}" for pattern in patterns))}))


def tree_of(root: Path, rev: str) -> str:
    """Return the hash of a commit's tree. Commits with equal trees have identical files."""
    return must(root, "rev-parse", "--verify", "--end-of-options", f"{rev}^{{tree}}")


def trees_of(root: Path, *revisions: Revision) -> list[str]:
    """Return the hash of each commit's tree."""
    asked = "".join(f"{revision.sha}^{{tree}}\n" for revision in revisions)
    return must(root, "cat-file", "--batch-check=%(objectname)", given=asked).splitlines()


def tree_hash(root: Path, revision: Revision, patterns: Sequence[str]) -> str:
    """Return a SHA-256 of the commit's files that match one of the globs: names, modes and contents."""
    nothing = must(root, "hash-object", "-t", "tree", "/dev/null")
    flags, sides = ("-z", "--no-abbrev", "--no-renames", _MODULES), (nothing, revision.sha)
    matching = {*_matching(root, patterns, "diff", "--name-only", *flags, *sides)}
    listed = names(root, "diff", "--raw", *flags, *sides)
    kept = (f"{facts}\0{name}\0" for facts, name in zip(listed[::2], listed[1::2], strict=False) if name in matching)
    return hashlib.sha256(os.fsencode("".join(kept))).hexdigest()


def file_diffs(root: Path, base: Revision, head: Revision, paths: Sequence[str]) -> dict[str, str]:
    """Return the unified diffs of these files by path. Diff programs configured in the repository are not run."""
    parts = (paths[start : start + MOST_NAMED] for start in range(0, len(paths), MOST_NAMED))
    return {name: diff for part in parts for name, diff in _file_diffs(root, base, head, part).items()}


def _file_diffs(root: Path, base: Revision, head: Revision, paths: Sequence[str]) -> dict[str, str]:
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--submodule=short", _MODULES)
    asked = ("-O/dev/null", *flags, base.sha, head.sha, "--", *(f":(literal){path}" for path in paths))
    changed = git(root, "diff", "--name-only", "-z", *asked).stdout.split("\0")
    found: dict[str, str] = {}  # by first line: two diffs of a file that becomes a link have the same
    for diff in re.split(r"^(?=diff --git )", must(root, "diff", *asked), flags=re.MULTILINE)[1:]:
        first = diff.partition("\n")[0]
        found[first] = found.get(first, "") + diff
    return dict(zip(filter(None, changed), map(str.strip, found.values()), strict=False))  # git names an entry twice


def tracked_files(root: Path, folder: str) -> tuple[str, ...]:
    """Return the tracked files below a folder of the checked-out commit, and what is in place of a folder around it: a
    submodule, say.
    """
    around = [one.as_posix() for one in (PurePosixPath(folder), *PurePosixPath(folder).parents)][:-1]
    found = names(root, "ls-files", "-z", "--", f":(literal){around[-1]}" if around else folder)
    return tuple(name for name in found if name in around or not around or name.startswith(f"{around[0]}/"))


def tracked_matching(root: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the tracked files of the checked-out commit that match one of the globs."""
    return _matching(root, patterns, "ls-files", "-z")


def matches_none(root: Path, pattern: str) -> bool:
    """Return True if the glob matches no tracked file; False outside of a repository."""
    listed = git(root, "ls-files", "-z", "--", f":(glob){pattern}")
    return listed.returncode == 0 and not listed.stdout


def untracked_files(root: Path, paths: Sequence[str]) -> dict[str, bool]:
    """Return the files at or below these paths that git does not track, and whether it ignores them.

    {} outside of a repository.
    """
    if not paths:
        return {}
    specs = [f":(literal){path}" for path in paths]
    others = git(root, "ls-files", "--others", "-z", "--", *specs)
    if others.returncode != 0 or not others.stdout:
        return {}
    ignored = git(root, "ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", *specs)
    hidden = set(ignored.stdout.split("\0"))
    return {path: path in hidden for path in others.stdout.split("\0") if path}


def is_ignored(root: Path, path: str) -> bool:
    """Return True if git ignores the file, so that no checkout contains it."""
    return git(root, "check-ignore", "--quiet", "--", path).returncode == 0


def leading_elsewhere(root: Path, *specs: str) -> tuple[str, ...]:
    """Return the tracked symbolic links and submodules that match a pathspec, such as a folder."""
    entries = names(root, "ls-files", "--stage", "-z", "--", *specs)
    return tuple(entry.partition("\t")[2] for entry in entries if entry.startswith(("120000 ", "160000 ")))


def commit_with(root: Path, parent: str, names: Sequence[str], file: Path) -> str:
    """Return a new commit on top of `parent` that contains `file` under each of the names.

    No branch points to the commit, so git deletes it eventually.
    """
    with tempfile.TemporaryDirectory() as folder:
        own = {"GIT_INDEX_FILE": str(Path(folder, "index")), **IDENTITY}
        blob = must(root, "hash-object", "-w", "--no-filters", "--", str(file.resolve()))
        must(root, "read-tree", parent, env=own)
        entries = (word for name in names for word in ("--cacheinfo", f"100644,{blob},{name}"))
        must(root, "update-index", "--add", "--replace", *entries, env=own)
        tree = must(root, "write-tree", env=own)
        return must(root, "commit-tree", tree, "-p", parent, "-m", f"{names[0]} as in {file.name}", env=own)


class ForeignCommits:
    """The commits that the target branch does not have: the pull request's own, and those that it had before a rebase.

    A shallow clone knows the pull request's own ones only: it lacks older commits of the target branch as well.
    """

    def __init__(self, root: Path, base: Revision, head: Revision) -> None:
        self._root = root
        self._of_base = (base.sha, base.ref)  # the merge base, and the branch that may have newer commits
        self._known = dict.fromkeys(must(root, "rev-list", f"{base.sha}..{head.sha}").split(), True)
        self._is_shallow = is_shallow(root)

    def __contains__(self, sha: object) -> bool:
        if sha not in self._known:
            self._known[str(sha)] = not self._is_shallow and not self._is_of_base(str(sha))
        return self._known[str(sha)]

    def _is_of_base(self, sha: str) -> bool:
        return any(self._has(commit, sha) for commit in self._of_base)

    def _has(self, commit: str, sha: str) -> bool:
        names = ("--end-of-options", f"{sha}^{{commit}}", f"{commit}^{{commit}}")
        return git(self._root, "merge-base", "--is-ancestor", *names).returncode == 0


PATIENCE_S = 20.0
MOST = 200  # lines


class FileLine(NamedTuple):
    """A line of a file of the commit; lines count from 1."""

    path: str
    number: int
    text: str


def lines_with(root: Path, revision: Revision, text: str, patterns: Sequence[str]) -> Iterator[FileLine]:
    """Yield the first lines that contain the text, in text files that match one of the globs (as in .gitignore)."""
    specs = [f":(glob){pattern}" for pattern in patterns]
    found = git(root, "grep", "-n", "-z", "-I", "-F", "-e", text, revision.sha, "--", *specs, timeout_s=PATIENCE_S)
    for line in found.stdout.splitlines()[:MOST]:
        path, number, content = (*line.removeprefix(f"{revision.sha}:").split("\0", 2), "", "")[:3]
        if path and number.isdigit():  # a name may have a line end
            yield FileLine(path, int(number), content)
