"""What goes out to another machine and comes back: shards of the screening, and batches of trials."""

import hashlib
from functools import cached_property
from typing import Literal

from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.revision import Revision
from tidegate.model.suite import Budget, Suite
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.model.value import Value


class Spent(Value):
    """A part of a budget: US dollars and tokens, of agents and judges, and started trials."""

    usd: float = 0.0
    tokens: int = 0
    trials: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        """Return the sum."""
        return Spent(usd=self.usd + other.usd, tokens=self.tokens + other.tokens, trials=self.trials + other.trials)


NOTHING = Spent()


class Share(Value):
    """The rows of one shard, the number of their screening trials, and how many seconds these are estimated to take."""

    rows: tuple[RowKey, ...]
    trials: int
    seconds: float


class ShardPlan(Value):
    """Which shard runs which rows. All jobs of a run have the same plan.

    `target`: tip of the target branch; `base`, `head`: the commits that are compared; `names`: their branches.
    `suite_hash`: of the suite in force, with its scenarios.
    """

    schema_version: Literal[1] = 1
    tidegate_version: str
    config: str
    target: str
    base: str
    head: str
    names: tuple[str, str]
    suite_hash: str
    budget: Budget
    shares: tuple[Share, ...]

    @cached_property
    def id(self) -> str:
        """The plan's identity: a SHA-256 of all of it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def part_of_budget(self, number: int) -> Spent:
        """Return what shard `number` may spend: its share of the budget by its number of trials.

        The parts of all shards sum to the budget. Each job has the budget's minutes for itself.
        """
        before = sum(share.trials for share in self.shares[: number - 1])
        after = before + self.shares[number - 1].trials
        whole = sum(share.trials for share in self.shares) or 1
        budget = self.budget
        return Spent(
            usd=(budget.usd or 0) * (after - before) / whole,
            tokens=(budget.tokens or 0) * after // whole - (budget.tokens or 0) * before // whole,
            trials=(budget.trials or 0) * after // whole - (budget.trials or 0) * before // whole,
        )

    def budget_of(self, number: int) -> Budget:
        """Return the budget of shard `number`: its part of each limit that there is."""
        part, budget = self.part_of_budget(number), self.budget
        limited = ((name, getattr(part, name)) for name in Spent.model_fields if getattr(budget, name) is not None)
        return budget.model_copy(update=dict(limited))


class BundleContents(Value):
    """What a bundle of results states about itself.

    `asked`: what went out, the id of a plan or the seal of a bundle of trials; `number`: the shard of the plan.
    `versions`: of the agents' programs. `trials`: how many it has.
    """

    asked: str
    number: int = 1
    versions: dict[str, str | None]
    trials: int
    spent: Spent
    seconds: float
    confinement: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()  # files of head's commit that its build has replaced


class BatchSide(Value):
    """One side of the pull request: its commit, and how it is built."""

    side: Side
    revision: Revision
    build: tuple[str, ...]
    path: tuple[str, ...]


class KnownPace(Value):
    """How long base's slowest trial of a row took, in seconds, and whether head hung.

    `agent`: its agent; `setup`: its longest setup command or health check; `around`: all but the agent.
    """

    key: RowKey
    agent: float | None = None
    setup: float | None = None
    around: float | None = None
    hung: bool = False


class Batch(Value):
    """Trials to run, with everything that they need except the values of variables.

    `suite` has the suite's settings, without agents and scenarios: those are in `rows`. `withheld` names variables that
    the worker must not use, as for a pull request from a fork. Without trials, the worker only checks the agents.
    """

    tidegate_version: str
    name: str
    sides: tuple[BatchSide, ...]
    has_judge: bool = False  # base's definitions come in an archive of their own; else the last side has them
    suite: Suite
    rows: tuple[PlanRow, ...]
    trials: tuple[TrialSpec, ...]
    pace: tuple[KnownPace, ...] = ()
    withheld: tuple[str, ...] = ()
