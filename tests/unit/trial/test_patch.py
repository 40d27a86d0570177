"""Patches that are written without git, judged by git."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.trial.test_workspace import write
from tidegate.trial.snapshot import Snapshot, take
from tidegate.trial.workspace_diff import MOST_LINES, patch

WORDS = ["one\n", "two\n", "three\n", "\n", "  four\n", "two\r\n"]


def snapshot(folder: Path) -> Snapshot:
    files = take(str(folder))
    assert files is not None
    return files


def between(folder: Path, before: dict[str, str], after: dict[str, str]) -> bytes | None:
    return patch(snapshot(write(folder / "a", before)), snapshot(write(folder / "b", after)))


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


def test_nothing_changed_gives_an_empty_patch(tmp_path: Path) -> None:
    assert between(tmp_path, {"a": "1", "d/b": ""}, {"a": "1", "d/b": ""}) == b""


@pytest.mark.parametrize("seed", range(20))
def test_applied_by_git_it_turns_one_folder_into_the_other(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)

    def text() -> str:
        return "".join(draw.choices(WORDS, k=draw.randrange(30))) + draw.choice(["", "end"])

    names = ["a", "b c", "d/e", "d/f.txt", "g+h"]
    before = {name: text() for name in names}
    after = {name: draw.choice([before[name], text()]) for name in names} | ({"new/one": text()} if seed % 2 else {})
    if not seed % 2:
        del after["d/e"]
    for name in after:
        if name in before and draw.random() < 0.5:
            after[name] = before[name].replace("three\n", "3\n", 1)

    diff = between(tmp_path, before, after)

    assert diff is not None
    applied = ["git", "apply", "--whitespace=nowarn", "--allow-empty", "-"]
    subprocess.run(applied, cwd=tmp_path / "a", input=diff, check=True)
    files = [{path: entry.data for path, entry in snapshot(tmp_path / side).items() if path != "d"} for side in "ab"]
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"zeros": "a\0b"}),
        ({}, {"umlaut é": "1\n"}),
        ({}, {'quote"': "1\n"}),
        ({"old": "1\n"}, {"renamed": "1\n"}),
        ({"f": "x\n" * (MOST_LINES + 1)}, {"f": "y\n" * (MOST_LINES + 1)}),
        ({".gitattributes": "* text\n", "f": "1\n"}, {".gitattributes": "* text\n", "f": "2\n"}),
        ({}, {"sub/.git/HEAD": "ref: refs/heads/main\n"}),
        ({}, {"sub/.git": "gitdir: ../elsewhere\n"}),
    ],
)
def test_what_only_git_knows_how_to_write_is_left_to_git(
    tmp_path: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    assert between(tmp_path, before, after) is None


def test_links_and_changed_modes_are_left_to_git(tmp_path: Path) -> None:
    start = snapshot(write(tmp_path / "a", {"f": "1\n"}))
    (write(tmp_path / "b", {"f": "1\n"}) / "f").chmod(0o755)
    (write(tmp_path / "c", {"f": "1\n"}) / "link").symlink_to("f")

    assert patch(start, snapshot(tmp_path / "b")) is None
    assert patch(start, snapshot(tmp_path / "c")) is None
