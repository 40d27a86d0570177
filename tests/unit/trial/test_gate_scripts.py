"""Which files of the template a gate's command runs, and that they are put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.trial.checks import restore_scripts, script_files

SOURCES = [
    ". ./lib.sh",
    "source lib.sh",
    'set -e; . "$(dirname "$0")/lib.sh"',
    "[ -f lib.sh ] && . lib.sh",
    ". 'lib.sh'",
]


@pytest.mark.parametrize("line", SOURCES)
def test_a_file_that_a_script_sources_is_a_script(tmp_path: Path, line: str) -> None:
    (tmp_path / "check.sh").write_text(f"#!/bin/sh\n{line}\nnotes_are_there\n")
    (tmp_path / "lib.sh").write_text(". ./check.sh\n")

    assert script_files("sh check.sh notes.txt", tmp_path) == ("check.sh", "lib.sh")
    assert script_files(". ./lib.sh && notes_are_there", tmp_path) == ("lib.sh", "check.sh")


@pytest.mark.parametrize(
    ("line", "sourced"),
    [(". lib/common.sh", "lib/common.sh"), (". ./t/lib.sh", "t/lib.sh"), ('. "${0%/*}/lib.sh"', "t/lib.sh")],
)
def test_a_path_starts_in_the_workspace_or_is_beside_the_script(tmp_path: Path, line: str, sourced: str) -> None:
    for name, text in (("t/check.sh", line), ("t/lib.sh", ""), ("lib/common.sh", "")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")

    assert script_files("sh t/check.sh", tmp_path) == ("t/check.sh", sourced)


def test_a_file_that_a_script_reads_or_runs_is_the_trials(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text("grep -q milk notes.txt && python3 solution.py\n")
    for name in ("notes.txt", "solution.py"):
        (tmp_path / name).write_text("")

    assert script_files("sh check.sh", tmp_path) == ("check.sh",)


def test_what_a_trial_changed_is_put_back(tmp_path: Path) -> None:
    for folder, text in (("template", "exit 1\n"), ("workspace", "exit 0\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "check.sh").write_text(". ./lib.sh\n")
        (tmp_path / folder / "lib.sh").write_text(text)

    assert restore_scripts("sh check.sh", tmp_path / "template", tmp_path / "workspace", None) == ("lib.sh",)
    assert (tmp_path / "workspace/lib.sh").read_text() == "exit 1\n"
