"""How base did over its commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.history.store import MOST_COMMITS, Trends
from tidegate.model.measurement import Metrics, Outcome, PastTrial


def past(sha: str, at: float, decides: Outcome = "pass", scenario: str = "docs", **metrics: float) -> PastTrial:
    return PastTrial(
        scenario=scenario, agent="claude", decides=decides, at=at, sha=sha, metrics=Metrics.model_validate(metrics)
    )


def test_trials_of_a_commit_are_one_point_whenever_they_come(tmp_path: Path) -> None:
    trends = Trends(tmp_path)
    trends.add([past("a", 1, duration_s=2.0), past("b", 3), past("a", 2, "fail", duration_s=4.0)])
    trends.add([past("a", 9, duration_s=6.0)])
    (row,) = trends.read()
    assert [(p.sha, p.at, p.passes, p.trials) for p in row.points] == [("a", 1, 2, 3), ("b", 3, 1, 1)]
    assert (row.points[0].metrics["duration_s"].mean, row.points[0].metrics["duration_s"].trials) == (4.0, 3)


def test_what_no_trial_reported_is_not_there(tmp_path: Path) -> None:
    trends = Trends(tmp_path)
    trends.add([past("a", 1), past("a", 2, cost_usd=0.5)])
    (row,) = trends.read()
    assert row.points[0].metrics["cost_usd"].mean == 0.5
    assert "tokens_in" not in row.points[0].metrics


def test_rows_are_kept_apart_and_none_gets_lost(tmp_path: Path) -> None:
    trends = Trends(tmp_path)
    trends.add([past("a", 1), past("a", 2, scenario="other")])
    trends.add([past("b", 3)])
    assert [(row.scenario, len(row.points)) for row in trends.read()] == [("docs", 2), ("other", 1)]


def test_the_newest_commits_are_kept(tmp_path: Path) -> None:
    trends = Trends(tmp_path)
    trends.add([past(str(n), n) for n in range(MOST_COMMITS + 5)])
    (row,) = trends.read()
    assert [point.sha for point in row.points] == [str(n) for n in range(5, MOST_COMMITS + 5)]


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 2, "rows": []}', "\udcff"])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "trends.json").write_bytes(text.encode(errors="surrogateescape"))
    trends = Trends(tmp_path)
    assert trends.read() == ()
    trends.add([past("a", 1)])
    assert len(trends.read()) == 1


def test_nothing_is_written_for_nothing(tmp_path: Path) -> None:
    Trends(tmp_path).add([])
    assert list(tmp_path.iterdir()) == []
