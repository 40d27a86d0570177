"""Clean pull requests under trouble that is not theirs: none is blocked, whatever else the run says.

`make trouble-rates` runs 51 of them and prints how they ended; here one of each kind. Blocked means the exit code 1.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tests.conftest import Repository
from tests.journeys.conftest import Ran
from tests.model_server import Fault, Step, serving
from tests.thorough.small_disk import small_disk

OUTAGES_S = (5, 60) if "TIDEGATE_TROUBLE_PRS" in os.environ else (2,)
EACH = int(os.environ.get("TIDEGATE_TROUBLE_PRS", "1"))
RATES = {"s1": 1.0, "s2": 1.0, "s3": 0.95, "s4": 0.8}
SCENARIO = """\
name: {name}
description: A note is kept.
target: {{binary: notes}}
task: Keep a note.
evaluation: {{gates: [{{type: file_exists, path: notes.txt}}]}}
"""
TOOL = '#!/bin/sh\nsleep 0.2\necho "$1" >> notes.txt\n'
Meddle = Callable[[subprocess.Popen[str], Event], None]


def scripted(seed: int) -> str:
    steps = "\n".join(f"      {name}: [{{run: notes {name}, probability: {rate}}}]" for name, rate in RATES.items())
    return f"    type: scripted\n    deterministic: false\n    seed: {seed}\n    steps:\n{steps}\n"


MODEL = "    type: anthropic\n    model: a-model\n"


def repository(folder: Path, agent: str) -> Repository:
    """A pull request that changes a document alone."""
    repo = Repository(folder)
    suite = f"version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nagents:\n  one:\n{agent}"
    scenarios = {f"scenarios/{name}.yaml": SCENARIO.format(name=name) for name in RATES}
    repo.commit({"bin/notes": TOOL, "tidegate.yaml": suite, "README.md": "0", **scenarios})
    repo.branch("pr", {"README.md": "1"})
    return repo


def judged(repo: Repository, out: Path, meddle: Meddle, *, pause: int = 0, **environment: str) -> Ran:
    """`tidegate pr` as a process of its own, while `meddle` does something to it."""
    arguments = ["pr", "--base", "main", "--head", "pr", "--pause", str(pause), "--jobs", "2", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tidegate", *arguments],
        cwd=repo.root,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    over = Event()
    thread = Thread(target=meddle, args=(process, over))
    thread.start()
    try:
        stdout, stderr = process.communicate(timeout=300)
    finally:
        over.set()
        thread.join()
    return Ran(subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr), out)


def children(pid: int) -> Iterator[int]:
    """All processes below this one, as the kernel lists them."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from children(child)


def of_base(pid: int, base: str) -> bool:
    """The process runs a trial of base: a folder of its PATH is in the checkout of that commit."""
    with suppress(OSError, StopIteration):
        variables = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
        path = next(value for value in variables if value.startswith("PATH="))[5:].split(":")
        tools = [Path(entry, "notes") for entry in path if entry.endswith("/bin")]
        checkouts = [tool.parent.parent for tool in tools if tool.exists()]
        heads = [
            subprocess.run(["git", "-C", str(one), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
            for one in checkouts
        ]
        return any(head.stdout.strip() == base for head in heads)
    return False


def killer(chance: random.Random, base: str, killed: list[int]) -> Meddle:
    """Kills processes of some of base's trials, as a machine without memory does."""

    def kill(process: subprocess.Popen[str], over: Event) -> None:
        left = chance.randint(1, 4)
        while left and not over.wait(0.05):
            found = [pid for pid in children(process.pid) if of_base(pid, base)]
            if found and chance.random() < 0.5:
                with suppress(OSError):
                    os.kill(chance.choice(found), 9)
                    killed.append(1)
                    left -= 1

    return kill


def filler(chance: random.Random, disk: Path) -> Meddle:
    """Fills the disk of all trials at some moment, and leaves it full or not."""

    def fill(process: subprocess.Popen[str], over: Event) -> None:
        over.wait(chance.uniform(0.3, 5))
        with suppress(OSError), (disk / "of-another-job").open("wb", buffering=0) as file:
            while file.write(bytes(1 << 20)):
                pass
        with suppress(OSError):  # what is left below a megabyte
            (disk / "the-rest").write_bytes(bytes(1 << 19))
        if chance.random() < 0.5:
            over.wait(chance.uniform(0.5, 3))
            for name in ("of-another-job", "the-rest"):
                (disk / name).unlink(missing_ok=True)

    return fill


def breaker(chance: random.Random, server: Any) -> Meddle:
    """Has the provider answer with 500 from some moment on, for some time."""

    def fail(process: subprocess.Popen[str], over: Event) -> None:
        over.wait(chance.uniform(0, 6))
        ends = time.monotonic() + chance.choice(OUTAGES_S)
        while time.monotonic() < ends and not over.wait(0.02):
            server.faults[:] = [Fault(500, headers={"retry-after-ms": "20"})] * 200
        server.faults.clear()

    return fail


def report(kind: str, ran: list[Ran]) -> None:
    codes = Counter(one.code for one in ran)
    ends = Counter(one.result["verdict"]["reason"] for one in ran if (one.out / "result.json").exists())
    print(f"\n{kind}: exit codes {dict(sorted(codes.items()))}, reasons {dict(ends)}")
    for one in ran:
        assert one.code != 1, one.stderr + str(one.result["verdict"])
    assert set(codes) <= {0, 4, 5}, [one.stderr for one in ran]


def test_processes_of_base_s_trials_are_killed(tmp_path: Path) -> None:
    ran, killed = [], list[int]()
    for number in range(EACH):
        repo = repository(tmp_path / f"repo{number}", scripted(number))
        base = repo.git("rev-parse", "main").strip()
        ran.append(judged(repo, tmp_path / f"out{number}", killer(random.Random(number), base, killed)))
    print(f"\n{len(killed)} processes were killed")
    assert len(killed) >= EACH
    report("killed", ran)


def test_the_disk_is_full_on_both_sides(tmp_path: Path) -> None:
    ran = []
    for number in range(EACH):
        repo = repository(tmp_path / f"repo{number}", scripted(number))
        with small_disk("size=64m") as disk:
            ran.append(judged(repo, tmp_path / f"out{number}", filler(random.Random(number), disk), TMPDIR=str(disk)))
    report("full disk", ran)


def test_the_provider_answers_with_500(tmp_path: Path) -> None:
    """Such an outage is waited for, so that the pull request gets its verdict."""
    ran = []
    for number in range(EACH):
        repo = repository(tmp_path / f"repo{number}", MODEL)
        with serving([Step("I keep it.", ("notes x",)), Step("Done.")]) as server:
            environment = {"ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": server.url}
            meddle = breaker(random.Random(number), server)
            ran.append(judged(repo, tmp_path / f"out{number}", meddle, pause=70, **environment))
    report("provider 500", ran)
    assert {(one.code, one.result["verdict"]["reason"]) for one in ran} == {(0, "no_regression")}
