"""Base's history: which trials are kept, dropped, and ignored as untrusted."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tidegate.history.store import DAY, ELSEWHERE, History
from tidegate.model.measurement import Outcome, PastTrial
from tidegate.model.plan import RowKey
from tidegate.model.suite import Store

NOW = time.time()
KEY = RowKey(scenario="docs", agent="claude")
PRINTS = {KEY: "f1"}


def past(age_days: float, decides: Outcome = "pass", scenario: str = "docs") -> PastTrial:
    return PastTrial(scenario=scenario, agent="claude", decides=decides, at=NOW - age_days * DAY, sha="c0ffee")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path, Store(max_trials=3, max_days=10), NOW)


def file(tmp_path: Path) -> Path:
    return tmp_path / "history" / "f1.jsonl"


def test_what_was_added_is_read_the_oldest_first(history: History) -> None:
    history.add(PRINTS, [past(1), past(3, "fail")])
    history.add(PRINTS, [past(2)])
    assert history.read(PRINTS) == ((past(3, "fail"), past(2), past(1)), ())


def test_no_key_is_kept(history: History) -> None:
    """A call's shape has its options, whatever they are."""
    history.add(PRINTS, [past(1).model_copy(update={"shapes": ("add --" + "npm_" + "aB3" * 12,)})])
    assert history.read(PRINTS).trials[0].shapes == ("add --[secret]",)


def test_the_newest_are_kept_as_many_as_the_limit_allows(history: History) -> None:
    history.add(PRINTS, [past(age) for age in (5, 1, 4, 2, 3)])
    assert history.read(PRINTS).trials == (past(3), past(2), past(1))


def test_what_is_too_old_or_from_the_future_does_not_count(history: History) -> None:
    history.add(PRINTS, [past(10.5), past(9.5), past(-2)])
    assert history.read(PRINTS).trials == (past(9.5),)


def test_another_fingerprint_has_another_history(history: History) -> None:
    history.add(PRINTS, [past(1)])
    assert history.read({KEY: "f2"}) == ((), ())
    assert history.read({}) == ((), ())


def test_trials_without_a_fingerprint_are_not_kept(history: History, tmp_path: Path) -> None:
    history.add(PRINTS, [past(1, scenario="other")])
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    "change",
    [{"more": 1}, {"scenario": "other"}, {"decides": "maybe"}],
    ids=["of another version", "of another row", "damaged"],
)
def test_a_line_that_is_not_a_trial_of_the_row_is_ignored_and_said(
    change: dict[str, object], history: History, tmp_path: Path
) -> None:
    history.add(PRINTS, [past(2), past(1)])
    first, second = file(tmp_path).read_text().splitlines()
    file(tmp_path).write_text(f"{first}\n{json.dumps({**json.loads(second), **change})}\n")
    said = "history of docs × claude: 1 ignored: damaged, or of another row or version"
    assert history.read(PRINTS) == ((past(2),), (said,))


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"{}\n", b'{"half": \n'])
def test_a_damaged_file_is_no_error(content: bytes, history: History, tmp_path: Path) -> None:
    file(tmp_path).parent.mkdir()
    file(tmp_path).write_bytes(content)
    trials, (warning,) = history.read(PRINTS)
    assert trials == ()
    assert "ignored" in warning
    history.add(PRINTS, [past(1)])
    assert history.read(PRINTS) == ((past(1),), ())


def test_what_was_measured_on_the_pull_request_s_own_commits_is_ignored_unless_it_was_merged(history: History) -> None:
    adopted = past(1).model_copy(update={"merged": True})
    history.add(PRINTS, [past(2), adopted])
    assert history.read(PRINTS, {past(2).sha}) == ((adopted,), ())
    assert history.read(PRINTS, {"another"}) == ((past(2), adopted), ())


def test_a_row_that_is_left_without_a_history_is_said(history: History) -> None:
    history.add(PRINTS, [past(2)])
    assert history.read(PRINTS, {past(2).sha}) == ((), (ELSEWHERE.format(1),))


def test_files_of_fingerprints_that_are_long_gone_are_removed(history: History, tmp_path: Path) -> None:
    history.add(PRINTS, [past(1)])
    History(tmp_path, Store(max_days=10), NOW + 11 * DAY).prune()
    assert not file(tmp_path).exists()
