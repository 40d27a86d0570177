"""Programs in every role of a trial try to get out of it: `table.py` says what comes through, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.as_root import needs_open_python, needs_root
from tests.thorough.escapes import run_all
from tests.thorough.escapes.table import AREAS, ROLES, WAYS, expected

pytestmark = [needs_root, needs_open_python]
CONFINED = {
    "container": {"own user", "files by Landlock", "network by Landlock and seccomp"},
    "root": {"own user", "network by namespace"},
    "user": {"same user as Tidegate", "network by namespace"},
}
MOUNTS = "files by Landlock and own mounts"


ran = cache(run_all.ran)  # once for all tests


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
    assert all(len(made) >= 330 for made in names.values()), {role: len(made) for role, made in names.items()}


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
    assert len(set(came_through(found))) >= 170, [one for one in found["attempts"] if not one["in"]]
    assert found["survivors"] == 1
