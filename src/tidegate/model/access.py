"""What the steps of a trial may reach: hosts, and files of the machine besides their own."""

from typing import Literal

from tidegate.model.field_types import Host, MachinePath
from tidegate.model.value import Value

NetworkStep = Literal["setup", "agent", "gates"]


class RefusedHost(Value):
    """A host that a step of a trial asked for, as the entry that would allow it, and how often it was refused."""

    step: NetworkStep
    host: str
    times: int


Access = bool | tuple[Host, ...]  # the whole network, none of it, or these hosts


class NetworkAccess(Value):
    """What each step may reach: the whole network, nothing but the agent's model, or these hosts besides."""

    setup: Access = True
    agent: Access = True
    gates: Access = True

    @property
    def is_confined(self) -> bool:
        """Return True if a step may not reach the whole network."""
        return not (self.setup is self.agent is self.gates is True)

    def lists(self, one: RefusedHost) -> bool:
        """Return True if the host that was refused would not be refused now."""
        access = self.of(one.step)
        entries = access if isinstance(access, tuple) else ()
        return (
            access is True or one.host in entries or any(one.host.endswith(name[1:]) for name in entries if "*" in name)
        )

    def of(self, step: NetworkStep) -> Access:
        """Return what the step may reach."""
        return {"setup": self.setup, "agent": self.agent, "gates": self.gates}[step]


class FileAccess(Value):
    """More folders and files that builds, setup, agents and gates may read, or write."""

    read: tuple[MachinePath, ...] = ()
    write: tuple[MachinePath, ...] = ()
