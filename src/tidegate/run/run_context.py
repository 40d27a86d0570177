"""What all trials of a run share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tidegate.agents.providers.access import Accesses
from tidegate.model.plan import PlanRow
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.model.trial_spec import Side
from tidegate.run.build import Checkout, HostEnvironment
from tidegate.trial.program_lookup import system_path
from tidegate.trial.sandbox.supervisor_pool import SupervisorPool
from tidegate.vcs.revisions import main_folder


@dataclass(frozen=True)
class RunContext:
    """What all trials of a run share."""

    suite: Suite
    checkouts: dict[Side, Checkout]
    scratch: Path
    definitions: Path  # the checkout that base's scenarios, templates and scripts are read from
    around: HostEnvironment
    progress: Progress
    slots: SupervisorPool
    deadline: float  # when the run ends, on the monotonic clock

    @cached_property
    def accesses(self) -> Accesses:
        """The access to the providers that agents name, which is shared by all trials."""
        return Accesses(self.around.environ)

    @cached_property
    def agent_path(self) -> str:
        """The system's folders of PATH: none of a checkout, or of the repository that Tidegate compares."""
        checkouts = [side.folder for side in self.sides]
        return system_path(self.around.path, (self.scratch, *checkouts, *map(main_folder, checkouts)))

    def definitions_of(self, row: PlanRow) -> Path:
        """Return the checkout that the row's template and scripts are read from: head's own, if head adds the row."""
        return self.sides[-1].folder if row.presence == "added" else self.definitions

    @property
    def sides(self) -> tuple[Checkout, ...]:
        """The checkouts, base's first."""
        return tuple(self.checkouts.values())
