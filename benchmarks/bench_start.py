"""What a start costs in the container: to the first line that it prints, and to the end of a job with nothing to do.

`python benchmarks/bench_start.py FOLDER`: as root, where `make image` works; it is kept in FOLDER.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.gh.emulated.runner import load_event
from tests.thorough.image.engine import IMAGE, Engine, ready, require_equipment

ROUNDS = 7
EVENT = {"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": "/github/workflow/event.json", "INPUT_GITHUB_TOKEN": "t"}
RUNNER = {"GITHUB_REPOSITORY": "acme/tool", "GITHUB_RUN_ID": "1", "GITHUB_WORKSPACE": "/github/workspace"}
CASES: dict[str, tuple[str, ...]] = {
    "an empty program in the container": ("--entrypoint=true", IMAGE),
    "`tidegate --help`": ("--entrypoint=tidegate", IMAGE, "--help"),
    "the action, an event with nothing to compare": (IMAGE,),
}


def main(folder: str) -> None:
    """Print, for each case, the seconds to the first line and to the end, warm and with no file in memory."""
    require_equipment()
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "context").mkdir()
        engine = ready(Path(folder), Path(scratch) / "context")
        event = Path(scratch) / "event.json"
        event.write_text(json.dumps(load_event("push")))
        variables = [word for name, value in (EVENT | RUNNER).items() for word in ("-e", f"{name}={value}")]
        options = [
            "podman",
            "run",
            "--rm",
            "--pull=never",
            "--workdir=/tmp",
            *variables,
            "-v",
            f"{event}:{EVENT['GITHUB_EVENT_PATH']}",
        ]
        for name, arguments in CASES.items():
            once(engine, [*options, *arguments])
            for state in ("warm", "cold"):
                times = []
                for _ in range(ROUNDS):
                    if state == "cold":
                        forget(engine.folder)
                    times.append(once(engine, [*options, *arguments]))
                first, end = (statistics.median(column) for column in zip(*times, strict=True))
                print(f"{name:46} {state}: first line {first:.2f} s, end {end:.2f} s")


def once(engine: Engine, command: Sequence[str]) -> tuple[float, float]:
    """Seconds to the first line, and to the end."""
    started = time.perf_counter()
    with subprocess.Popen(command, env=engine.environment, cwd=engine.folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - started
        process.stdout.read()
    assert process.returncode == 0
    return first, time.perf_counter() - started


def forget(folder: Path) -> None:
    """Have the system forget what it holds in memory of the files below."""
    for path in folder.glob("root/overlay/**/*"):
        if path.is_file() and not path.is_symlink():
            file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
