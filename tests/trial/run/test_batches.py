"""Trials in batches: which share a batch, what is run again, and what becomes of batches that are lost."""

from __future__ import annotations

import asyncio
import json
import os
import zipfile
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from tests import make
from tests.trial.run.engines import Worker, attempts_of, by_chance, carried, drawn, passing, plan_of, specs_of
from tidegate.checks.measure import measure_trial
from tidegate.decide.comparison.compare import compare
from tidegate.decide.procedure.steps import next_step, observe, start
from tidegate.errors import CannotRunError
from tidegate.history.run_folder import RunFolder
from tidegate.model.bundle import BundleContents, Spent
from tidegate.model.comparison import Row
from tidegate.model.executor import RESULTS_FILE, BatchJob, BatchLostError
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import Plan, key_of
from tidegate.model.result import Verdict
from tidegate.model.suite import Budget, Policy
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.batches import Batches, in_batches, read_results
from tidegate.run.bundle import read_batch, write_trials
from tidegate.suite.plan import run_rows

ROWS = ("a", "b", "c", "d")
SIDES: tuple[Side, Side] = ("base", "head")
SEAL = "5" * 64
SEEDS = int(os.environ.get("TIDEGATE_SEEDS", "12"))  # 200 take a minute


def run(folder: Path, worker: Worker, specs: list[TrialSpec], budget: Budget | None = None) -> list[Trial | None]:
    """Run these trials in batches on one worker."""
    plan = plan_of(*dict.fromkeys(spec.scenario for spec in specs))
    attempts = attempts_of(folder, worker, plan, budget)

    async def all_of_it() -> list[Trial | None]:
        async with Batches(worker, plan, attempts, ()) as batches:
            return await carried(batches, plan, specs)

    return asyncio.run(all_of_it())


def causes(trials: list[Trial | None]) -> Counter[tuple[str, str | None]]:
    return Counter((trial.spec.side, trial.not_measured) for trial in trials if trial)


def test_the_trials_of_a_row_share_a_batch_and_batches_are_no_larger_than_allowed() -> None:
    batches = list(in_batches(specs_of(*ROWS, count=2), Worker(parallel=2, trials=100)))
    assert [[spec.scenario for spec in batch] for batch in batches] == [["a"] * 4 + ["b"] * 4, ["c"] * 4 + ["d"] * 4]
    assert [len(batch) for batch in in_batches(specs_of(*ROWS, count=2), Worker(parallel=1, trials=9))] == [8, 8]
    assert [len(batch) for batch in in_batches(specs_of("a", count=9), Worker(parallel=8, trials=2))] == [18]


def test_no_more_batches_run_at_once_than_the_engine_takes(tmp_path: Path) -> None:
    running, seen = list[str](), list[int]()

    async def around(job: BatchJob, work: Callable[[], None]) -> None:
        running.append(job.name)
        seen.append(len(running))
        await asyncio.sleep(0.01)
        work()
        running.remove(job.name)

    trials = run(tmp_path, Worker(parallel=2, trials=2).working(around=around), specs_of(*ROWS))
    assert causes(trials) == {("base", None): 4, ("head", None): 4}
    assert (len(seen), max(seen)) == (4, 2)


def test_a_run_without_rows_needs_no_engine(tmp_path: Path) -> None:
    attempts = attempts_of(tmp_path, Worker(), plan_of("a"))
    assert Batches.of(attempts, Plan(rows=()), ()) is None
    assert Batches.of(attempts, plan_of("a"), ()) is not None


def test_records_come_back_to_each_side_s_run(tmp_path: Path) -> None:
    trials = run(tmp_path, Worker().working(lambda spec: drawn(spec, passed=spec.side == "base")), specs_of("a"))
    assert [trial and trial.answers[0] and trial.answers[0].kind for trial in trials] == ["file", "file"]
    for side, state in (("base", "present"), ("head", "missing")):
        stored = json.loads((tmp_path / f"runs/{side}/trials/a/docs/1/trial.json").read_text())
        assert stored["answers"][0]["state"] == state


def test_a_head_that_ends_its_worker_takes_only_its_own_trials_along(tmp_path: Path) -> None:
    def around(job: BatchJob, work: Callable[[], None]) -> None:
        if any(spec.side == "head" for spec in read_batch(job.bundle)[0].trials):
            raise BatchLostError("the node is gone")
        work()

    worker = Worker().working(around=around)
    trials = run(tmp_path, worker, specs_of("a", "b"))
    assert causes(trials) == {("base", None): 2, ("head", "worker_lost"): 2}
    assert {trial.reason for trial in trials if trial and trial.not_measured} == {"the node is gone"}


def test_a_row_and_side_that_lost_all_of_its_workers_gets_one_a_trial_from_then_on(tmp_path: Path) -> None:
    plan, carries = plan_of("a"), list[str]()

    def around(job: BatchJob, work: Callable[[], None]) -> None:
        carries.append(job.name)
        raise BatchLostError("the node is gone")

    worker = Worker(parallel=1).working(around=around)
    attempts = attempts_of(tmp_path, worker, plan)

    async def all_of_it() -> list[int]:
        async with Batches(worker, plan, attempts, ()) as batches:
            counts = []
            for index in (1, 2):
                await carried(batches, plan, [make.spec(scenario="a", agent="docs", index=index)])
                counts.append(len(carries))
            return counts

    assert asyncio.run(all_of_it()) == [3, 4]


