"""Joining bundles: each shard that is missing, doubled, foreign, cut off or changed is found, and its rows are lost."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests import make
from tidegate.history.run_folder import RunFolder
from tidegate.model.bundle import BundleContents, ShardPlan, Share, Spent
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.suite import Budget
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.bundle import Bundle, bundle_name, sealed_archive, write_results
from tidegate.run.join import join

SHARDS = 3
SIDES: tuple[Side, Side] = ("base", "head")
ROWS = tuple(RowKey(scenario=f"s{number}", agent="a:b") for number in range(2 * SHARDS))
PLAN = ShardPlan(
    tidegate_version="0.1.0",
    config="tidegate.yaml",
    target="c" * 40,
    base=make.BASE_SHA,
    head=make.HEAD_SHA,
    names=("main", "change"),
    suite_hash="5" * 64,
    budget=Budget(usd=3, tokens=100, trials=10),
    shares=tuple(Share(rows=ROWS[n::SHARDS], trials=4, seconds=1) for n in range(SHARDS)),
)


def contents(own: int, **changes: Any) -> BundleContents:
    fields: dict[str, Any] = {
        "asked": PLAN.id,
        "number": own,
        "versions": {"a:b": "1.0"},
        "trials": 4,
        "spent": Spent(usd=0.25, tokens=5, trials=4),
        "seconds": 2.0,
    }
    return BundleContents(**{**fields, **changes})


def specs(number: int) -> list[TrialSpec]:
    rows = PLAN.shares[number - 1].rows
    return [make.spec(side=side, scenario=row.scenario, agent=row.agent) for row in rows for side in SIDES]


def results(number: int) -> list[TrialResult]:
    return [make.trial_result(**spec.model_dump()) for spec in specs(number)]


def write(path: Path, own: int, ran: Path, **changes: Any) -> None:
    stores = {side: RunFolder(ran / side) for side in SIDES}
    for spec in specs(own):
        record = stores[spec.side].trial_folder(spec)
        record.mkdir(parents=True, exist_ok=True)
        (record / "prompt.txt").write_text(f"do {spec.id}")
        (record / "call-001.stdout").write_text("printed")
    given = changes.pop("results", results(own))
    write_results(path, contents(own, **changes), given, stores)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundle of every shard, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("bundles")
    for number in range(1, SHARDS + 1):
        write(folder / f"job-{number}" / bundle_name(number, SHARDS), number, folder.parent / "ran")
    return folder


@pytest.fixture
def bundles(good: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(good, tmp_path / "bundles"))


def path_of(bundles: Path, number: int) -> Path:
    return bundles / f"job-{number}" / bundle_name(number, SHARDS)


def test_a_bundle_shows_no_key(tmp_path: Path) -> None:
    key = "npm_" + "aB3" * 12
    shown = [make.trial_result(**spec.model_dump(), reason=f"printed {key}") for spec in specs(1)]
    for spec in specs(1):
        record = RunFolder(tmp_path / spec.side).trial_folder(spec)
        record.mkdir(parents=True)
        (record / "workspace.diff").write_bytes(f"+{key}\n".encode() + b"\xff")
    write(path := tmp_path / bundle_name(1, SHARDS), 1, tmp_path, results=shown)

    joined = join(path.parent, PLAN)
    stores = {side: RunFolder(tmp_path / "merged" / side) for side in SIDES}
    assert {result.reason for result in joined.take(specs(1), stores)} == {"printed [secret]"}
    diff = stores["base"].trial_folder(specs(1)[0]) / "workspace.diff"
    assert diff.read_bytes() == b"+[secret]\n\xff"


def test_all_trials_of_whole_bundles_are_handed_out_with_their_records(bundles: Path, tmp_path: Path) -> None:
    joined = join(bundles, PLAN)
    stores = {side: RunFolder(tmp_path / "merged" / side) for side in SIDES}

    assert (joined.lost, joined.warnings, joined.left) == ({}, (), 12)
    assert joined.spent == Spent(usd=0.75, tokens=15, trials=12)
    assert joined.take(specs(2), stores) == results(2)
    assert joined.left == 8
    assert joined.take(specs(2), stores) == []
    spec = specs(2)[1]
    assert stores["head"].prompt(spec) == f"do {spec.id}"
    assert next(stores["head"].finished_trials()) == results(2)[1]
    assert (stores["head"].trial_folder(spec) / "call-001.stdout").read_text() == "printed"


def test_a_trial_of_another_phase_is_no_answer(bundles: Path, tmp_path: Path) -> None:
    """Only what was run for the screening counts as screening, and nothing of it as a confirmation."""
    confirm = specs(1)[0].model_copy(update={"phase": "confirm"})
    assert join(bundles, PLAN).take([confirm], {"base": RunFolder(tmp_path)}) == []


def test_a_lost_shard_s_rows_are_not_measured_on_both_sides_and_in_every_phase(bundles: Path, tmp_path: Path) -> None:
    path_of(bundles, 2).unlink()
    joined = join(bundles, PLAN)
    asked = [one.model_copy(update={"phase": "confirm", "index": 7}) for one in specs(2)] + specs(2)

    found = joined.take(asked, {side: RunFolder(tmp_path / side) for side in SIDES})

    assert {(one.not_measured, one.decides) for one in found} == {("lost_shard", None)}
    assert found[0].reason == "shard 2 of 3 is lost: there is no bundle of it"
    assert [one.spec for one in found] == asked
    # It may have spent its whole part: a third of the budget.
    assert joined.spent == Spent(usd=0.5 + 1.0, tokens=10 + 33, trials=8 + 3)


def cut_off(bundles: Path, number: int, chance: Random) -> None:
    path = path_of(bundles, number)
    os.truncate(path, chance.randrange(path.stat().st_size))


def tampered(bundles: Path, number: int, chance: Random) -> None:
    data = bytearray(path_of(bundles, number).read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path_of(bundles, number).write_bytes(data)


def doubled(bundles: Path, number: int, chance: Random) -> None:
    again = [one.model_copy(update={"outcome": "fail", "decides": "fail"}) for one in results(number)]
    name = chance.choice([bundle_name(number, SHARDS), "copy.zip"])
    write(bundles / "again" / name, number, bundles.parent / "ran", results=again)


def missing(bundles: Path, number: int, chance: Random) -> None:
    path_of(bundles, number).unlink()


def foreign(bundles: Path, number: int, chance: Random) -> None:
    other: list[dict[str, Any]] = [{"asked": "0" * 64}, {"number": 0}, {"number": SHARDS + 1}]
    write(path_of(bundles, number), number, bundles.parent / "ran", **chance.choice(other))


def not_its_results(bundles: Path, number: int, chance: Random) -> None:
    own = results(number)
    renamed = own[3].model_copy(update={"id": "head/other/a/1"})
    theirs = chance.choice([results(number % SHARDS + 1), own[1:], [*own[:3], renamed]])
    write(path_of(bundles, number), number, bundles.parent / "ran", results=theirs)


@pytest.mark.parametrize("damage", [cut_off, tampered, doubled, missing, foreign, not_its_results])
def test_every_damage_is_found_in_100_of_100(
    good: Path, tmp_path: Path, damage: Callable[[Path, int, Random], None]
) -> None:
    for seed in range(100):
        chance = Random(seed)
        number = chance.randint(1, SHARDS)
        bundles = Path(shutil.copytree(good, tmp_path / f"{seed}"))
        damage(bundles, number, chance)

        joined = join(bundles, PLAN)

        assert list(joined.lost) == [number], f"{damage.__name__} with seed {seed} went unnoticed"
        assert joined.left == 8
        joined.close()


def test_the_same_bundle_twice_is_one(bundles: Path) -> None:
    shutil.copy(path_of(bundles, 1), bundles / "copy.zip")
    assert join(bundles, PLAN).lost == {}


def test_a_complete_bundle_counts_beside_one_that_was_cut_off(bundles: Path) -> None:
    """A job that was killed while it wrote, and was run again."""
    (bundles / "first.zip").write_bytes(path_of(bundles, 1).read_bytes()[:-100])
    joined = join(bundles, PLAN)
    assert joined.lost == {}
    assert joined.warnings == ("first.zip was cut off or changed: its seal does not match",)


@pytest.mark.parametrize(
    ("damage", "why"),
    [(cut_off, "was cut off or changed: its seal does not match"), (foreign, "is not a bundle of this run: ")],
)
def test_a_lost_shard_names_what_is_wrong_with_its_bundle(
    bundles: Path, damage: Callable[[Path, int, Random], None], why: str
) -> None:
    damage(bundles, 2, Random(1))
    joined = join(bundles, PLAN)
    assert joined.lost[2].startswith(f"{bundle_name(2, SHARDS)} {why}")
    assert joined.warnings == ()


def test_a_shard_with_another_version_of_the_agent_is_lost(bundles: Path) -> None:
    joined = join(bundles, PLAN)
    joined.leave_other_versions({"a:b": "1.1"})
    assert joined.lost[1] == "it ran a:b 1.0, and this job has 1.1"
    assert joined.left == 0


def test_a_link_that_a_trial_left_in_its_record_takes_nothing_along(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the token")
    record = RunFolder(tmp_path / "ran/head").trial_folder(specs(1)[1])
    record.mkdir(parents=True)
    (record / "events.jsonl").symlink_to(secret)
    os.mkfifo(record / "stdout")
    path = tmp_path / bundle_name(1, SHARDS)
    write(path, 1, tmp_path / "ran")
    assert b"events.jsonl" not in path.read_bytes()
    assert join(tmp_path, PLAN).left == 4


def test_the_parts_of_the_budget_sum_to_it() -> None:
    parts = [PLAN.part_of_budget(number) for number in (1, 2, 3)]
    assert sum(parts, Spent()) == Spent(usd=3, tokens=100, trials=10)


# --- a bundle has a trial's record, and never its result beside it: that would mark the trial as finished


def test_a_record_is_sent_without_the_result(tmp_path: Path) -> None:
    (spec, *_), store = specs(1), RunFolder(tmp_path / "ran")
    store.trial_folder(spec).mkdir(parents=True)
    (store.trial_folder(spec) / "prompt.txt").write_text("do it")
    store.finish_trial(results(1)[0])
    write_results(tmp_path / "bundle", contents(0), results(1)[:1], {spec.side: store})
    with zipfile.ZipFile(tmp_path / "bundle") as archive:
        assert archive.namelist() == ["bundle.json", "results.jsonl", f"{spec.id}/prompt.txt"]
    (store.trial_folder(spec) / "result.json").unlink()


def test_a_result_in_a_bundle_is_not_extracted(tmp_path: Path) -> None:
    (spec, *_), store = specs(1), RunFolder(tmp_path / "here")
    with sealed_archive(tmp_path / "bundle") as archive:
        archive.writestr("bundle.json", contents(0).model_dump_json())
        for name in ("prompt.txt", "result.json", "results/result.json"):
            archive.writestr(f"{spec.id}/{name}", name)
    Bundle(tmp_path / "bundle").extract(spec, store)
    kept = store.trial_folder(spec)
    names = sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*.*"))
    (kept / "results/result.json").unlink()
    assert names == ["prompt.txt", "results/result.json"]
