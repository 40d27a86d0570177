"""What a trial leaves on a disk and in memory: few files, and nothing after it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tidegate.run.checkouts import make_run_folder, scratch_folder
from tidegate.trial.sandbox.supervisor.starter import MEMORY

MOST_FOLDERS, MOST_OPENED = 12, 120  # per trial
# Files of these are opened one by one where one is private and trials run as root themselves: that is the machine's.
ELSEWHERE = ("/proc/", "/etc/", "/run/", "/var/", "/opt", "/usr")
SUITE = "version: 1\nscenarios: [s.yaml]\npath: [bin]\nagents:\n  fake: {type: command, command: tool}\n"
SCENARIO = """\
name: first
description: One call, one gate.
target: {binary: tool}
template_folder: start
task: Ask the tool for the answer.
evaluation:
  gates: [{type: file_contains, path: answer.txt, substring: "42"}]
"""
TOOL = "#!/bin/sh\npwd\necho 42 > answer.txt\n"
# Relative paths are those of the launcher's mounts, which only a command has, and of `rm`.
PATHS = re.compile(r'(mkdir|openat)\([^"\n]*"(/[^"\n]*)".* = \d')


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A tool, and a template of ten files."""
    found = Repository(tmp_path / "repo")
    template = {f"start/{'docs/' if number % 2 else ''}file{number}": "text\n" * 100 for number in range(10)}
    found.commit({**template, "tidegate.yaml": SUITE, "s.yaml": SCENARIO, "bin/tool": TOOL})
    return found


def run(repository: Repository, out: Path, *before: str, trials: int = 1) -> dict[str, Any]:
    """The run in a process of its own, in which a plain PATH leads to programs."""
    command = [*before, sys.executable, "-m", "tidegate", "run", "--jobs", "1", "--trials", str(trials)]
    environment = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    subprocess.run([*command, "--out", str(out)], cwd=repository.root, env=environment, check=True, capture_output=True)
    found: dict[str, Any] = json.loads((out / "run.json").read_text())
    assert [trial["outcome"] for trial in found["trials"]] == ["pass"] * trials
    return found


def stdout(out: Path) -> str:
    (file,) = out.glob("trials/first/fake/1/agent.stdout")
    return file.read_text()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace counts system calls")
def test_a_trial_makes_few_folders_and_opens_few_files(repository: Repository, tmp_path: Path) -> None:
    seen: list[str] = []
    for again in range(3):  # on a busy machine, what waits looks more often
        folders, opened, most = _made_and_opened(repository, tmp_path / str(again))
        if folders <= MOST_FOLDERS and opened <= MOST_OPENED:
            return
        seen.append(f"{folders} folders, {opened} files, most in {most.most_common(40)}")
    pytest.fail("\n".join(seen))


def _made_and_opened(repository: Repository, folder: Path) -> tuple[float, float, Counter[str]]:
    """Return how many folders one more trial makes, how many files it opens, and how many of a folder four more do."""
    folder.mkdir()
    made, opened = [], []
    for trials in (1, 5):
        log = folder / f"{trials}.log"
        strace = ("strace", "-qf", "-e", "trace=mkdir,mkdirat,openat", "-o", str(log))
        run(repository, folder / str(trials), *strace, trials=trials)
        found = [match.groups() for match in PATHS.finditer(log.read_text())]
        calls = [(call, str(Path(path).parent)) for call, path in found if not path.startswith(ELSEWHERE)]
        made.append(sum(call == "mkdir" for call, _ in calls))
        opened.append(Counter(place for call, place in calls if call == "openat"))
    return (made[1] - made[0]) / 4, (opened[1].total() - opened[0].total()) / 4, opened[1] - opened[0]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace counts programs")
def test_folders_of_ended_trials_are_deleted_together(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records too, which are copied where the run's folder is on another disk, as in a container."""
    disk = tmp_path.stat().st_dev
    monkeypatch.setenv(
        "TMPDIR", next(path for path in (MEMORY.rpartition("/")[0], "/var/tmp") if Path(path).stat().st_dev != disk)
    )
    log = tmp_path / "log"
    run(repository, tmp_path / "out", "strace", "-qf", "-e", "trace=execve", "-o", str(log), trials=5)
    assert len(re.findall(r'"rm".* = 0', log.read_text())) <= 2  # once for the scratch folder, once for that in memory


def test_a_small_workspace_is_in_memory_where_that_is_hidden(repository: Repository, tmp_path: Path) -> None:
    in_memory = "small workspaces in memory" in run(repository, tmp_path / "out")["confinement"]
    assert stdout(tmp_path / "out").startswith(MEMORY) == in_memory


def test_a_large_workspace_is_on_the_disk(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"start/large": "x" * 600_000})
    run(repository, tmp_path / "out")
    assert not stdout(tmp_path / "out").startswith(MEMORY)


def test_what_needs_more_memory_than_it_may_have_runs_again_on_the_disk(repository: Repository, tmp_path: Path) -> None:
    grow = "head -c 300000000 /dev/zero > large\nsleep 0.2\nrm large\n"
    repository.commit({"bin/tool": TOOL + grow})
    run(repository, tmp_path / "out")
    assert not stdout(tmp_path / "out").startswith(MEMORY)


def test_nothing_is_left_of_trials(repository: Repository, tmp_path: Path) -> None:
    run(repository, tmp_path / "out")
    workspace = Path(stdout(tmp_path / "out").splitlines()[0])
    assert not workspace.parent.parent.exists()


def test_the_folder_of_a_killed_run_is_removed_by_the_next(tmp_path: Path) -> None:
    """One that a process uses stays, one that was just made does, and one of another name."""
    names = ("run-killed", "run-used", "run-new", "other")
    killed, used, new, other = (tmp_path / name for name in names)
    for folder in (killed, used, new, other):
        (folder / "deep").mkdir(parents=True)
    long_ago = time.time() - 3600
    for folder in (killed, used, other):
        os.utime(folder, (long_ago, long_ago))
    lock = os.open(used, os.O_RDONLY)
    flock(lock, LOCK_EX)
    with scratch_folder(f"{tmp_path}/run-") as mine:
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([mine.name, "run-used", "run-new", "other"])
    os.close(lock)
    assert not mine.exists()


def test_runs_that_begin_at_once_have_a_folder_each(repository: Repository) -> None:
    with ThreadPoolExecutor() as pool:
        folders = list(pool.map(make_run_folder, [repository.root] * 8))
    assert len(set(folders)) == 8
    assert all(not list(folder.iterdir()) for folder in folders)


def test_the_folder_of_a_run_is_not_removed_by_another(tmp_path: Path) -> None:
    with scratch_folder(f"{tmp_path}/run-") as mine:
        os.utime(mine, (0, 0))
        with scratch_folder(f"{tmp_path}/run-"):
            assert mine.is_dir()
