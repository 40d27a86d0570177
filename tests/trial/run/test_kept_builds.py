"""Builds of base that are kept on the machine, and used again for an unchanged commit."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import time
import zipfile
from collections.abc import Callable
from fcntl import LOCK_SH, flock
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import FILES
from tests.warm import run_tidegate
from tidegate.run.kept_builds import MAX_AGE, MOST, KeptBuild, builds_folder

Make = Callable[..., Any]


def checkout_at(folder: Path) -> Path:
    """A checkout, with its own path in what was built."""
    (folder / "bin").mkdir(parents=True)
    (folder / ".git").write_text(f"gitdir: {folder.name}\n")
    tool = folder / "bin" / "tool"
    tool.write_bytes(b"#!" + os.fsencode(folder) + b"/bin/sh\0\xff\n")
    tool.chmod(0o555)
    os.utime(tool, ns=(5, 7))
    (folder / "own").symlink_to(tool)
    (folder / "empty").mkdir()
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> KeptBuild:
    return KeptBuild(tmp_path / "cache" / "builds", "key")


def test_a_build_is_put_into_another_checkout_with_that_checkout_s_path(kept: KeptBuild, tmp_path: Path) -> None:
    kept.keep(checkout_at(tmp_path / "one"))
    two = tmp_path / "two"
    two.mkdir()
    (two / ".git").write_text("gitdir: two\n")
    (two / "source").write_text("of the commit, removed by the build\n")

    age = kept.take(two)

    assert age is not None
    assert 0 <= age < 3600
    tool = two / "bin" / "tool"
    assert tool.read_bytes() == b"#!" + os.fsencode(two) + b"/bin/sh\0\xff\n"
    assert (tool.stat().st_mode & 0o777, tool.stat().st_mtime_ns) == (0o555, 7)
    assert (two / "own").readlink() == tool
    assert sorted(path.name for path in two.iterdir()) == [".git", "bin", "empty", "own"]
    assert (two / ".git").read_text() == "gitdir: two\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "one", "two"], "nothing is left over"


def damage(place: Path) -> None:
    (place / "path").unlink()


def age(place: Path) -> None:
    os.utime(place, (0, time.time() - MAX_AGE - 60))


def open_up(place: Path) -> None:
    place.parent.chmod(0o777)


def give_away(place: Path) -> None:
    os.chown(place.parent, 1, 1)


@pytest.mark.parametrize("spoil", [damage, age, open_up, give_away])
def test_a_build_that_is_incomplete_old_or_writable_for_others_is_not_used(
    kept: KeptBuild, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    if spoil is give_away and os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    kept.keep(checkout_at(tmp_path / "one"))
    spoil(kept.builds / kept.key)
    two = checkout_at(tmp_path / "two")

    assert kept.take(two) is None
    assert b"/two/bin/sh" in (two / "bin" / "tool").read_bytes(), "the checkout is as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "one", "two"]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, "zip", "zipapp"])
def test_a_build_with_its_path_in_a_compressed_file_is_not_kept(
    kept: KeptBuild, tmp_path: Path, compress: Callable[[bytes], bytes] | str
) -> None:
    one, two = checkout_at(tmp_path / "one"), checkout_at(tmp_path / "two")
    for checkout, text in ((one, f"ROOT = '{one}'"), (two, "ROOT = '.'")):
        file = checkout / "own.data"
        if callable(compress):
            file.write_bytes(compress(text.encode() * 100))
        else:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("paths.py", text * 100)
        if compress == "zipapp":
            file.write_bytes(b"#!/usr/bin/env python3\n" + file.read_bytes())

    kept.keep(one)
    assert kept.take(two) is None
    kept.keep(two)
    assert kept.take(one) is not None


def test_a_build_with_a_damaged_archive_is_not_kept(kept: KeptBuild, tmp_path: Path) -> None:
    one = checkout_at(tmp_path / "one")
    (one / "own.gz").write_bytes(gzip.compress(b"a text")[:-4])
    kept.keep(one)
    assert kept.take(one) is None


def test_the_newest_builds_are_kept_and_one_in_use_is_not_removed(kept: KeptBuild, tmp_path: Path) -> None:
    one, used = checkout_at(tmp_path / "one"), -1
    for number in range(MOST + 3):
        KeptBuild(kept.builds, f"key{number}").keep(one)
        os.utime(kept.builds / f"key{number}", (0, time.time() - 1000 + number))
        if number == 0:
            used = os.open(kept.builds / "key0", os.O_RDONLY)
            flock(used, LOCK_SH)
    os.close(used)
    newest = {f"key{number}" for number in range(3, MOST + 3)}
    assert {path.name for path in kept.builds.iterdir()} == {"key0", *newest}


def test_of_two_runs_that_keep_the_same_build_the_first_one_stays(kept: KeptBuild, tmp_path: Path) -> None:
    kept.keep(checkout_at(tmp_path / "one"))
    kept.keep(checkout_at(tmp_path / "two"))
    assert (kept.builds / "key" / "path").read_text() == str(tmp_path / "one")
    assert [path.name for path in kept.builds.iterdir()] == ["key"]


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/home/me"}, "/home/me/.cache/tidegate/builds"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "/c"}, "/c/tidegate/builds"),
        ({"HOME": "/github/home"}, None),
        ({}, None),
        ({"XDG_CACHE_HOME": "here"}, None),
    ],
)
def test_builds_are_kept_where_later_runs_find_them(environ: dict[str, str], folder: str | None) -> None:
    assert builds_folder(environ) == (folder and Path(folder))


def test_none_are_kept_in_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "cache").mkdir()

    assert builds_folder({"XDG_CACHE_HOME": str(tmp_path / "cache")}) is None


BUILD = "build: [mkdir -p out, cp src/notes out/notes, sh build.sh]\n"
ATTACK = "find CACHE -type f -exec sh -c 'echo exit 1 > $1' sh {} \\; ; rm -rf CACHE ; true\n"


@pytest.mark.attempt("has its build overwrite the build of base that is kept on the machine", "regression")
def test_base_is_built_once_and_no_build_of_head_reaches_what_is_kept(make_repository: Make, tmp_path: Path) -> None:
    suite = FILES["tidegate.yaml"].replace("path: [bin]", "path: [out]") + BUILD
    repo, cache = make_repository(), tmp_path / "cache"
    source = {"src/notes": FILES["bin/notes"], "build.sh": "true\n"}
    repo.commit({**FILES, "bin/notes": "#!/bin/sh\n", "tidegate.yaml": suite, **source})
    broken = {"src/notes": FILES["bin/notes"].replace("  add)", "  append)")}
    repo.branch("pr", {**broken, "build.sh": ATTACK.replace("CACHE", str(cache))})
    off = {"tidegate.yaml": f"{suite}store: {{builds: false}}\n"}

    def compare(base: str) -> tuple[int, bool]:
        arguments = ("--base", base, "--head", "pr", "--pause", "0", "--out", str(tmp_path / "out"))
        ran = run_tidegate("pr", *arguments, cwd=repo.root, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
        return ran.returncode, "is not built again" in ran.stderr

    assert [compare("main") for _ in range(3)] == [(1, False), (1, True), (1, True)]
    repo.git("checkout", "--quiet", "main")
    repo.commit(off)
    assert compare("main") == (1, False)


LINKED = """\
#!/bin/sh
here=$(readlink -f "$(dirname "$0")/..")
echo kept > "$here/linked" && echo stored
"""


def test_trials_see_the_same_of_a_checkout_whether_it_was_built_now_or_earlier(
    make_repository: Make, tmp_path: Path
) -> None:
    suite = """\
version: 1
scenarios: [scenarios/*.yaml]
build: [ln -s /proc/self/cwd/kept linked]
path: [bin]
target: {binary: notes}
agents: {keeps: {type: scripted, steps: {keep: [notes]}}}
"""
    scenario = """\
name: keep
description: It is kept.
target: from_config
task: {prompt: Keep it.}
evaluation: {gates: [{type: file_exists, path: kept}]}
"""
    repo, cache = make_repository(), tmp_path / "cache"
    repo.commit({"tidegate.yaml": suite, "scenarios/keep.yaml": scenario, "bin/notes": LINKED})
    repo.branch("pr", {"bin/notes": f"{LINKED}# the same\n"})

    def compare() -> tuple[int, bool]:
        arguments = ("--base", "main", "--head", "pr", "--pause", "0", "--out", str(tmp_path / "out"))
        ran = run_tidegate("pr", *arguments, cwd=repo.root, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
        return ran.returncode, "is not built again" in ran.stderr

    assert [compare(), compare()] == [(0, False), (0, True)]
