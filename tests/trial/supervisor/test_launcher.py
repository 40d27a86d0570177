"""The compiled launcher on its own. What it does for commands is tested with the supervisor, beside the fork."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.compiled import needs_compiler
from tidegate.model.files import FileAccess
from tidegate.trial.confinement import Confinement
from tidegate.trial.file_jail import FileJail, FileRules, means_to_confine
from tidegate.trial.processes import Command, Ended, Supervisor
from tidegate.trial.supervisor.launch import Launch
from tidegate.trial.supervisor.spawn import encoded


def started(launcher: Path, description: bytes, size: int, folder: Path) -> tuple[int, str]:
    """The launcher's exit code and reason, for the description cut to that size."""
    (folder / "description").write_bytes(description[:size])
    with (folder / "description").open("rb") as given, (folder / "errors").open("wb") as errors:
        numbers = (given.fileno(), errors.fileno())
        done = subprocess.run([launcher, *map(str, numbers)], pass_fds=numbers, check=False, env={})
    return done.returncode, (folder / "errors").read_text()


@needs_compiler
def test_a_description_that_is_cut_anywhere_starts_nothing(launcher: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    launch = Launch(
        group=None,
        limits=[(7, 1024)],
        namespaces=[],
        mounts=None,
        rules=None,
        ports=None,
        filters=[],
        capabilities=None,
        account=None,
        cwd=str(tmp_path),
        program="/bin/sh",
        argv=["sh", "-c", 'echo "$A" > ran'],
        env={"A": "b"},
    )
    description = encoded(launch)

    reasons = {started(launcher, description, size, tmp_path) for size in range(len(description))}

    assert reasons == {(127, "the description of the command is incomplete")}
    assert not ran.exists()
    assert started(launcher, description, len(description), tmp_path) == (0, "")
    assert ran.read_text() == "b\n"


def test_both_ways_to_start_name_the_file_that_is_missing(start: str, tmp_path: Path) -> None:
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
