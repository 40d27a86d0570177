"""Join the bundles of all shards: find what is missing, doubled, foreign or damaged, and hand out the trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path

from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.shard import ShardContents, ShardPlan, Spent
from tidegate.model.trial import Side, TrialSpec
from tidegate.shards.bundle import BadBundleError, Bundle, bundle_name
from tidegate.store.run_folder import RunFolder

MISSING = "there is no bundle of it"


@dataclass
class Joined:
    """The trials of all whole shards, and why the other shards are lost.

    A row of a lost shard is not measured: its trials are answered with `lost_shard`, on both sides and in every phase.
    """

    plan: ShardPlan
    lost: dict[int, str]  # by the shard's number: why
    warnings: tuple[str, ...] = ()
    bundles: dict[int, Bundle] = field(default_factory=dict)
    _trials: dict[str, tuple[TrialResult, Bundle]] = field(default_factory=dict)
    _lost_rows: dict[RowKey, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the results. A shard whose results cannot be used is lost, too."""
        for number, why in self.lost.items():
            self._lose(number, why)
        for number, bundle in list(self.bundles.items()):
            try:
                self._trials.update((result.spec.id, (result, bundle)) for result in bundle.results())
            except BadBundleError as error:
                self._lose(number, f"its bundle {error}")

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
        for number, bundle in list(self.bundles.items()):
            theirs = bundle.contents.versions
            other = [agent for agent, version in theirs.items() if version != versions.get(agent, version)]
            for agent in other[:1]:
                self._lose(number, f"it ran {agent} {theirs[agent]}, and this job has {versions[agent]}")

    def take(self, specs: Sequence[TrialSpec], stores: Mapping[Side, RunFolder]) -> list[TrialResult]:
        """Return the results of these trials that the shards have run or lost, stored in the run's folders."""
        found: list[TrialResult] = []
        for spec in specs:
            known = self._trials.get(spec.id)
            if known is not None and known[0].phase == spec.phase:
                result, bundle = self._trials.pop(spec.id)
                bundle.extract(result, stores[spec.side])
                found.append(result)
            elif (why := self._lost_rows.get(RowKey(scenario=spec.scenario, agent=spec.agent))) is not None:
                found.append(_not_measured(spec, why))
                stores[spec.side].finish_trial(found[-1])
        return found

    def say(self) -> Iterator[str]:
        """Yield a sentence for each lost shard, and the warnings."""
        yield from (_said(number, self.plan, why) for number, why in sorted(self.lost.items()))
        yield from self.warnings

    def close(self) -> None:
        """Close all bundles."""
        for bundle in self.bundles.values():
            bundle.close()

    def _lose(self, number: int, why: str) -> None:
        self.lost[number] = why
        self._lost_rows |= dict.fromkeys(self.plan.shares[number - 1].rows, _said(number, self.plan, why))
        if (gone := self.bundles.pop(number, None)) is not None:
            self._trials = {name: one for name, one in self._trials.items() if one[1] is not gone}
            gone.close()


def join(folder: Path, plan: ShardPlan, builds: Mapping[Side, str] | None = None) -> Joined:
    """Read all bundles below `folder`, and find those of this plan. `builds`: the seals of the builds that all use."""
    found: dict[int, list[Bundle]] = defaultdict(list)
    refused: dict[str, str] = {}  # by file name: why
    for path in sorted(folder.rglob("*.zip")):
        try:
            bundle = Bundle(path)
        except BadBundleError as error:
            refused[path.name] = f"{path.name} {error}"
            continue
        if why := foreign(bundle.contents, plan) or _other_build(bundle.contents, builds or {}):
            refused[path.name] = f"{path.name} is not a bundle of this run: {why}"
            bundle.close()
        else:
            found[bundle.contents.number].append(bundle)
    whole = {number: bundles[0] for number, bundles in found.items() if len({one.seal for one in bundles}) == 1}
    doubled = {number: "there are several different bundles of it" for number in found if number not in whole}
    _close(one for number, bundles in found.items() for one in bundles if one is not whole.get(number))
    of = len(plan.shares)
    absent = [number for number in range(1, of + 1) if number not in found]
    missing = {number: refused.pop(bundle_name(number, of), MISSING) for number in absent}
    return Joined(plan, {**missing, **doubled}, tuple(refused.values()), whole)


def foreign(contents: ShardContents, plan: ShardPlan) -> str:
    """Return why a bundle belongs to another plan; '' if it belongs to this one."""
    told = {
        "Tidegate": (contents.tidegate_version, plan.tidegate_version),
        "base": (contents.base[:12], plan.base[:12]),
        "head": (contents.head[:12], plan.head[:12]),
        "the suite": (contents.suite_hash[:12], plan.suite_hash[:12]),
        "the number of shards": (str(contents.of), str(len(plan.shares))),
        "the plan": (contents.plan[:12], plan.id[:12]),
    }
    for name, (its, ours) in told.items():
        if its != ours:
            return f"{name} is {its} there and {ours} here"
    if not 1 <= contents.number <= contents.of or contents.rows != plan.shares[contents.number - 1].rows:
        return f"it does not have the rows of shard {contents.number}"
    return ""


def _other_build(contents: ShardContents, builds: Mapping[Side, str]) -> str:
    """Return which side's build was another one than here; '' if none was."""
    sides = [side for side in sorted({*contents.builds, *builds}) if contents.builds.get(side) != builds.get(side)]
    return f"it used another build of {sides[0]} than this job" if sides else ""


def _said(number: int, plan: ShardPlan, why: str) -> str:
    return f"shard {number} of {len(plan.shares)} is lost: {why}"


def _not_measured(spec: TrialSpec, why: str) -> TrialResult:
    fields = spec.model_dump()
    return TrialResult(**fields, id=spec.id, outcome=None, decides=None, reason=why, not_measured="lost_shard")


def _close(bundles: Iterable[Bundle]) -> None:
    for bundle in bundles:
        bundle.close()
