"""What supervision costs per command, and recording per call of the target."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tidegate.trial import recorder
from tidegate.trial.processes import Command, Supervisor

ROUNDS = 300
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def main() -> None:
    """Print one line per measurement: the median and the fastest of all rounds, in milliseconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = measured(lambda: spawn("/usr/bin/true"))
        report("bare fork and exec of `true`", bare)
        report("`true` under a supervisor", asyncio.run(supervised(folder, "true")))
        report("`sh -c true` under a supervisor", asyncio.run(supervised(folder, "sh", "-c", "true")))
        wrapper = recorder.install(folder / "recorder", "true", ENVIRONMENT["PATH"], folder / "record") / "true"
        report("`true` behind the recorder", measured(lambda: spawn(str(wrapper))))
        print(f"a supervisor's own memory: {asyncio.run(own_memory()):.1f} MB resident")


def report(what: str, seconds: list[float]) -> None:
    """One line."""
    print(f"{what:34} median {statistics.median(seconds) * 1000:5.2f} ms   fastest {min(seconds) * 1000:5.2f} ms")


def measured(call: Callable[[], None]) -> list[float]:
    """The seconds that each of many calls takes."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return times


def spawn(program: str) -> None:
    """Run a program without arguments, as cheaply as Python can."""
    pid = os.posix_spawn(program, [program], ENVIRONMENT)
    assert os.waitpid(pid, 0)[1] == 0


async def supervised(folder: Path, *argv: str) -> list[float]:
    """The seconds that each of many commands takes under one supervisor."""
    command = Command(argv, folder, ENVIRONMENT, folder / "out", folder / "err", timeout_secs=60)
    times = []
    async with await Supervisor.start() as supervisor:
        for _ in range(ROUNDS):
            started = time.perf_counter()
            ended = await supervisor.run(command)
            times.append(time.perf_counter() - started)
            assert ended.exit_code == 0
    return times


async def own_memory() -> float:
    """What one idle supervisor has resident, in megabytes."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        async with await Supervisor.start() as supervisor:
            look = ("sh", "-c", "grep VmRSS /proc/$PPID/status")
            await supervisor.run(Command(look, Path(name), ENVIRONMENT, out, out))
        return int(out.read_text().split()[1]) / 1000


if __name__ == "__main__":
    main()