def test_what_an_engine_loses_once_or_twice_is_run_again(tmp_path: Path) -> None:
    lost = iter(range(2))

    def around(job: BatchJob, work: Callable[[], None]) -> None:
        if next(lost, None) is not None:
            raise BatchLostError("preempted")
        work()

    assert causes(run(tmp_path, Worker(parallel=1).working(around=around), specs_of("a"))) == {
        ("base", None): 1,
        ("head", None): 1,
    }


def _missing(results: Path, chance: Random) -> None:
    results.unlink()


def _cut_off(results: Path, chance: Random) -> None:
    os.truncate(results, chance.randrange(results.stat().st_size))


def _tampered(results: Path, chance: Random) -> None:
    data = bytearray(results.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    results.write_bytes(data)


def _foreign(results: Path, chance: Random) -> None:
    _write(results, specs_of("a"), asked="0" * 64)


def _too_few(results: Path, chance: Random) -> None:
    _write(results, specs_of("a")[:1])


def _doubled(results: Path, chance: Random) -> None:
    _write(results, specs_of("a", count=2))


def _swapped(results: Path, chance: Random) -> None:
    _write(results, specs_of("b"))


def _write(results: Path, specs: list[TrialSpec], asked: str = SEAL) -> None:
    stores: dict[Side, RunFolder] = {side: RunFolder(results.parent / f"ran-{side}") for side in SIDES}
    for spec in specs:
        stores[spec.side].keep_trial(passing(spec))
    contents = BundleContents(asked=asked, versions={}, trials=len(specs), spent=Spent(), seconds=1)
    write_trials(results, contents, specs, stores)


DAMAGES: dict[Callable[[Path, Random], None], str] = {
    _missing: "cannot be read: No such file",
    _cut_off: "",
    _tampered: "was cut off or changed",
    _foreign: "belongs to another batch",
    _too_few: "has another number of trials than were asked for",
    _doubled: "has another number of trials than were asked for",
    _swapped: "lacks the trial base/a/docs/1",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_to_a_worker_s_results_is_found_in_100_of_100(
    tmp_path: Path, damage: Callable[[Path, Random], None]
) -> None:
    results = tmp_path / RESULTS_FILE
    for seed in range(100):
        _write(results, specs_of("a"))
        read_results(results, SEAL, specs_of("a")).close()
        damage(results, Random(seed))
        with pytest.raises(BatchLostError, match=f"the worker's results.zip {DAMAGES[damage]}"):
            read_results(results, SEAL, specs_of("a"))


def test_trials_whose_results_are_damaged_are_not_measured(tmp_path: Path) -> None:
    def around(job: BatchJob, work: Callable[[], None]) -> None:
        work()
        _tampered(job.out / RESULTS_FILE, Random(1))

    trials = run(tmp_path, Worker().working(around=around), specs_of("a"))
    assert causes(trials) == {("base", "worker_lost"): 1, ("head", "worker_lost"): 1}


def test_a_worker_with_another_agent_than_the_first_one_is_not_believed(tmp_path: Path) -> None:
    plan, worker = plan_of("a"), Worker().working()
    attempts = attempts_of(tmp_path, worker, plan)

    async def all_of_it() -> list[Trial | None]:
        async with Batches(worker, plan, attempts, ()) as batches:
            assert await batches.check({"docs": make.DOCS}) == {"docs": "1"}
            worker.working(versions={"docs": "2"})
            return await carried(batches, plan, specs_of("a"))

    reasons = {trial.reason for trial in asyncio.run(all_of_it()) if trial}
    assert reasons == {"the worker has docs 2, and the first one had 1"}


def test_the_check_runs_nothing_of_head_and_an_engine_that_fails_it_ends_the_run(tmp_path: Path) -> None:
    plan = plan_of("a")

    def around(job: BatchJob, work: Callable[[], None]) -> None:
        assert set(zipfile.ZipFile(job.bundle).namelist()) == {"batch.json", "base.tar"}
        raise BatchLostError("sh: 1: sbatch: not found")

    worker = Worker().working(around=around)

    async def check() -> None:
        async with Batches(worker, plan, attempts_of(tmp_path, worker, plan), ()) as batches:
            await batches.check({"docs": make.DOCS})

    with pytest.raises(CannotRunError, match="The executor `here` does not work: sh: 1: sbatch: not found"):
        asyncio.run(check())


def test_batches_of_a_fix_that_is_tried_run_beside_those_of_the_run(tmp_path: Path) -> None:
    plan, worker = plan_of("a"), Worker().working(around=lambda job, work: work())

    async def twice() -> list[Trial | None]:
        attempts = attempts_of(tmp_path, worker, plan)
        found = list[Trial | None]()
        async with Batches(worker, plan, attempts, ()) as run, Batches(worker, plan, attempts, ()) as fix:
            for batches in (run, fix):
                specs = specs_of("a")
                batches.expect(specs)
                found += [await batches.trial(spec, plan.row(key_of(spec))) for spec in specs]
        return found

    assert all(asyncio.run(twice()))


def test_outages_are_run_again_and_are_no_failures(tmp_path: Path) -> None:
    slow = iter(range(8))

    def draw(spec: TrialSpec) -> Trial:
        if next(slow, None) is not None:
            return make.trial(spec=spec, end=None, not_measured="outage", reason="429")
        return passing(spec)

    worker = Worker(parallel=4, trials=2).working(draw)
    assert causes(run(tmp_path, worker, specs_of(*ROWS))) == {("base", None): 4, ("head", None): 4}
    assert len(worker.batches) == 8


def test_each_batch_gets_its_part_of_the_budget(tmp_path: Path) -> None:
    worker = Worker(parallel=1, trials=2).working(spent=Spent(usd=1.0, tokens=100))
    run(tmp_path, worker, specs_of(*ROWS), Budget(usd=8, tokens=800))
    shares = [batch.suite.budget for batch in worker.batches]
    assert [round(share.usd or 0, 2) for share in shares] == [2, 2.33, 3, 5]  # what is left, over those that wait
    assert [share.tokens for share in shares] == [200, 233, 300, 500]


def test_a_budget_that_is_used_up_starts_nothing_more(tmp_path: Path) -> None:
    worker = Worker(parallel=1, trials=2).working(spent=Spent(usd=9.0))
    assert causes(run(tmp_path, worker, specs_of(*ROWS), Budget(usd=8))) == {
        ("base", None): 1,
        ("head", None): 1,
        ("base", "budget"): 3,
        ("head", "budget"): 3,
    }


def test_a_secret_s_value_leaves_this_machine_in_no_batch(tmp_path: Path) -> None:
    plan = plan_of("a")
    leaking = plan.rows[0].model_copy(update={"scenario": make.scenario("a", prompt="use s3cret-value")})
    plan, worker = Plan(rows=(leaking,)), Worker().working()
    attempts = attempts_of(tmp_path, worker, plan, API_TOKEN="s3cret-value")

    async def check() -> None:
        async with Batches(worker, plan, attempts, ()) as batches:
            await batches.check({"docs": make.DOCS})

    with pytest.raises(CannotRunError, match="contains a secret's value"):
        asyncio.run(check())


# The same verdict as on one machine

Carry = Callable[[tuple[TrialSpec, ...]], Awaitable[list[Trial | None]]]


def judged(plan: Plan, results: list[TrialResult]) -> tuple[Verdict, tuple[Row, ...]]:
    rows = run_rows(plan, make.suite(*(row.scenario for row in plan.rows)))
    base, head = (
        make.run(*(one for one in results if one.side == side), side=side, rows=rows) for side in ("base", "head")
    )
    compared = compare(base, head)
    return make.verdict(compared), compared.rows


async def results_of(plan: Plan, carry: Carry) -> list[TrialResult]:
    """Play the procedure, with trials from wherever `carry` gets them."""
    state = start(run_rows(plan, make.suite(*(row.scenario for row in plan.rows))), Policy())
    results: list[TrialResult] = []
    while step := next_step(state):
        batch = [measure_trial(trial, plan.rows[0].scenario) for trial in await carry(step) if trial]
        results += batch
        state = observe(state, batch)
    return results


def test_pull_requests_end_alike_in_batches_that_get_lost_and_on_one_machine(tmp_path: Path) -> None:
    plan, worker = plan_of(*ROWS), Worker(parallel=3, trials=6)
    attempts = attempts_of(tmp_path, worker, plan)
    ends: Counter[str] = Counter()

    async def both(seed: int, batches: Batches) -> None:
        chance = Random(seed)
        rates = {("base", name): chance.choice((1.0, 0.9, 0.6)) for name in ROWS}
        rates |= {("head", name): rates["base", name] * chance.choice((1, 1, 1, 0.2, 0)) for name in ROWS}
        draw, lost = by_chance(seed, rates), set[str]()

        def around(job: BatchJob, work: Callable[[], None]) -> None:
            if Random(f"{seed} {len(lost)} {len(worker.batches)}").random() < 0.1 and len(lost) < 2:
                lost.add(job.name)
                raise BatchLostError("the node is gone")
            work()

        worker.working(draw, around)

        async def here(specs: tuple[TrialSpec, ...]) -> list[Trial | None]:
            return [draw(spec) for spec in specs]

        async def there(specs: tuple[TrialSpec, ...]) -> list[Trial | None]:
            return await carried(batches, plan, specs)

        local = judged(plan, await results_of(plan, here))
        elsewhere = judged(plan, await results_of(plan, there))
        assert local == elsewhere, seed
        ends[local[0].state] += 1

    async def all_of_them() -> None:
        async with Batches(worker, plan, attempts, ()) as batches:
            for seed in range(SEEDS):
                await both(seed, batches)

    asyncio.run(all_of_them())
    assert min(ends["passed"], ends["failed"]) > SEEDS / 20
