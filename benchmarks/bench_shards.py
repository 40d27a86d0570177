"""A pull request over 40 jobs: `python benchmarks/bench_shards.py`.

plan: 1,000 scenarios × 2 agents with three screening trials, assigned by a history of ten trials each. The time of the
longest job is compared with its lower bound, if trials take exactly their mean, and if they vary (a factor of 1.5).
merge: the bundles of 40 shards with 10,000 trials are joined, compared, and rendered. It builds and runs nothing.
"""

from __future__ import annotations

import heapq
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean

from bench_growth import ROWS, SIDES, TRIALS, a_run, write_run

from tidegate.decide.comparison.compare import compare
from tidegate.decide.verdict import decide
from tidegate.history.report_files import write_reports
from tidegate.history.run_folder import RunFolder, load_run, write_value
from tidegate.model.bundle import BundleContents, ShardPlan, Share, Spent
from tidegate.model.plan import RowKey
from tidegate.model.suite import Budget
from tidegate.model.trial_spec import TrialSpec
from tidegate.reports.make_result import make_result
from tidegate.run.bundle import bundle_name, write_results
from tidegate.run.join import join
from tidegate.run.sharding import Load, in_rounds, longest_first

SHARDS, JOBS, SCREEN, PAST, SEEDS = 40, 4, 3, 10, 20
VARIES = 0.4  # standard deviation of the logarithm of a trial's time


def main() -> None:
    """Measure both parts; with `merge DIR`, merge what is there; with `plan`, the first part only."""
    if sys.argv[1:2] == ["merge"]:
        merge(Path(sys.argv[2]))
        return
    for varies in (0.0, VARIES):
        found = [ratios(random.Random(seed), varies) for seed in range(SEEDS)]
        for what, values in zip(("ten trials of history", "the true means"), zip(*found, strict=True), strict=True):
            print(f"longest job to the bound, trials vary by {varies}, {what}: {fmean(values):.3f}, {max(values):.3f}")
    if sys.argv[1:2] == ["plan"]:
        return
    with tempfile.TemporaryDirectory() as folder:
        write_bundles(Path(folder))
        subprocess.run([sys.executable, __file__, "merge", folder], check=True)


def ratios(chance: random.Random, varies: float) -> tuple[float, float]:
    """Return the time of the longest job as a multiple of the lower bound, which only a plan that knows all reaches.

    The second is that of a plan that knows each row's true mean: the best that is known before the trials run.
    """

    def drawn(mean: float, count: int) -> list[float]:
        return [mean * chance.lognormvariate(-varies * varies / 2, varies) for _ in range(count)]

    means = [chance.lognormvariate(3, 0.8) for _ in range(2000)]
    known = {RowKey(scenario=f"{n}", agent="a"): fmean(drawn(mean, PAST)) for n, mean in enumerate(means)}
    real = [drawn(mean, SCREEN) for mean in means]
    bound = max(sum(map(sum, real)) / SHARDS / JOBS, max(map(max, real)))
    certain = dict(zip(known, means, strict=True))
    return longest(known, real) / bound, longest(certain, real) / bound


def longest(seconds: dict[RowKey, float], real: list[list[float]]) -> float:
    """Return the time of the longest job of a plan that expects these seconds of each row's trials."""
    ends = []
    for shard in longest_first([Load(key, SCREEN, SCREEN * secs) for key, secs in seconds.items()], SHARDS):
        specs = [
            TrialSpec(side="head", scenario=load.key.scenario, agent="a", index=turn, phase="screen")
            for turn in range(1, SCREEN + 1)
            for load in shard
        ]
        slots = [0.0] * JOBS
        for spec in in_rounds(specs, seconds):
            heapq.heapreplace(slots, slots[0] + real[int(spec.scenario)][spec.index - 1])
        ends.append(max(slots))
    return max(ends)


def write_bundles(folder: Path) -> None:
    """Write 40 bundles with all trials of two stored runs."""
    stores = {side: RunFolder(folder / "ran" / side) for side in SIDES}
    for side in SIDES:
        write_run(stores[side], side)
    results = [result for side in SIDES for result in load_run(stores[side].folder).trials]
    keys = [RowKey(scenario=f"scenario {number}", agent="a") for number in range(ROWS)]
    trials = 2 * ROWS * TRIALS // SHARDS
    shares = tuple(Share(rows=tuple(keys[n::SHARDS]), trials=trials, seconds=1) for n in range(SHARDS))
    same = {"tidegate_version": "0", "base": "b" * 40, "head": "d" * 40, "suite_hash": "0"}
    plan = ShardPlan(**same, config="", target="b" * 40, names=("", ""), budget=Budget(), shares=shares)
    write_value(folder / "plan.json", plan)
    for number, share in enumerate(shares, 1):
        rows = set(share.rows)
        own = [result for result in results if result.key in rows]
        said = {"number": number, "trials": len(own), "spent": Spent(), "seconds": 1, "versions": {}}
        contents = BundleContents(asked=plan.id, **said)
        write_results(folder / "bundles" / bundle_name(number, SHARDS), contents, own, stores)


def merge(folder: Path) -> None:
    """Join the bundles, take all trials, compare, decide, and write the reports."""
    began, cpu = time.monotonic(), time.process_time()
    plan = ShardPlan.model_validate_json((folder / "plan.json").read_bytes())
    joined = join(folder / "bundles", plan)
    stores = {side: RunFolder(folder / "merged" / side) for side in SIDES}
    specs = [result.spec for result in joined.results]
    found = joined.take(specs, stores)
    base, head = (a_run(side, [result for result in found if result.side == side]) for side in SIDES)
    comparison = compare(base, head, stored=True)
    result = make_result(comparison, decide(comparison, head.policy), base, head)
    write_reports(result, folder / "out", stores)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"merge of {len(found)} trials: CPU {time.process_time() - cpu:.1f} s, "
          f"wall {time.monotonic() - began:.1f} s, {peak:.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
