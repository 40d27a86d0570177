"""Commands that change files are found by running them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tidegate.authoring.first_suite import changing, probing

HELP, ADD, LIST, INDEX = (
    "echo usage >> $HOME/log",
    "echo milk >> notes",
    "cat notes; echo x >> $HOME/log",
    "mkdir -p $HOME/cache",
)
AGAIN = "cd / && touch $HOME/cache"


def ran(tmp_path: Path, *commands: str) -> frozenset[str]:
    for folder in ("home", "work"):
        tmp_path.joinpath(folder).mkdir()
    environ = {**os.environ, "HOME": str(tmp_path / "home")}
    script = ["sh", "-c", probing(commands)]
    done = subprocess.run(script, cwd=tmp_path / "work", env=environ, capture_output=True, text=True, check=False)
    return changing(commands, done.stdout)


def test_a_command_that_changes_other_files_than_the_help_changes_state(tmp_path: Path) -> None:
    """A log of all calls tells nothing, nor does the time of a file."""
    assert ran(tmp_path, HELP, ADD, LIST, INDEX, AGAIN, LIST) == {ADD, INDEX}


def test_of_a_script_that_ends_early_nothing_is_known(tmp_path: Path) -> None:
    assert ran(tmp_path, HELP, ADD, "exit 1", LIST) == frozenset()
