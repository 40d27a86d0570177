"""The launcher on its own. What it does for commands is tested with the supervisor."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tidegate.model.access import FileAccess
from tidegate.trial.processes import Command, Supervisor
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.file_jail import FileJail, FileRules, means_to_confine
from tidegate.trial.sandbox.starter import LAUNCHER
from tidegate.trial.sandbox.supervisor.messages import Ended
from tidegate.trial.sandbox.supervisor.spawn import Launch, encoded


def started(description: bytes, size: int, folder: Path) -> tuple[int, str]:
    """The launcher's exit code and reason, for the description cut to that size."""
    (folder / "description").write_bytes(description[:size])
    with (folder / "description").open("rb") as given, (folder / "errors").open("wb") as errors:
        numbers = (given.fileno(), errors.fileno())
        done = subprocess.run([LAUNCHER, *map(str, numbers)], pass_fds=numbers, check=False, env={})
    return done.returncode, (folder / "errors").read_text()


def test_a_description_that_is_cut_anywhere_starts_nothing(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    argv = ["sh", "-c", 'echo "$A" > ran']
    launch = Launch(str(tmp_path), "/bin/sh", argv, {"A": "b"}, limits=[(7, 1024)])
    description = encoded(launch)

    reasons = {started(description, size, tmp_path) for size in range(len(description))}

    assert reasons == {(127, "the description of the command is incomplete")}
    assert not ran.exists()
    assert started(description, len(description), tmp_path) == (0, "")
    assert ran.read_text() == "b\n"


def test_a_start_that_fails_names_the_file_that_is_missing(tmp_path: Path) -> None:
    async def body() -> Ended:
        means = await means_to_confine()
        if not means.mounts:
            pytest.skip("this machine allows no mounts")
        confinement = Confinement(files=FileJail(means, FileAccess(), ("/usr",), ()))
        confinement.use(FileRules(tmp=tmp_path / "nowhere"))
        async with await Supervisor.start(None, confinement) as supervisor:
            return await supervisor.run(Command(("/bin/true",), tmp_path, {}, tmp_path / "out", tmp_path / "err"))

    ended = asyncio.run(body())
    assert (ended.end, ended.reason) == ("not_started", f"cannot open {tmp_path}/nowhere: No such file or directory")


@pytest.mark.parametrize("source", ["recorder.c", "sandbox/supervisor/launcher.c"])
def test_the_programs_compile_without_a_warning(source: str, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    strict = ("-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror")
    command = ["cc", *strict, "-o", str(tmp_path / "program"), str(LAUNCHER.parents[2] / source)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""
