"""Finds out what this machine can do for a run: what is missing, and how trials are kept apart."""

from __future__ import annotations

import asyncio
import platform
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from tidegate.agents.providers.access import Accesses
from tidegate.errors import CannotRunError, TidegateError
from tidegate.model.agent import Agent
from tidegate.model.judge import SYSTEM_PATH, Judge
from tidegate.model.progress import Progress
from tidegate.model.provider import ModelApi, ModelProvider
from tidegate.model.suite import Suite
from tidegate.run.slots import SlotFiles
from tidegate.trial.directories import has_memory
from tidegate.trial.processes import Supervisor, SupervisorLost
from tidegate.trial.sandbox.confinement import Confinement, way_to_confine
from tidegate.trial.sandbox.file_jail import means_to_confine
from tidegate.trial.sandbox.users import advice_on_users, why_not
from tidegate.trial.start import AgentCheckDirectories

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
    yield await _users(repo, path)
    yield await _files()
    yield await _network()


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


async def _users(repo: Path, path: str) -> MachineFinding:
    try:
        if (why := await why_not([], path)) is not None:
            return MachineFinding("users", "limited", f"trials are not isolated by user: {why}", advice_on_users())
        why = await why_not([repo], path)
    except CannotRunError as error:
        return MachineFinding("users", "missing", error.message, error.advice)
    advice = f"Trials of the working tree itself do not: {why}." if why else ""
    return MachineFinding("users", "ok", "every trial runs as a user of its own", advice)


async def _files() -> MachineFinding:
    means = await means_to_confine()
    calls = "; system calls are filtered" if means.calls else "; no filter of system calls is written for this machine"
    calls += f"; small workspaces are {'in memory' if means.mounts and has_memory() else 'on disk'}"
    if means.mounts:
        by = "Landlock, with mounts of their own" if means.landlock else f"mounts of their own: {means.lacking}"
        return MachineFinding("files", "ok", f"trials are confined by {by}{calls}")
    if means.landlock:
        found = f"trials are confined by Landlock: {means.lacking}{calls}"
        advice = (
            "A trial has no `/tmp` to write to (TMPDIR works), no shared memory of System V, and /dev/shm together with"
            " others; Unix sockets are limited by their permissions alone."
        )
        return MachineFinding("files", "limited", found, advice)
    advice = "Trials can use what every user of the machine can: run untrusted changes in a container."
    return MachineFinding("files", "limited", f"trials are not confined: {means.lacking}{calls}", advice)


async def _network() -> MachineFinding:
    how, lacking = await way_to_confine()
    if how is None:
        found = f"`network` cannot be enforced: {lacking}"
        return MachineFinding("network", "limited", found, "Trials reach all of it.")
    if how == "namespace":
        return MachineFinding("network", "ok", "`network` is enforced by a namespace for each slot")
    advice = "Where `network` is limited, a trial reaches services of its own at `{port}` only."
    return MachineFinding("network", "limited", f"`network` is enforced by Landlock and seccomp; {lacking}", advice)
