"""Runs git safely: no hooks or programs from a commit, no prompts, and no other repository than the given one."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tidegate.errors import CannotRunError

# Do not run hooks or file system monitors, and do not read the configuration of a bare repository that a commit may
# contain in one of its folders.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "safe.bareRepository=explicit",
    "advice.detachedHead=false",
)
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))

# A git hook that starts Tidegate sets these variables; they would redirect every command to another repository.
_ELSEWHERE = (
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
)
PATIENCE_S = 600.0  # for one command, unless its caller has less
TIMED_OUT = 124
NO_ANSWER = "no answer in time"

# The author of Tidegate's own commits.
IDENTITY = {
    "GIT_AUTHOR_NAME": "tidegate",
    "GIT_AUTHOR_EMAIL": "tidegate@localhost",
    "GIT_COMMITTER_NAME": "tidegate",
    "GIT_COMMITTER_EMAIL": "tidegate@localhost",
}


def git(
    root: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    given: str = "",
    timeout_s: float = PATIENCE_S,
) -> subprocess.CompletedProcess[str]:
    """Run git in `root` and return its result, also if it fails.

    `env` holds additional variables. After `timeout_s` seconds, the return code is TIMED_OUT.
    """
    done = _run(root, arguments, env or {}, given.encode(), timeout_s)
    stdout, stderr = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    stdout = stdout if "-z" in arguments else stdout.replace("\r\n", "\n")  # with -z, a line end is a part of a name
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr.replace("\r\n", "\n"))


def as_alternate(objects: Path | str) -> dict[str, str]:
    """Return the variable by which git also reads this folder of objects. Unquoted, a colon in it would end it."""
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": json.dumps(str(objects), ensure_ascii=False)}


def must(root: Path, *arguments: str, env: Mapping[str, str] | None = None, given: str = "") -> str:
    """Return git's output, stripped unless NULs end its entries. Raises CannotRunError with its first error."""
    done = git(root, *arguments, env=env, given=given)
    _check(arguments, done.returncode, done.stderr)
    return done.stdout if "-z" in arguments else done.stdout.strip()


def names(root: Path, *arguments: str) -> list[str]:
    """Return the entries that a git command lists with `-z`; bytes that are not UTF-8 are surrogates, as in paths."""
    done = _run(root, arguments, {}, b"", PATIENCE_S)
    _check(arguments, done.returncode, done.stderr.decode(errors="replace"))
    return os.fsdecode(done.stdout).split("\0")[:-1]


def _check(arguments: Sequence[str], status: int, stderr: str) -> None:
    if status != 0:
        rows = (stderr.strip() or "no message").splitlines()
        reason = next((row for row in rows if row.startswith(("error: ", "fatal: "))), rows[-1])
        raise CannotRunError(f"`git {arguments[0]}` failed: {reason}", "Try the same git command by hand.")


def read_blobs(root: Path, shas: Sequence[str]) -> Iterator[bytes]:
    """Yield the contents of these objects. All of them must exist and be blobs."""
    done = _run(root, ("cat-file", "--batch"), {}, "".join(f"{sha}\n" for sha in shas).encode(), PATIENCE_S)
    answers = io.BytesIO(done.stdout)
    for _ in shas:
        size = int(answers.readline().split()[2])
        yield answers.read(size)
        answers.readline()


def _run(
    root: Path, arguments: Sequence[str], env: Mapping[str, str], given: bytes, timeout_s: float
) -> subprocess.CompletedProcess[bytes]:
    inherited = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    try:
        return subprocess.run(
            ["git", *_OPTIONS, *arguments],
            cwd=root,
            env={**inherited, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C", **env},
            input=given,
            capture_output=True,
            check=False,
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, TIMED_OUT, b"", NO_ANSWER.encode())
    except FileNotFoundError:
        if not root.is_dir():
            raise CannotRunError(f"the folder {root} does not exist.", "Name a folder of the repository.") from None
        raise CannotRunError("`git` was not found on PATH.", "Install git.") from None
