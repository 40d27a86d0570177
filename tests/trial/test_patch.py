"""Patches that are written without git, judged by git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.unit.trial.test_snapshot import between


def by_git(folder: Path) -> bytes:
    def git(side: str, *arguments: str) -> bytes:
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        place = [f"--git-dir={folder}/git", f"--work-tree={folder}/{side}"]
        command = ["git", "-c", "user.name=n", "-c", "user.email=e", *place, *arguments]
        return subprocess.run(command, cwd=folder / side, env=environment, check=True, capture_output=True).stdout

    git("a", "init", "--quiet")
    git("a", "add", "--all", ".")
    git("a", "commit", "--quiet", "--allow-empty", "--message=start")
    git("b", "add", "--all", ".")
    return git("b", "diff", "--cached", "--binary")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"new.txt": "1\n2\n"}),
        ({}, {"new": "no end"}),
        ({}, {"empty": ""}),
        ({"gone": "1\n"}, {}),
        ({"gone": ""}, {}),
        ({"d/f": "1\n2\n3\n"}, {"d/f": "1\n2\n3\n4"}),
        ({"f": "1\n2"}, {"f": "1\n2\n"}),
        ({"f": "1\n"}, {"f": ""}),
        ({"f": ""}, {"f": "1\n"}),
        ({"a name": "1\n"}, {"a name": "2\n"}),
        ({"f": "".join(f"{n}\n" for n in range(99))}, {"f": "".join(f"{n}\n" for n in range(99) if n not in (5, 70))}),
        ({"same": "1\n", "f": "1\n"}, {"same": "1\n", "f": "2\n"}),
    ],
)
def test_it_is_what_git_writes(tmp_path: Path, before: dict[str, str], after: dict[str, str]) -> None:
    """Except for what git puts behind a hunk's range: the line above that looks like a heading."""
    found = between(tmp_path, before, after)

    assert found is not None
    assert found == by_git(tmp_path)
