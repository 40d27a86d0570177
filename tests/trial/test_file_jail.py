"""Files that a command says it was refused, and what is said about them."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest

from tests.as_root import needs_open_python, needs_root
from tests.trial.hostile import SUITE, run, scenario
from tidegate.model.access import FileAccess
from tidegate.trial.sandbox.file_jail import FileJail, FileRules, Means, means_to_confine
from tidegate.trial.sandbox.jail import LEAST_ABI, landlock_abi

needs_landlock = pytest.mark.skipif(landlock_abi() < LEAST_ABI, reason="this kernel has no Landlock")


def jail(*, mounts: bool, write: tuple[str, ...] = ()) -> FileJail:
    return FileJail(Means(True, mounts, True, ""), FileAccess(write=write), ("/usr", "/etc/passwd"), ("/root",))


@pytest.mark.parametrize(
    ("line", "mounts", "refused"),
    [
        ("cat: {place}/secret: Permission denied", True, ["secret"]),
        ("PermissionError: [Errno 13] Permission denied: '{place}/secret'", True, ["secret"]),
        ("Error: EACCES: permission denied, open '{place}/secret'", True, ["secret"]),
        ("cat: {place}/secret: No such file or directory", True, ["secret"]),  # hidden
        ("cat: {place}/absent: Permission denied", True, []),
        ("touch: cannot touch '{place}/own/x': Permission denied", True, []),
        ("touch: cannot touch '/usr/lib/x': Permission denied", True, []),
    ],
)
def test_a_refused_file_outside_is_named(tmp_path: Path, line: str, mounts: bool, refused: list[str]) -> None:
    (tmp_path / "secret").write_text("")
    (tmp_path / "own").mkdir()
    rules = FileRules(write=(tmp_path / "own",), tmp=tmp_path / "own")
    found = jail(mounts=mounts).refused(line.format(place=tmp_path), rules)
    assert found == [str(tmp_path / name) for name in refused]


def test_tmp_is_shared_where_the_suite_allows_it(tmp_path: Path) -> None:
    rules = FileRules(tmp=tmp_path)
    assert jail(mounts=True).jail(rules)["files"]["mounts"]["tmp"] == str(tmp_path)
    assert jail(mounts=True, write=("/tmp",)).jail(rules)["files"]["mounts"]["tmp"] is None
    assert jail(mounts=True).jail(rules)["files"]["mounts"]["hidden"] == ["/root", "/run", "/dev/shm"]


@needs_landlock
@needs_open_python
def test_a_trial_names_the_file_that_it_was_refused(open_folder: Path) -> None:
    data = open_folder / "data.csv"
    data.write_text("a;b\n")
    text = scenario("true", more=f"setup: {{commands: [cat {data}]}}\n")
    ran = run(open_folder, {"bin/tk": "#!/bin/sh\n", "s.yaml": text})
    assert ran.cause == "setup"
    assert f"{data}: outside of what trials may use; `files` in the suite can allow it" in ran.trial["reason"]


@needs_root
@needs_landlock
@needs_open_python
def test_without_mounts_trials_reach_nothing_of_a_home_in_shared_memory() -> None:
    with tempfile.TemporaryDirectory(prefix="open-", dir="/dev/shm") as name:
        folder, secret = Path(name), Path(name, "home/secret")
        folder.chmod(0o755)
        secret.parent.mkdir()
        secret.write_text("open to all users")
        text = scenario("true", more=f"setup: {{commands: [echo x > a && cat a, cat {secret}]}}\n")
        here = f"import sys; sys.path.append({str(Path(__file__).parents[2])!r})"
        as_in_docker = f"{here}; from tests.docker_filter import refuse_as_docker; refuse_as_docker()"
        places = {"HOME": str(secret.parent), "TMPDIR": "/dev/shm"}
        ran = run(folder, {"bin/tk": "#!/bin/sh\n", "s.yaml": text}, environment=places, first=as_in_docker)
    assert ran.cause == "setup"
    assert f"cat: {secret}: Permission denied ({secret}: outside of what" in ran.trial["reason"]
    assert f"trials have no /dev/shm: they would reach {secret.parent}, " in ran.stderr


@needs_landlock
@needs_open_python
def test_the_suite_can_allow_a_file(open_folder: Path) -> None:
    data, log = open_folder / "data.csv", open_folder / "log"
    data.write_text("a;b\n")
    log.mkdir(mode=0o777)
    log.chmod(0o777)
    suite = f"{SUITE}files: {{read: ['{data}'], write: ['{log}']}}\n"
    text = scenario("true", more=f"setup: {{commands: [cat {data} > {log}/copy]}}\n")
    assert run(open_folder, {"bin/tk": "#!/bin/sh\n", "s.yaml": text}, suite).cause is None
    assert (log / "copy").read_text() == "a;b\n"


@needs_root
@needs_landlock
@needs_open_python
def test_the_suite_can_allow_what_lies_behind_a_link(open_folder: Path) -> None:
    """As /var/run/docker.sock does: /var/run is a link to /run, which trials see empty."""
    with tempfile.TemporaryDirectory(dir="/var/run") as folder:
        Path(folder).chmod(0o755)
        text = scenario("true", more=f"setup: {{commands: [ls {folder}]}}\n")
        ran = run(open_folder, {"bin/tk": "#!/bin/sh\n", "s.yaml": text}, f"{SUITE}files: {{write: ['{folder}']}}\n")
        assert ran.cause is None, ran.trial["reason"]


@needs_landlock
@needs_open_python
def test_shared_memory_that_the_suite_allows_to_be_read_cannot_be_changed(open_folder: Path) -> None:
    if not asyncio.run(means_to_confine()).mounts:
        pytest.skip("without mounts all of /dev/shm can be written to")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as shared:
        Path(shared).chmod(0o777)
        text = scenario("true", more=f"setup: {{commands: [ls {shared}, '! touch {shared}/changed']}}\n")
        suite = f"{SUITE}files: {{read: [/dev/shm]}}\n"
        ran = run(open_folder, {"bin/tk": "#!/bin/sh\n", "s.yaml": text}, suite)
        assert ran.cause is None, ran.trial["reason"]
