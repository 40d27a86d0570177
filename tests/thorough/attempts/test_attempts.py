"""Pull requests with a broken tool, each with a way to hide it: none of them ends green."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.as_root import SYSTEM_PATH, needs_open_python, needs_root, tidegate
from tests.conftest import Repository
from tests.journeys.conftest import Ran
from tests.thorough.attempts.attempt import FILES, Attempt, Link
from tests.thorough.attempts.by_budget import BUDGET
from tests.thorough.attempts.by_build import BUILDS
from tests.thorough.attempts.by_definition import DEFINITIONS, LIMITS
from tests.thorough.attempts.by_executor import EXECUTOR
from tests.thorough.attempts.by_guidance import GUIDANCE
from tests.thorough.attempts.by_judge import JUDGE
from tests.thorough.attempts.by_path import PATHS
from tests.thorough.attempts.by_replay import REPLAY_LIMITS, REPLAYS
from tests.thorough.attempts.by_repository import REPOSITORY
from tests.thorough.attempts.by_suite import SUITES
from tests.thorough.attempts.by_tool import TOOL, TOOL_LIMITS
from tests.warm import run_tidegate

ALL = {
    **DEFINITIONS,
    **REPOSITORY,
    **GUIDANCE,
    **BUDGET,
    **SUITES,
    **BUILDS,
    **LIMITS,
    **REPLAYS,
    **REPLAY_LIMITS,
    **EXECUTOR,
    **JUDGE,
    **PATHS,
}
HOSTILE = {**TOOL, **TOOL_LIMITS}


def make(attempt: Attempt, folder: Path) -> Repository:
    """The attempt's repository: main, and the branch `pr`."""
    repo = Repository(folder / "repo")
    first = {name: text for name, text in {**FILES, **attempt.base}.items() if text is not None}
    for name, text in first.items():
        if isinstance(text, Link):
            (repo.root / name).parent.mkdir(parents=True, exist_ok=True)
            (repo.root / name).symlink_to(text)
    repo.commit({name: text for name, text in first.items() if not isinstance(text, Link)})
    tool = {} if attempt.tool is None else {"bin/notes": attempt.tool}
    repo.git("checkout", "--quiet", "-b", "pr")
    repo.write({**tool, **attempt.head})
    if attempt.prepare is not None:
        attempt.prepare(repo)
    if not repo.git("log", "main..pr"):
        repo.commit({})
    return repo


def arguments(attempt: Attempt, out: Path) -> list[str]:
    return ["pr", "--base", "main", "--head", "pr", "--pause", "0", "--out", str(out), *attempt.arguments]


def check(attempt: Attempt, ran: Ran) -> None:
    """It ended as the attempt says."""
    got = ran.result["verdict"]["reason"] if (ran.out / "result.json").exists() else ran.stderr
    assert ran.code == attempt.code, f"{got}\n{ran.stderr}"
    assert any(end in got for end in attempt.ends.split(" or ")), got


@pytest.mark.parametrize("attempt", ALL.values(), ids=ALL)
def test_it_ends_as_expected(attempt: Attempt, tmp_path: Path) -> None:
    repo, out = make(attempt, tmp_path), tmp_path / "out"
    env = {**os.environ, **attempt.environment}

    check(attempt, Ran(run_tidegate(*arguments(attempt, out), cwd=repo.root, env=env), out))


@needs_root
@needs_open_python
@pytest.mark.parametrize("attempt", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_tool_ends_as_expected(attempt: Attempt, open_folder: Path) -> None:
    """Each trial runs as a user of its own, as in the container."""
    repo, out = make(attempt, open_folder), open_folder / "out"
    done = subprocess.run(
        tidegate(*arguments(attempt, out)),
        cwd=repo.root,
        env={"PATH": SYSTEM_PATH, "HOME": "/root", **attempt.environment},
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
        timeout=600,
    )

    check(attempt, Ran(done, out))
