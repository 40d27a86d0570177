"""Tells which commits do not belong to the branch that a pull request goes to."""

from __future__ import annotations

from pathlib import Path

from tidegate.model.revision import Revision
from tidegate.vcs.git import git, must


class ForeignCommits:
    """The commits that the target branch does not have: the pull request's own, and those that it had before a rebase.

    A shallow clone knows the pull request's own ones only: it lacks older commits of the target branch as well.
    """

    def __init__(self, root: Path, base: Revision, head: Revision) -> None:
        self._root = root
        self._of_base = (base.sha, base.ref)  # the merge base, and the branch that may have newer commits
        self._known = dict.fromkeys(must(root, "rev-list", f"{base.sha}..{head.sha}").split(), True)
        self._is_shallow = must(root, "rev-parse", "--is-shallow-repository") == "true"

    def __contains__(self, sha: object) -> bool:
        if sha not in self._known:
            self._known[str(sha)] = not self._is_shallow and not self._is_of_base(str(sha))
        return self._known[str(sha)]

    def _is_of_base(self, sha: str) -> bool:
        return any(self._has(commit, sha) for commit in self._of_base)

    def _has(self, commit: str, sha: str) -> bool:
        names = ("--end-of-options", f"{sha}^{{commit}}", f"{commit}^{{commit}}")
        return git(self._root, "merge-base", "--is-ancestor", *names).returncode == 0
