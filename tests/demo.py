"""`tidegate demo`, run once for all tests that read what it leaves."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.cli.demo import NAMES
from tidegate.model.result import Result


class Demo:
    """A finished demo: its exit code, what it printed, and where everything is."""

    def __init__(self, folder: Path, code: int, stdout: str, stderr: str) -> None:
        self.code, self.stdout, self.stderr = code, stdout, stderr
        self.out = folder / ".tidegate" / "demo"

    def result(self, name: str) -> Result:
        return Result.model_validate_json((self.out / name / "result.json").read_text(encoding="utf-8"))

    def comment(self, name: str) -> str:
        return (self.out / name / "comment.md").read_text(encoding="utf-8")

    def states(self, name: str) -> dict[str, str]:
        return {row.scenario: row.state for row in self.result(name).rows}


def run_demo(folder: Path, *arguments: str) -> Demo:
    """Run `tidegate demo` in a folder that is in no repository."""
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "demo", "--quiet", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Demo(folder, done.returncode, done.stdout, done.stderr)


def demo_of_the_session(factory: pytest.TempPathFactory) -> Demo:
    """Return the whole demo. The first worker that asks runs it; the others wait for it and read the same files."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # each worker has a folder of its own in it
    folder = folder / "demo of all"
    folder.mkdir(exist_ok=True)
    printed = folder / "printed.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            earlier = folder / ".tidegate" / "demo"
            (earlier / "gone").mkdir(parents=True)
            (earlier / ".made-by-tidegate-demo").touch()
            (earlier.parent / "pr").mkdir()
            made = run_demo(folder)
            for name in NAMES:
                text = (made.out / name / "result.json").read_text(encoding="utf-8")
                Result.model_validate_json(text, strict=True, extra="forbid")
            printed.write_text(json.dumps([made.code, made.stdout, made.stderr]), encoding="utf-8")
    return Demo(folder, *json.loads(printed.read_text(encoding="utf-8")))
