"""Programs in every role of a trial try to get out of it: `table.py` says what comes through, and why."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.as_root import needs_open_python, needs_root
from tests.thorough.escapes.table import AREAS, ROLES, WAYS, expected

pytestmark = [needs_root, needs_open_python]
MACHINE = Path(__file__).with_name("machine.py")
CONFINED = {
    "container": {"own user", "files by Landlock", "network by Landlock and seccomp"},
    "root": {"own user", "network by namespace"},
    "user": {"same user as Tidegate", "network by namespace"},
}
MOUNTS = "files by Landlock and own mounts"


@cache
def ran(way: str) -> dict[str, Any]:
    """What the machine of that way says, once for all tests."""
    # Not in TMPDIR: homes and repositories are seldom below /tmp or /dev/shm, which have mounts and rules of their own.
    with tempfile.TemporaryDirectory(prefix="open-", dir="/srv") as folder:
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, str(MACHINE), folder, way],
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def came_through(found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for one in found["attempts"]:
        if one["in"]:
            yield one["area"], one["name"], one["role"]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_comes_through_but_what_the_table_says(way: str) -> None:
    found = ran(way)
    assert set(came_through(found)) == expected(way), found["stderr"]
    assert found["survivors"] == 0


@pytest.mark.parametrize("way", WAYS)
def test_every_role_makes_its_attempts(way: str) -> None:
    names: dict[str, set[str]] = {}
    for one in ran(way)["attempts"]:
        names.setdefault(one["role"], set()).add(one["name"])
    assert names.keys() == set(ROLES), ran(way)["stderr"]
    assert all(len(made) >= 120 for made in names.values()), {role: len(made) for role, made in names.items()}


def test_the_table_has_the_number_of_attempts() -> None:
    names = {(one["area"], one["name"]) for one in ran("user")["attempts"]}
    assert Counter(area for area, _ in names) == {area: count for area, (count, *_) in AREAS.items()}


@pytest.mark.parametrize("way", WAYS)
def test_the_result_says_what_held(way: str) -> None:
    confinement = set(ran(way)["confinement"])
    assert confinement >= CONFINED[way] | {"system calls filtered"}
    assert (MOUNTS in confinement) == (way != "container")


def test_without_a_jail_the_attempts_come_through() -> None:
    """What comes through nowhere would show nothing; the rest needs a supervisor, a proxy or hardware."""
    found = ran("none")
    assert len(set(came_through(found))) >= 120, [one for one in found["attempts"] if not one["in"]]
    assert found["survivors"] == 1
