"""What the commands of one supervisor may reach from now on: the network and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidegate.model.access import Access
from tidegate.trial.sandbox.file_jail import FileJail, FileRules
from tidegate.trial.sandbox.network import Network


class Confinement:
    """Keeps commands to a part of the network and of the machine's files, by what this machine has for it."""

    def __init__(self, network: Network | None = None, files: FileJail | None = None) -> None:
        self.network = network
        self._files = files
        self._access: Access = True
        self._own_ports: tuple[int, ...] = ()
        self._rules: FileRules | None = None
        self._refused: dict[str, None] = {}

    def reach(self, access: Access, *own_ports: int) -> None:
        """Let the next commands reach only that much of the network; a trial's own services may use `own_ports`."""
        self._access, self._own_ports = access, own_ports

    def use(self, rules: FileRules) -> None:
        """Let the next commands use only these files."""
        self._rules = rules

    def lift(self) -> None:
        """Let the next commands reach and use what their user can."""
        self._access, self._own_ports, self._rules = True, (), None

    def copy(self) -> Confinement:
        """Return the same for another supervisor."""
        other = Confinement(self.network, self._files)
        other._access, other._own_ports, other._rules = self._access, self._own_ports, self._rules
        return other

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the variables by which programs find the proxy."""
        return self.network.variables(self._access) if self.network else {}

    @property
    def common_files(self) -> Sequence[str]:
        """Return the paths that every command may read, sent to the supervisor once."""
        return self._files.common if self._files else ()

    def jail(self) -> dict[str, Any]:
        """Return what the supervisor has to do for the next command."""
        found: dict[str, Any] = self.network.jail(self._access, *self._own_ports) if self.network else {}
        return {**found, **self._files.jail(self._rules)} if self._files and self._rules else found

    def note_output(self, text: str) -> None:
        """Take notice of the files that a command's output says it was refused."""
        if self._files is not None and self._rules is not None:
            self._refused.update(dict.fromkeys(self._files.refused(text, self._rules)))

    def take_refused_files(self) -> list[str]:
        """Return the files that commands were refused since the last call."""
        found, self._refused = list(self._refused), {}
        return found

    def take_refused_hosts(self) -> dict[str, int]:
        """Return how often commands were refused a host since the last call, by host."""
        return self.network.hosts.take_refused() if self.network else {}
