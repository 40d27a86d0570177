"""Finds out what this machine can do for a run: what is missing, and how trials are kept apart."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from tidegate.agents.providers.access import Accesses
from tidegate.errors import CannotRunError, TidegateError
from tidegate.model.access import NetworkAccess
from tidegate.model.agent import Agent
from tidegate.model.judge import SYSTEM_PATH, Judge
from tidegate.model.progress import Progress
from tidegate.model.provider import ModelApi, ModelProvider
from tidegate.model.suite import Suite
from tidegate.run.slots import SlotFiles, SlotNetworks
from tidegate.trial.directories import has_memory
from tidegate.trial.processes import Command, Supervisor, SupervisorLost
from tidegate.trial.sandbox.confinement import Confinement, way_to_confine
from tidegate.trial.sandbox.file_jail import FileRules, means_to_confine
from tidegate.trial.sandbox.users import Users, advice_on_users, give, why_not
from tidegate.trial.start import AgentCheckDirectories

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


LEAST_ROOM_MB = 1000
CONNECTION_SECS = 10.0


class MachineFinding(NamedTuple):
    """One ability of this machine. Without what is `missing` nothing can run; with what is `limited`, less safely."""

    what: str
    state: Literal["ok", "limited", "missing"]
    found: str
    advice: str = ""


async def examine(suite: Suite | None, environ: Mapping[str, str], repo: Path) -> AsyncIterator[MachineFinding]:
    """Yield what was found, one thing after another. Real processes are started for it."""
    judge = suite.judge if suite else None
    path = environ.get("PATH", SYSTEM_PATH)
    try:
        supervisor = await Supervisor.start()
    except CannotRunError as error:
        yield MachineFinding("system", "missing", error.message, error.advice)
        return
    async with supervisor:
        python = platform.python_version()
        yield MachineFinding("system", "ok", f"Linux {platform.release()}, {platform.machine()}, Python {python}")
        for finding in (_git(path), _room()):
            yield finding
    if suite is not None:
        async for finding in _agents(suite, environ, repo, path):
            yield finding
    for member in judge.members if judge else ():
        if member.model_api is not None:
            yield await _judge(member, member.model_api, environ)
    async for finding in _isolation(environ, repo, path):
        yield finding


async def _isolation(environ: Mapping[str, str], repo: Path, path: str) -> AsyncIterator[MachineFinding]:
    environ = {**environ, "PATH": path}
    try:
        try:
            found = await tried(environ)
            yield await _users(repo, path, found)
        except CannotRunError as error:
            yield MachineFinding("users", "missing", error.message, error.advice)
            found = await tried(environ, own_user=False)
    except NothingTriedError as error:
        yield MachineFinding(
            "isolation", "missing", f"no command starts as in a trial: {error}", "Nothing is measured here."
        )
        return
    yield await _files(found)
    yield await _network(found)


def _git(path: str) -> MachineFinding:
    program = shutil.which("git", path=path)
    if program is None:
        return MachineFinding("git", "missing", "no `git` on PATH", "Install git.")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return MachineFinding("git", "ok", said.strip().removeprefix("git version "))


def _room() -> MachineFinding:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free // 1_000_000
    advice = "" if free >= LEAST_ROOM_MB else f"Make room in {folder}, or name another folder in TMPDIR."
    return MachineFinding("disk", "limited" if advice else "ok", f"{free:,} MB free in {folder}", advice)


async def _agents(suite: Suite, environ: Mapping[str, str], repo: Path, path: str) -> AsyncIterator[MachineFinding]:
    """Yield what the suite's agents have. Their programs are confined to the files that they have in a trial."""
    with tempfile.TemporaryDirectory(prefix="tidegate-doctor-") as folder:
        files = SlotFiles(suite, Path(folder), Progress())
        await files.choose(environ, ())
        async with await Supervisor.start(None, Confinement(files=files.jail)) as supervisor:
            for name, agent in suite.agents.items():
                place = AgentCheckDirectories(
                    supervisor=supervisor,
                    folder=Path(folder, "check"),
                    repo=repo,
                    path=path,
                    agent_path=path,
                    credentials={key: environ[key] for key in agent.variables if environ.get(key)},
                )
                yield await _agent(name, agent, place)
                if agent.chosen_provider is not None and agent.api is not None:
                    yield await _provider(name, agent.chosen_provider, agent.api, environ)


