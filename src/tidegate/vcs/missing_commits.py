"""Fetches what a shallow checkout lacks of the two sides, before anything of the pull request runs.

Later commands need no token then: files that a partial clone leaves out are fetched here too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tidegate.errors import ConfigurationError
from tidegate.model.revision import Revision
from tidegate.vcs.git import git, must
from tidegate.vcs.revisions import commit_of, is_shallow, parents
from tidegate.vcs.worktrees import checkout

PATIENCE_S = 300.0  # for each command that contacts `origin`
_CHECKOUT = "In the step of actions/checkout, set `fetch-depth: 0`"


def require_whole_checkout(workspace: Path) -> None:
    """Raise ConfigurationError unless the folder is a repository with all files of the checked-out commit."""
    if not workspace.is_dir() or git(workspace, "rev-parse", "--verify", "--quiet", "HEAD").returncode != 0:
        raise ConfigurationError(
            f"{workspace} is not a git repository with a commit.",
            "Put a step with actions/checkout before this one. If that step has a `path:`, set this one's to the same.",
        )
    if git(workspace, "config", "--bool", "core.sparseCheckout").stdout.strip() == "true":
        raise ConfigurationError(
            f"{workspace} is a sparse checkout, and the suite needs all files of both sides.",
            "In the step of actions/checkout, remove the lines `sparse-checkout:` and `sparse-checkout-cone-mode:`.",
        )


def fetch_missing(root: Path, base: str, head: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Fetch base and the history that it shares with head, if they are missing. Return a sentence for each fetch.

    `base` is a branch or a full hash. `environ` has git's credentials for `origin`. Raises ConfigurationError if
    `origin` does not give what is missing.
    """
    said = []
    if base in parents(root) and _here(root, base) is None:  # a test merge with `fetch-depth: 1`
        sha = must(root, "rev-parse", head)
        git(root, "fetch", "--quiet", "--no-tags", "--depth=2", "origin", sha, env=environ, timeout_s=PATIENCE_S)
        said += [f"`{base}` was not in the checkout and has been fetched."] if _here(root, base) else []
    if _here(root, base) is None:
        _fetch_base(root, base, environ)
        said.append(f"`{base[:40]}` was not in the checkout and has been fetched.")
    tip = _here(root, base) or "FETCH_HEAD"
    if _shared(root, tip, head) is None and is_shallow(root):
        said.append(_deepen(root, base, environ))
        _fill(root, _shared(root, tip, head), environ)
    return tuple(said)


def _fetch_base(root: Path, base: str, environ: Mapping[str, str]) -> None:
    depth = ("--depth=1",) if is_shallow(root) else ()
    is_hash = len(base) == 40 and set(base) <= set("0123456789abcdef")
    what = base if is_hash else f"+refs/heads/{base}:refs/remotes/origin/{base}"
    done = git(root, "fetch", "--quiet", "--no-tags", *depth, "origin", what, env=environ, timeout_s=PATIENCE_S)
    if done.returncode != 0:
        raise ConfigurationError(
            f"the base commit `{base[:40]}` is not in the checkout and could not be fetched: {_reason(done.stderr)}.",
            f"{_CHECKOUT}, and give the job `contents: read`.",
        )


def _deepen(root: Path, base: str, environ: Mapping[str, str]) -> str:
    done = git(
        *(root, "fetch", "--quiet", "--no-tags", "--filter=blob:none", "--unshallow", "origin"),
        env=environ,
        timeout_s=PATIENCE_S,
    )
    if done.returncode != 0:
        raise ConfigurationError(
            f"the checkout is too shallow to find where head left `{base[:40]}`, and its history could not be fetched:"
            f" {_reason(done.stderr)}.",
            f"{_CHECKOUT}, and give the job `contents: read`.",
        )
    return (
        f"The checkout was too shallow to find where head left `{base[:40]}`: its whole history has been fetched,"
        " without old files."
    )


def _fill(root: Path, shared: str | None, environ: Mapping[str, str]) -> None:
    """Fetch the files of the merge base in one request, by checking it out once."""
    if shared is None:
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        checkout(root, Revision(sha=shared, ref=shared), Path(folder, "base"), environ),
    ):
        return


def _here(root: Path, ref: str) -> str | None:
    """Return the hash of a local commit or a branch of `origin`, or None. Nothing is fetched."""
    return commit_of(root, ref) or commit_of(root, f"origin/{ref}")


def _shared(root: Path, base: str, head: str) -> str | None:
    done = git(root, "merge-base", base, head)
    return done.stdout.split()[0] if done.returncode == 0 else None


def _reason(stderr: str) -> str:
    """Return git's first line that says what is wrong; the last one may be the end of its advice."""
    lines = stderr.strip().splitlines() or ["no message"]
    telling = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: ", "ERROR: "))]
    return (telling or lines)[0].rstrip(".")
