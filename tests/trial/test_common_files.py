"""The files that every command may read, of which the supervisor holds many open."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.as_root import needs_open_python
from tests.unit.trial.test_common_files import FILES, listed
from tidegate.model.access import FileAccess
from tidegate.model.suite import Limits
from tidegate.trial.processes import Command, Supervisor
from tidegate.trial.sandbox.common_files import CommonFiles
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.file_jail import FileJail, FileRules, means_to_confine
from tidegate.trial.sandbox.jail_files import LEAST_ABI, landlock_abi


@pytest.fixture
def etc(open_folder: Path) -> Path:
    """A folder with more files than need be to be held open, a folder, a link, and a file that is not for all."""
    folder = open_folder / "etc"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"file{number}").write_text(f"file {number}")
    (folder / "folder").mkdir()
    (folder / "folder/inner").write_text("inner")
    (open_folder / "target").write_text("target")
    (folder / "link").symlink_to("../target")
    (folder / "secret").write_text("secret")
    return folder


@pytest.fixture
def common(etc: Path) -> Iterator[CommonFiles]:
    found = CommonFiles([*listed(etc), "/usr"])
    found.set_replaced([])
    yield found
    found.close()


@pytest.mark.skipif(landlock_abi() < LEAST_ABI, reason="this kernel has no Landlock")
@needs_open_python
def test_commands_read_what_is_listed_as_it_is_now_and_inherit_no_descriptor(etc: Path) -> None:
    work = etc.parent / "work"
    work.mkdir()
    read = "cat ETC/file0 ETC/folder/inner ETC/link; cat ETC/secret ETC/new 2>/dev/null; ls /proc/self/fd | wc -l"

    async def body() -> list[str]:
        means = (await means_to_confine())._replace(mounts=False)
        common = (*listed(etc), "/usr", "/bin", "/lib", "/lib64", "/proc")
        confinement = Confinement(files=FileJail(means, FileAccess(), common, (), shared_memory=False))
        rules = FileRules(write=(work,))
        printed = []

        async with await Supervisor.start(None, confinement) as supervisor:

            async def run(script: str) -> None:
                words = ("/bin/sh", "-c", script.replace("ETC", str(etc)))
                command = Command(words, work, {"PATH": "/usr/bin:/bin"}, work / "out", work / "err")
                await supervisor.run(replace(command, limits=Limits(files=16)))  # less than are held open
                printed.append((work / "out").read_text().split())

            confinement.use(rules)
            await run(read)
            (etc / "new").write_text("new")
            (etc / "new").replace(etc / "file0")
            shutil.rmtree(etc / "folder")
            (etc / "folder").mkdir()
            (etc / "folder/inner").write_text("other")
            (etc / "new").write_text("secret")
            await run(read)
            confinement.lift()
            await run("ls /proc/self/fd | wc -l")
        return ["".join(words) for words in printed]

    assert asyncio.run(body()) == ["file0innertarget4", "newothertarget4", "4"]
