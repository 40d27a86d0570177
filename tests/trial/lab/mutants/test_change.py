"""What each kind of mutant changes in a call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.lab.test_change import mutant
from tidegate.model.proof import Mutant
from tidegate.run.mutant_trials import Front, in_front_of_program

TOOL = f"""\
#!{sys.executable} -IS
import sys
open("tasks", "a").write(sys.argv[-1] + "\\n") if sys.argv[1] == "add" else None
print(open("tasks").read(), end="")
"""


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A trial's folders, and a tool that writes a file."""
    for name in ("workspace", "home", "tool"):
        (tmp_path / name).mkdir()
    program = tmp_path / "tool" / "t"
    program.write_text(TOOL)
    program.chmod(0o755)
    return tmp_path


def ran(folders: Path, one: Mutant | None, *argv: str) -> tuple[subprocess.CompletedProcess[str], Front]:
    """Run the tool behind its wrapper."""
    kind = one.kind if one else "none"
    front = in_front_of_program(folders / kind, "t", str(folders / "tool"), one)
    env = {"PATH": f"{front.path[0]}:{os.defpath}", "HOME": str(folders / "home")}
    done = subprocess.run(
        [f"{front.path[0]}/t", *argv], cwd=folders / "workspace", env=env, capture_output=True, text=True, check=False
    )
    return done, front


def test_the_wrapper_records_the_call_and_the_files_that_it_wrote(folders: Path) -> None:
    done, front = ran(folders, None, "add", "x y")
    assert (done.returncode, done.stdout, done.stderr) == (0, "x y\n", "")
    (call,) = front.calls(str(folders / "home"))
    assert (call.argv, call.exit_code, call.stdout, call.written) == (("add", "x y"), 0, "x y\n", ("tasks",))
    assert front.calls("/another/home") == ()


def test_a_lost_effect_prints_what_the_tool_does_and_leaves_no_file(folders: Path) -> None:
    done, _ = ran(folders, mutant("effect_lost", command="add"), "add", "x")
    assert (done.returncode, done.stdout) == (0, "x\n")
    assert not (folders / "workspace" / "tasks").exists()


def test_a_crash_comes_after_the_effect_and_before_the_output(folders: Path) -> None:
    done, _ = ran(folders, mutant("crashes_after", command="add"), "add", "x")
    assert (done.returncode, done.stdout) == (-11, "")
    assert (folders / "workspace" / "tasks").read_text() == "x\n"


def test_a_file_that_is_written_is_cut(folders: Path) -> None:
    ran(folders, mutant("written_cut", command="add"), "add", "abc")
    assert (folders / "workspace" / "tasks").read_text() == "ab"


def test_a_call_is_recorded_with_what_the_tool_printed_and_in_every_script(folders: Path) -> None:
    title = 'a "b" \\ \t ü \x01'
    _, front = ran(folders, mutant("output_emptied", command="add"), "add", "\udcff", title)
    (call,) = front.calls()
    assert call.argv == ("add", "\ufffd", title)
    assert (call.stdout, call.was) == ("", (0, f"{title}\n", ""))


def test_what_is_written_has_a_hash_of_all_of_it_and_one_without_ids_and_dates(folders: Path) -> None:
    found = {}
    for kind, title in (("json_wrapped", "due 2030-01-31"), ("hangs", "due 2030-02-28"), ("exit_fails", "due later")):
        (folders / "workspace" / "tasks").unlink(missing_ok=True)
        _, front = ran(folders, mutant(kind, command="list"), "add", title)
        found[title] = front.calls()[0].wrote
    (first, shape), (second, like), (_, other) = found.values()
    assert first != second
    assert shape == like != other


def test_a_refused_call_does_not_reach_the_tool(folders: Path) -> None:
    done, front = ran(folders, mutant("prompts", command="add"), "add", "x")
    assert (done.returncode, done.stdout) == (1, "Are you sure? [y/N] ")
    assert not (folders / "workspace" / "tasks").exists()
    assert front.calls()[0].exit_code == 1
