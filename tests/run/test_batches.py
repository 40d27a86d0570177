"""Trials in batches: which share a batch, what is run again, and what becomes of batches that are lost."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from tests import make
from tests.run.engines import Worker, attempts_of, by_chance, carried, drawn, passing, plan_of, specs_of
from tidegate.comparison.compare import compare
from tidegate.errors import CannotRunError
from tidegate.measure.measure_trial import measure_trial
from tidegate.model.comparison import Row
from tidegate.model.executor import BatchJob, BatchLostError
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import Plan
from tidegate.model.suite import Budget, Policy
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
from tidegate.model.verdict import Verdict
from tidegate.plan import run_rows
from tidegate.procedure.steps import RunTrials, next_step, observe, start
from tidegate.run.batch_contents import in_batches
from tidegate.run.batches import Batches
from tidegate.run.bundle import BATCH_FILE, REPORT_FILE
from tidegate.verdict.decide import decide

ROWS = ("a", "b", "c", "d")
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


def test_a_run_without_rows_needs_no_engine(tmp_path: Path) -> None:
    attempts = attempts_of(tmp_path, Worker(), plan_of("a"))
    assert Batches.of(attempts, Plan(rows=()), ()) is None
    assert Batches.of(attempts, plan_of("a"), ()) is not None


def test_records_come_back_to_each_side_s_run(tmp_path: Path) -> None:
    trials = run(tmp_path, Worker().working(lambda spec: drawn(spec, passed=spec.side == "base")), specs_of("a"))
    assert [trial and trial.answers[0] and trial.answers[0].kind for trial in trials] == ["file", "file"]
    for side, state in (("base", "present"), ("head", "missing")):
        stored = json.loads((tmp_path / f"runs/{side}/trials/a/docs/1/record/trial.json").read_text())
        assert stored["answers"][0]["state"] == state


def test_a_head_that_ends_its_worker_takes_only_its_own_trials_along(tmp_path: Path) -> None:
    def around(job: BatchJob, work: Callable[[], None]) -> None:
        if '"side": "head",\n   "scenario"' in (job.bundle / BATCH_FILE).read_text():
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


def _nothing(job: BatchJob) -> None:
    (job.out / REPORT_FILE).unlink()


def _other_plan(job: BatchJob) -> None:
    report = json.loads((job.out / REPORT_FILE).read_text())
    (job.out / REPORT_FILE).write_text(json.dumps(report | {"batch": "0" * 64}))


def _half_written(job: BatchJob) -> None:
    next(job.out.rglob("trial.json")).unlink()


def _cut_off(job: BatchJob) -> None:
    trial = next(job.out.rglob("trial.json"))
    trial.write_text(trial.read_text()[:-40])


def _another_file(job: BatchJob) -> None:
    (job.out / "more.json").write_text("{}")


def _link(job: BatchJob) -> None:
    trial = next(job.out.rglob("trial.json"))
    trial.rename(job.bundle / "kept")
    trial.symlink_to(job.bundle / "kept")


def _unreadable(job: BatchJob) -> None:
    (job.out / REPORT_FILE).write_text('{"batch": ')


WRONG: dict[Callable[[BatchJob], None], str] = {
    _nothing: "the worker wrote no report.json, so its results are incomplete",
    _other_plan: "the worker's results belong to another batch",
    _half_written: "the worker's results lack files, or have more than it wrote",
    _cut_off: "the worker's results are damaged: ",
    _another_file: "the worker's results lack files, or have more than it wrote",
    _link: "the worker's results are damaged: ",
    _unreadable: "the worker's report.json is damaged, or of another version of Tidegate",
}


@pytest.mark.parametrize("spoil", WRONG)
def test_wrong_results_are_noticed_and_not_measured(tmp_path: Path, spoil: Callable[[BatchJob], None]) -> None:
    def around(job: BatchJob, work: Callable[[], None]) -> None:
        work()
        spoil(job)

    trials = run(tmp_path, Worker().working(around=around), specs_of("a"))
    assert causes(trials) == {("base", "worker_lost"): 1, ("head", "worker_lost"): 1}
    assert all(trial and trial.reason.startswith(WRONG[spoil]) for trial in trials)


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
        assert {path.name for path in job.bundle.iterdir()} == {"batch.json", "base.tar"}
        raise BatchLostError("sh: 1: sbatch: not found")

    worker = Worker().working(around=around)

    async def check() -> None:
        async with Batches(worker, plan, attempts_of(tmp_path, worker, plan), ()) as batches:
            await batches.check({"docs": make.DOCS})

    with pytest.raises(CannotRunError, match="The executor `here` does not work: sh: 1: sbatch: not found"):
        asyncio.run(check())


def test_outages_are_run_again_fewer_at_a_time_and_are_no_failures(tmp_path: Path) -> None:
    slow, running, most = iter(range(8)), set[str](), list[int]()

    def draw(spec: TrialSpec) -> Trial:
        if next(slow, None) is not None:
            return make.trial(spec=spec, end=None, not_measured="outage", reason="429")
        return passing(spec)

    async def around(job: BatchJob, work: Callable[[], None]) -> None:
        running.add(job.name)
        most.append(len(running))
        again = len(most) > 4
        gives_up = time.monotonic() + (0.2 if again else 20)
        while max(most[4:] if again else most) < (3 if again else 4) and time.monotonic() < gives_up:
            await asyncio.sleep(0.01)  # so that as many run at once as may
        work()
        running.remove(job.name)

    worker = Worker(parallel=4, trials=2).working(draw, around)
    assert causes(run(tmp_path, worker, specs_of(*ROWS))) == {("base", None): 4, ("head", None): 4}
    assert (max(most[:4]), max(most[4:])) == (4, 2)


def test_each_batch_gets_its_part_of_the_budget(tmp_path: Path) -> None:
    worker = Worker(parallel=1, trials=2).working(usd=1.0, tokens=100)
    run(tmp_path, worker, specs_of(*ROWS), Budget(usd=8, tokens=800))
    shares = [batch.suite.budget for batch in worker.batches]
    assert [round(share.usd or 0, 2) for share in shares] == [2, 2.33, 3, 5]  # what is left, over those that wait
    assert [share.tokens for share in shares] == [200, 233, 300, 500]


def test_a_budget_that_is_used_up_starts_nothing_more(tmp_path: Path) -> None:
    worker = Worker(parallel=1, trials=2).working(usd=9.0)
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
    return decide(compared, Policy()), compared.rows


async def results_of(plan: Plan, carry: Carry) -> list[TrialResult]:
    """Play the procedure, with trials from wherever `carry` gets them."""
    state = start(run_rows(plan, make.suite(*(row.scenario for row in plan.rows))), Policy())
    results: list[TrialResult] = []
    while isinstance(step := next_step(state), RunTrials):
        batch = [measure_trial(trial, plan.rows[0].scenario) for trial in await carry(step.specs) if trial]
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
