"""Tries with a real command what trials of this machine can reach, isolated as they are."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from tidegate.model.access import NetworkAccess
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.run.slots import SlotFiles, SlotNetworks
from tidegate.trial.processes import Command, Supervisor, SupervisorLost
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.file_jail import FileRules
from tidegate.trial.sandbox.users import Users, give, why_not

SECS = 60.0
_NO_NETWORK = NetworkAccess(setup=False, agent=False, gates=False)
PROGRAM = """
import json, os, socket, sys
def reached(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True
private, shared, port, tidegate = sys.argv[1:]
print(json.dumps({
    "user": os.getuid(),
    "read": reached(lambda: open(private).close()),
    "written": reached(lambda: open(shared, "r+").close()),
    "connected": reached(lambda: socket.create_connection(("127.0.0.1", int(port)), 5).close()),
    "signalled": reached(lambda: os.kill(int(tidegate), 0)),
}))
"""


class Tried(NamedTuple):
    """What a command did that it should not: as which user it ran, and what it reached."""

    user: int
    read: bool  # a file of another folder
    written: bool
    connected: bool  # to a service of the machine, without `network`
    signalled: bool  # Tidegate's process


class NothingTriedError(Exception):
    """The command could not be run as trials are; the message says why."""


async def tried(environ: Mapping[str, str], *, own_user: bool = True) -> Tried:
    """Run the command as a trial without a network, and return what it reached. Raises NothingTriedError."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidegate-doctor-")))
        folder.chmod(0o755)
        service = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        users, networks = stack.enter_context(Users()), stack.enter_context(SlotNetworks(_NO_NETWORK, Progress()))
        work, tmp, private, shared = (folder / name for name in ("work", "tmp", "private", "shared"))
        work.mkdir()
        tmp.mkdir()
        tmp.chmod(0o1777)
        for file in (private, shared):
            file.touch()
            file.chmod(0o666)
        files = SlotFiles(Suite(agents={}, scenarios=()), folder, Progress())
        await networks.choose(None)
        can_have_one = own_user and await why_not([folder], environ.get("PATH", "")) is None
        account = users.take() if can_have_one else None
        await files.choose(environ, (), own_users=account is not None)
        give(account, work)
        confinement = Confinement(await networks.open(), files.jail)
        confinement.reach(False)
        confinement.use(FileRules(write=(work,), tmp=tmp))
        given = (private, shared, service.getsockname()[1], os.getpid())
        argv = (os.path.realpath(sys.executable), "-ISXutf8", "-c", PROGRAM, *map(str, given))
        command = Command(argv, work, {}, folder / "out", folder / "err", timeout_secs=SECS)
        async with await Supervisor.start(account, confinement) as supervisor:
            try:
                ended = await supervisor.run(command)
            except SupervisorLost as lost:
                raise NothingTriedError(str(lost)) from None
        if ended.exit_code != 0:
            raise NothingTriedError(ended.reason or (folder / "err").read_text(errors="replace").strip()[-200:])
        return Tried(**json.loads((folder / "out").read_text()))
