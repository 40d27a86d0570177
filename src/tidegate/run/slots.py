"""What the commands of each slot may reach: files, as this machine can confine them, the model proxy, and hosts."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from tidegate.agents.model_proxy.host_proxy import HostProxy
from tidegate.agents.model_proxy.proxy import BACKLOG, ModelProxy
from tidegate.model.access import FileAccess, NetworkAccess
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.trial.directories import has_memory
from tidegate.trial.sandbox.confinement import Confinement, How, Network, new_namespace, way_to_confine
from tidegate.trial.sandbox.file_jail import SHARED_MEMORY, FileJail, FileRules, Means, means_to_confine
from tidegate.trial.sandbox.readable import home_folders, is_within, listening_sockets, readable_folders
from tidegate.vcs.revisions import main_folder

_SAID = {
    (True, True): "files by Landlock and own mounts",
    (True, False): "files by Landlock",
    (False, True): "files by own mounts",
    (False, False): "files not confined",
}


class SlotFiles:
    """What the commands of a run may use. `choose` comes before the first `jail`."""

    def __init__(self, suite: Suite, scratch: Path, progress: Progress) -> None:
        self._suite = suite
        self._scratch = scratch
        self._progress = progress
        self._means: Means | None = None
        self._repositories: dict[Path, Path] = {}  # by checkout
        self.jail: FileJail | None = None
        self.in_memory = False  # small workspaces: only if mounts hide the rest of the memory from a command

    async def choose(self, environ: Mapping[str, str], checkouts: Sequence[Path], *, own_users: bool = False) -> None:
        """Find out what this machine has; say it if files cannot be confined.

        This comes before builds, which can change what a checkout's `.git` says, and own it: git then refuses it.
        """
        suite = self._suite
        means = self._means = await means_to_confine()
        self.in_memory = means.mounts and has_memory()
        if not (means.landlock or means.mounts):
            self._progress.say(f"trials can use all files of their user: {means.lacking}")
        homes = home_folders(environ)
        self._repositories = {folder: main_folder(folder) for folder in checkouts}
        protected = [*homes, str(self._scratch), *map(str, self._repositories.values())]
        in_memory = () if means.mounts else tuple(path for path in protected if is_within(path, [SHARED_MEMORY]))
        if means.landlock and in_memory:
            said = f"trials have no {SHARED_MEMORY}: they would reach {', '.join(in_memory)}"
            self._progress.say(f"{said}. If they need shared memory, move that elsewhere (TMPDIR is for scratch files)")
        passed = [environ[name] for name in suite.pass_env if name in environ]
        home = environ.get("HOME", "/")
        access = FileAccess(read=_places(suite.files.read, home), write=_places(suite.files.write, home))
        self.jail = FileJail(
            means=means,
            access=access,
            read=(
                *readable_folders(environ.get("PATH", ""), passed, homes, protected, own_users=own_users),
                str(self._scratch / "system-programs"),
            ),
            hidden=tuple(homes),
            shared_memory=not in_memory,
            sockets=tuple(listening_sockets()),
        )

    @property
    def confinement(self) -> tuple[str, ...]:
        """Return how files and system calls are confined, for the result."""
        means = self._means
        if means is None:
            return ()
        calls = f"system calls {'' if means.calls else 'not '}filtered"
        return (
            _SAID[means.landlock, means.mounts],
            calls,
            f"small workspaces {'in memory' if self.in_memory else 'on disk'}",
        )

    def of_build(self, checkout: Path) -> Confinement:
        """Confine a side's build to its checkout, and to reading the repository that a worktree belongs to."""
        tmp = self._scratch / secrets.token_hex(8)
        tmp.mkdir()
        tmp.chmod(0o1777)
        confinement = Confinement(None, self.jail)
        is_worktree = (checkout / ".git").is_file()
        read = (self._repositories[checkout] / ".git",) if is_worktree else ()
        confinement.use(FileRules(read=read, write=(checkout,), tmp=tmp))
        return confinement


def _places(paths: Sequence[str], home: str) -> tuple[str, ...]:
    """Return the paths, and where links lead: of /run, which is hidden, only paths that begin with it are kept."""
    expanded = [home.rstrip("/") + path[1:] if path.startswith("~") else path for path in paths]
    return tuple(dict.fromkeys(place for path in expanded for place in (path, os.path.realpath(path))))


HOST_PROXY_PORT = 3128  # inside a namespace, where every port is free
_REPORTED = {
    "namespace": "network by namespace",
    "ports": "network by Landlock and seccomp",
    None: "network not confined",
}


class SlotNetworks:
    """The networks of a run. A context manager, which closes them; `choose` comes before the first `open`."""

    def __init__(self, access: NetworkAccess, progress: Progress) -> None:
        self._access = access
        self._progress = progress
        self._how: How | None = None
        self._model_proxy: ModelProxy | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    async def choose(self, model_proxy: ModelProxy | None) -> None:
        """Find out how this machine can confine the network; say it if it cannot do so fully."""
        self._model_proxy = model_proxy
        if not self._access.is_confined:
            return
        self._how, lacking = await way_to_confine()
        if self._how == "ports":
            self._progress.say(
                f"where `network` is limited, trials reach services of their own at `{{port}}` only: {lacking}"
            )
        elif self._how is None:
            self._progress.say(f"`network` has no effect, and trials reach the whole network: {lacking}")

    @property
    def confinement(self) -> tuple[str, ...]:
        """Return how the network is confined, for the result."""
        return (_REPORTED[self._how] if self._access.is_confined else "network open, as the suite says",)

    async def open(self) -> Network | None:
        """Return the network of a new slot; None if nothing is confined."""
        if self._how is None:
            return None
        network = await self._opened(self._how)
        self._open.callback(network.close)
        return network

    async def _opened(self, how: How) -> Network:
        proxy = self._model_proxy
        if how == "ports":
            listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
            port = listener.getsockname()[1]
            return Network((), (port, *([proxy.port] if proxy else [])), HostProxy(listener), port)
        namespace = await new_namespace([HOST_PROXY_PORT, *([proxy.port] if proxy else [])])
        first, *rest = namespace.listeners
        for listener in rest:
            assert proxy is not None
            proxy.serve(listener)
        return Network(namespace.descriptors, (), HostProxy(first), HOST_PROXY_PORT)
