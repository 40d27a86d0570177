"""Repositories with a hostile tool, run by `tidegate run` as in its container: every trial as a user of its own.

A pull request's author writes the tool, and can have read all of Tidegate.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.as_root import SYSTEM_PATH, tidegate
from tests.conftest import Repository

SUITE = "version: 1\nscenarios: [s.yaml]\npath: [bin]\ntarget: {binary: tk}\nagents: {docs: {type: doc-follower}}\n"
GATES = "gates: [{type: no_transcript_errors}]\n"
# What the record's place is called, seen from the workspace: the tool's author knows it.
RECORD = "../invocations.log"


@dataclass(frozen=True)
class Outcome:
    """What became of the one trial of a run."""

    folder: Path
    trial: dict[str, Any]
    stderr: str

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Each recorded call and how it ended."""
        return [(call["command"], call["status"]) for call in self.trial["calls"]]

    @property
    def is_green(self) -> bool:
        """The trial counts as passed."""
        return bool(self.trial["outcome"] == "pass")

    @property
    def cause(self) -> str | None:
        """Why it was not measured."""
        cause: str | None = self.trial["not_measured"]
        return cause


def scenario(task: str, gates: str = GATES, more: str = "") -> str:
    """A scenario whose task is these commands."""
    lines = "\n".join(f"  {line}" for line in ("```sh", *task.splitlines(), "```"))
    return f"name: s\ndescription: x\n{more}task: |\n{lines}\n{gates}"


def run(
    folder: Path, files: dict[str, str], suite: str = SUITE, environment: dict[str, str] | None = None, first: str = ""
) -> Outcome:
    """Run the suite's one scenario once."""
    repository = Repository(folder / "repo")
    repository.commit({"tidegate.yaml": suite, **files})
    arguments = ("run", "--rev", "HEAD", "--trials", "1", "--out", str(folder / "run"))
    done = subprocess.run(
        tidegate(*arguments, first=first),
        cwd=repository.root,
        env={"PATH": SYSTEM_PATH, "HOME": "/root", **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
        timeout=200,
    )
    results = [*(folder / "run").glob("trials/*/*/*/result.json")]
    assert results, done.stderr
    return Outcome(folder, json.loads(results[0].read_text()), done.stderr)
