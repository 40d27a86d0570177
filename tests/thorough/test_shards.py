"""Four shards decide as one process does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.journeys.test_resume import told, without_chance
from tests.journeys.test_shards import Make, merge, ran, screen
from tests.journeys.test_shards import spoiled as spoiled


def test_four_processes_decide_as_one_does_and_a_lost_shard_is_never_a_pass(
    spoiled: Make, tidegate: Make, tmp_path: Path
) -> None:
    """The draws of the agent depend on its seed, the side and the trial's number alone."""
    one, several = spoiled("one"), spoiled("several")
    alone = ran(tidegate, one, "pr", "--base", "main", "--head", "pr", "--pause", "0")
    assert alone.code == 1, alone.stderr
    bundles = screen(tidegate, several, 4)
    kept = shutil.copytree(bundles, tmp_path / "kept")

    merged = merge(tidegate, several, tmp_path / "merged")

    assert merged.code == 1, merged.stderr
    assert without_chance(told(merged)) == without_chance(told(alone))
    assert merged.result["cost"]["trials"] == alone.result["cost"]["trials"]
    states = {row["state"] for row in merged.result["rows"]}
    assert {"regressed", "ok"} <= states
    assert "of 4 of 4 shards are joined" in merged.stderr

    again = merge(tidegate, several, tmp_path / "again")
    rows = [[{**row, "replay": None} for row in told(one)["rows"]] for one in (merged, again)]
    assert rows[0] == rows[1], "another merge goes on with the same test, and replays base's new sessions"
    assert again.result["cost"]["trials"] == {"base": 0, "head": 0}

    shutil.rmtree(several.root / ".tidegate")
    plan = json.loads((kept / "plan.json").read_text())
    harmless = next(
        number for number, share in enumerate(plan["shares"], 1) if {"keep_2"} & {r["scenario"] for r in share["rows"]}
    )
    (kept / f"shard-{harmless}-of-4.zip").unlink()
    lost = ran(tidegate, several, "merge", str(kept), "--pause", "0", "--out", str(tmp_path / "lost"))
    lost.out = tmp_path / "lost"
    by_name = {row["scenario"]: row for row in lost.result["rows"]}
    gone = [row["scenario"] for row in plan["shares"][harmless - 1]["rows"]]
    assert [(by_name[name]["state"], by_name[name]["not_measured"]) for name in gone] == [
        ("not_measured", "lost_shard")
    ] * len(gone)
    assert f"shard {harmless} of 4 is lost: there is no bundle of it" in lost.comment
