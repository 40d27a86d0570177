"""What a run consists of: one row per scenario and agent."""

from functools import cache, cached_property
from typing import Literal

from pydantic import SerializeAsAny

from tidegate.model.agent import Agent
from tidegate.model.suite import Scenario
from tidegate.model.target import Target
from tidegate.model.trial_spec import NotMeasured, Side, TrialSpec
from tidegate.model.value import Value


class RowKey(Value):
    """The scenario and agent of a row, as in every report. `agent` is `name` or `name:model`."""

    scenario: str
    agent: str

    def __str__(self) -> str:
        """Return the row's name in reports: `add_task × claude`."""
        return f"{self.scenario} × {self.agent}"


@cache  # a key is used for each trial of its row, several times
def row_key(scenario: str, agent: str) -> RowKey:
    """Return the key of that row: the same object each time."""
    return RowKey(scenario=scenario, agent=agent)


def key_of(spec: TrialSpec) -> RowKey:
    """Return the key of the trial's row."""
    return row_key(spec.scenario, spec.agent)


class Texts(Value):
    """A prompt that has the contents of files of the repository, and the agent that is given them."""

    prompt: str
    agent: SerializeAsAny[Agent]


class PlanRow(Value):
    """One scenario with one agent, whose model is already chosen.

    Rows of base's definitions are run on both sides. `added` ones are head's definitions, which are run on head alone
    and decide nothing.
    """

    key: RowKey
    scenario: Scenario
    agent: SerializeAsAny[Agent]
    deterministic: bool
    presence: Literal["both", "added", "removed"] = "both"
    own_target: Target | None = None  # head's, where it differs: its tool may be started in another way
    own_texts: Texts | None = None  # head's, where they differ
    own_template: str | None = None  # head's, where it differs: its guidance may have moved there
    env_of_base: dict[str, str] | None = None  # its `target.env`, for all but head's tool; None: the same one
    no_agent: NotMeasured | None = None  # why no agent may be run for it: sessions are replayed instead

    def on(self, side: Side) -> "PlanRow":
        """Return the row as that side's product has it: its target, and the text of the files in its prompt."""
        if side == "base" or (self.own_target is None and self.own_texts is None):
            return self
        target = {"target": self.own_target} if self.own_target else {}
        env = self.scenario.target.env
        texts = {"prompt": self.own_texts.prompt} if self.own_texts else {}
        agent = self.own_texts.agent if self.own_texts else self.agent
        scenario = self.scenario.model_copy(update={**target, **texts})
        alone = {"own_target": None, "own_texts": None, "env_of_base": env}
        return self.model_copy(update={"scenario": scenario, "agent": agent, **alone})


class Plan(Value):
    """The rows of a run, in the suite's order."""

    rows: tuple[PlanRow, ...]

    def row(self, key: RowKey) -> "PlanRow":
        """Return the row with that key. Raises KeyError if there is none."""
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> dict[RowKey, PlanRow]:
        return {row.key: row for row in self.rows}
