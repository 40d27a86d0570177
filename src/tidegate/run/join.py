"""Join the bundles of all shards: find what is missing, doubled, foreign or damaged, and hand out the trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path

from tidegate.history.run_folder import RunFolder
from tidegate.model.bundle import BundleContents, ShardPlan, Spent
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey, key_of
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.bundle import BadBundleError, Bundle, bundle_name

MISSING = "there is no bundle of it"


@dataclass
class Joined:
    """The trials of all whole shards, and why the other shards are lost.

    A row of a lost shard is not measured: its trials are answered with `lost_shard`, on both sides and in every phase,
    also if another shard has run some of them.
    """

    plan: ShardPlan
    lost: dict[int, str]  # why, by the shard's number
    warnings: tuple[str, ...] = ()
    bundles: dict[int, Bundle] = field(default_factory=dict)
    _trials: dict[TrialSpec, tuple[TrialResult, Bundle]] = field(default_factory=dict)
    _lost_rows: dict[RowKey, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the results. A shard whose results cannot be used is lost, too."""
        for shard, bundle in self.bundles.items():
            try:
                results = bundle.results(self.plan.shares[shard - 1].rows)
                self._trials.update((result.spec, (result, bundle)) for result in results)
            except BadBundleError as error:
                self.lost[shard] = f"its bundle {error}"
        for shard, why in list(self.lost.items()):
            self._lose(shard, why)

    @property
    def spent(self) -> Spent:
        """Return what the shards spent. A lost one counts with its whole part of the budget: it may have spent it."""
        known = (bundle.contents.spent for bundle in self.bundles.values())
        return reduce(add, (*known, *map(self.plan.part_of_budget, self.lost)), Spent())

    @property
    def left(self) -> int:
        """Return how many trials of the shards have not been taken."""
        return len(self._trials)

    @property
    def rows(self) -> set[RowKey]:
        """Return the rows that shards have run on head, and those of lost shards."""
        return {result.key for result, _ in self._trials.values() if result.side == "head"} | self._lost_rows.keys()

    def leave_other_versions(self, versions: Mapping[str, str | None]) -> None:
        """Count the shards as lost whose agents' programs had other versions than here: their trials do not compare."""
        for shard, bundle in list(self.bundles.items()):
            theirs = bundle.contents.versions
            other = [agent for agent, version in theirs.items() if version != versions.get(agent, version)]
            for agent in other[:1]:
                self._lose(shard, f"it ran {agent} {theirs[agent]}, and this job has {versions[agent]}")

    def take(self, specs: Sequence[TrialSpec], stores: Mapping[Side, RunFolder]) -> list[TrialResult]:
        """Return the results of these trials that the shards have run or lost, stored in the run's folders."""
        found: list[TrialResult] = []
        for spec in specs:
            if spec in self._trials:
                result, bundle = self._trials.pop(spec)
                bundle.extract(spec, stores[spec.side])
                stores[spec.side].finish_trial(result)
                found.append(result)
            elif (why := self._lost_rows.get(key_of(spec))) is not None:
                found.append(_not_measured(spec, why))
                stores[spec.side].finish_trial(found[-1])
        return found

    def say(self) -> Iterator[str]:
        """Yield a sentence for each lost shard, and the warnings."""
        yield from (self._said(*one) for one in sorted(self.lost.items()))
        yield from self.warnings

    def close(self) -> None:
        """Close all bundles."""
        for bundle in self.bundles.values():
            bundle.close()

    def _lose(self, shard: int, why: str) -> None:
        self.lost[shard] = why
        self._lost_rows |= dict.fromkeys(self.plan.shares[shard - 1].rows, self._said(shard, why))
        self._trials = {spec: one for spec, one in self._trials.items() if one[0].key not in self._lost_rows}
        if (gone := self.bundles.pop(shard, None)) is not None:
            gone.close()

    def _said(self, shard: int, why: str) -> str:
        return f"shard {shard} of {len(self.plan.shares)} is lost: {why}"


def join(folder: Path, plan: ShardPlan) -> Joined:
    """Read all bundles below `folder`, and find those of this plan."""
    found: dict[int, list[Bundle]] = defaultdict(list)
    refused: dict[str, str] = {}  # by file name: why
    for path in sorted(folder.rglob("*.zip")):
        try:
            bundle = Bundle(path)
        except BadBundleError as error:
            refused[path.name] = f"{path.name} {error}"
            continue
        if why := foreign(bundle.contents, plan):
            refused[path.name] = f"{path.name} is not a bundle of this run: {why}"
            bundle.close()
        else:
            found[bundle.contents.number].append(bundle)
    whole = {shard: bundles[0] for shard, bundles in found.items() if len({one.seal for one in bundles}) == 1}
    lost = {shard: "there are several different bundles of it" for shard in found if shard not in whole}
    _close(one for shard, bundles in found.items() for one in bundles if one is not whole.get(shard))
    of = len(plan.shares)
    absent = [shard for shard in range(1, of + 1) if shard not in found]
    lost |= {shard: refused.pop(bundle_name(shard, of), MISSING) for shard in absent}
    return Joined(plan, lost, tuple(refused.values()), whole)


def foreign(contents: BundleContents, plan: ShardPlan) -> str:
    """Return why a bundle does not belong to the plan; '' if it does. A plan's id is that of commits and suite, too."""
    if contents.asked != plan.id:
        return "it is of another plan"
    return "" if 1 <= contents.number <= len(plan.shares) else f"the plan has no shard {contents.number}"


def _not_measured(spec: TrialSpec, why: str) -> TrialResult:
    fields = spec.model_dump()
    return TrialResult(**fields, id=spec.id, outcome=None, decides=None, reason=why, not_measured="lost_shard")


def _close(bundles: Iterable[Bundle]) -> None:
    for bundle in bundles:
        bundle.close()
