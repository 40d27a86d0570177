"""git as a program: no hooks, no prompts, nothing of the environment that leads to another repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tidegate.errors import CannotRunError

# Hooks of the checkout and prompts for passwords have no place in a measurement.
_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")

# Whose commits ours are.
IDENTITY = {
    "GIT_AUTHOR_NAME": "tidegate",
    "GIT_AUTHOR_EMAIL": "tidegate@localhost",
    "GIT_COMMITTER_NAME": "tidegate",
    "GIT_COMMITTER_EMAIL": "tidegate@localhost",
}


def git(root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it in `root`, whatever its end; `env`: more variables."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    # Set by a git hook that starts us; they would lead every command to another repository.
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        environment.pop(name, None)
    environment |= env or {}
    try:
        return subprocess.run(
            ["git", *_OPTIONS, *arguments],
            cwd=root,
            env=environment,
            text=True,
            errors="replace",
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except FileNotFoundError:
        raise CannotRunError("`git` was not found on PATH.", "Install git.") from None


def must(root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """What it prints. CannotRunError with its last word where it fails."""
    done = git(root, *arguments, env=env)
    if done.returncode != 0:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        raise CannotRunError(f"`git {arguments[0]}` failed: {reason}", "Try the same git command by hand.")
    return done.stdout.strip()
