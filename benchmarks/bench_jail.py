"""What confining a command to its files and system calls costs: the same commands with and without, in one run."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from tidegate.model.access import FileAccess
from tidegate.trial.processes import Command, Supervisor
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.file_jail import FileJail, FileRules, means_to_confine
from tidegate.trial.sandbox.readable import readable_folders

ROUNDS = 200
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
WORK = "i=0; while [ $i -lt 300 ]; do cat /etc/passwd > x; rm x; i=$((i+1)); done"  # opens, forks and execs

# Setup, agent and gates: each is confined once, and starts programs and opens files, as agents do.
STEPS, TRIALS = 10, 6
PROGRAM = "python3 -c 'import json, urllib.request; print(sum(range(3000000)))'"
STEP = f"i=0; while [ $i -lt 20 ]; do {PROGRAM}; i=$((i+1)); done"


async def main() -> None:
    """Print the fastest of each, their difference, and their ratio: other work counts the least there."""
    readable = tuple(readable_folders(os.environ["PATH"], (), (), (), own_users=True))
    jail = FileJail(await means_to_confine(), FileAccess(), readable, ())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        rules = FileRules(write=(folder,), tmp=folder / "tmp")
        confinement = Confinement(files=jail)
        async with await Supervisor.start() as free, await Supervisor.start(None, confinement) as confined:
            confinement.use(rules)
            for what, script, rounds in (("a short command", "true", ROUNDS), ("900 opens, 600 execs", WORK, 7)):
                times = [[await one(side, folder, script) for side in (free, confined)] for _ in range(rounds)]
                before, after = (min(column) * 1000 for column in zip(*times, strict=True))
                print(f"{what:22} {before:8.2f} ms free {after:8.2f} ms confined {after - before:+7.2f} ms", end="")
                print(f" {after / before - 1:+7.1%}")
        seconds = [await trial(folder, one, rules) for _ in range(TRIALS) for one in (Confinement(), confinement)]
        before, after = min(seconds[::2]), min(seconds[1::2])
        more = sorted(confined / free - 1 for free, confined in zip(seconds[::2], seconds[1::2], strict=True))
        print(
            f"a trial of {STEPS} commands {before:8.2f} s CPU free {after:8.2f} s confined {after / before - 1:+7.1%};"
            f" in {TRIALS} pairs {more[0]:+.1%} to {more[-1]:+.1%}, median {statistics.median(more):+.1%}"
        )


async def trial(folder: Path, confinement: Confinement, rules: FileRules) -> float:
    """The CPU seconds of a trial's commands and their supervisor, which other work on the machine does not change."""
    began = _of_children()
    async with await Supervisor.start(None, confinement) as supervisor:
        confinement.use(rules)
        for _ in range(STEPS):
            await one(supervisor, folder, STEP)
    return _of_children() - began


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def one(supervisor: Supervisor, folder: Path, script: str) -> float:
    """The seconds that the script takes."""
    command = Command(("/bin/sh", "-c", script), folder, ENVIRONMENT, folder / "out", folder / "err", timeout_secs=120)
    started = time.perf_counter()
    ended = await supervisor.run(command)
    assert ended.exit_code == 0, (folder / "err").read_text()
    return time.perf_counter() - started


if __name__ == "__main__":
    asyncio.run(main())