async def _agent(name: str, agent: Agent, place: AgentCheckDirectories) -> MachineFinding:
    try:
        version = await agent.check(place)
    except TidegateError as error:
        return MachineFinding(f"agent {name}", "missing", error.message, error.advice)
    except SupervisorLost as lost:
        return MachineFinding(
            f"agent {name}", "missing", str(lost), "Without a command that starts, nothing can be measured."
        )
    return MachineFinding(f"agent {name}", "ok", " ".join(filter(None, (agent.type, version))))


async def _provider(name: str, provider: ModelProvider, api: ModelApi, environ: Mapping[str, str]) -> MachineFinding:
    what = f"provider of {name}"
    address = provider.address(api)
    try:
        await asyncio.to_thread(Accesses(environ).check, f"agent {name}", provider, api)
        if (place := urlsplit(address)).scheme == "http":  # a server of one's own, which may not have been started
            with socket.create_connection((place.hostname, place.port or 80), timeout=CONNECTION_SECS):
                return MachineFinding(what, "ok", f"{provider.type}: {address} can be reached")
    except TidegateError as error:
        return MachineFinding(what, "missing", error.message, error.advice)
    except OSError as error:
        advice = "Start the server, or correct `base_url`."
        return MachineFinding(what, "missing", f"{address} cannot be reached: {error.strerror or error}", advice)
    return MachineFinding(what, "ok", f"{provider.type}: there is a credential for {address}")


async def _judge(judge: Judge, api: ModelApi, environ: Mapping[str, str]) -> MachineFinding:
    what, provider = f"judge {judge.model}", judge.chosen_provider
    if (lacking := judge.lacks(environ)) is not None:
        advice = f"Without {lacking}, whatever the judge decides is not measured."
        return MachineFinding(what, "limited", f"it needs {lacking}", advice)
    try:
        if provider is not None:
            await asyncio.to_thread(Accesses(environ).check, what, provider, api)
    except TidegateError as error:
        return MachineFinding(what, "limited", error.message, error.advice)
    key = next(iter(judge.variables), None)
    return MachineFinding(what, "ok", f"{judge.type}, with a key in {key}" if key else f"{judge.type}, without a key")


async def _users(repo: Path, path: str, found: Tried) -> MachineFinding:
    if found.user != os.geteuid() and not found.signalled:
        why = await why_not([repo], path)
        advice = f"Trials of the working tree itself do not: {why}." if why else ""
        return MachineFinding(
            "users", "ok", f"every trial runs as a user of its own: a command ran as {found.user}", advice
        )
    why = await why_not([], path)
    return MachineFinding("users", "limited", f"trials are not isolated by user: {why}", advice_on_users())


async def _files(found: Tried) -> MachineFinding:
    means = await means_to_confine()
    calls = "; system calls are filtered" if means.calls else "; no filter of system calls is written for this machine"
    calls += f"; small workspaces are {'in memory' if means.mounts and has_memory() else 'on disk'}"
    if found.read or found.written:
        advice = "Trials can use what every user of the machine can: run untrusted changes in a container."
        return MachineFinding(
            "files", "limited", f"a command reached files of another folder: {means.lacking}{calls}", advice
        )
    if means.mounts:
        by = "Landlock, with mounts of their own" if means.landlock else f"mounts of their own: {means.lacking}"
        return MachineFinding(
            "files", "ok", f"a command reached no file of another folder. Trials are confined by {by}{calls}"
        )
    advice = (
        "A trial has no `/tmp` to write to (TMPDIR works), no shared memory of System V, and /dev/shm together with"
        " others; Unix sockets are limited by their permissions alone."
    )
    return MachineFinding("files", "limited", f"trials are confined by Landlock: {means.lacking}{calls}", advice)


async def _network(found: Tried) -> MachineFinding:
    how, lacking = await way_to_confine()
    if found.connected or how is None:
        return MachineFinding(
            "network", "limited", f"`network` cannot be enforced: {lacking}", "Trials reach all of it."
        )
    if how == "namespace":
        return MachineFinding(
            "network", "ok", "`network` is enforced by a namespace for each slot: a command reached nothing"
        )
    advice = "Where `network` is limited, a trial reaches services of its own at `{port}` only."
    by = "`network` is enforced by Landlock and seccomp: a command reached nothing"
    return MachineFinding("network", "limited", f"{by}; {lacking}", advice)
