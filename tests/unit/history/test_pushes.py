"""The log of a pull request's pushes: what the next one knows, and that a re-run of the same test adds nothing."""

from __future__ import annotations

from pathlib import Path

from tidegate.history.pushes import DAY, Pushes
from tidegate.model.plan import RowKey
from tidegate.model.run_row import EarlierPushes

ROW = RowKey(scenario="add", agent="docs")
RED = EarlierPushes(state="regressed", pairs=(5, 0, 5), pushes=1)
NAMES = ("default", "main", "topic")


def pushes(folder: Path, *keys: str, names: tuple[str, ...] = NAMES, now: float = 0.0) -> Pushes:
    return Pushes(folder, names, keys, 14, now)


def test_the_next_push_knows_what_the_last_one_showed(tmp_path: Path) -> None:
    pushes(tmp_path, "first").add({ROW: RED})
    assert pushes(tmp_path, "second").earlier() == {ROW: RED}


def test_a_re_run_of_the_same_test_knows_what_its_first_run_knew(tmp_path: Path) -> None:
    pushes(tmp_path, "first").add({ROW: RED})
    assert pushes(tmp_path, "first").earlier(resumed=[ROW]) == {}


def test_a_re_run_knows_what_its_first_run_showed_of_rows_that_are_run_again(tmp_path: Path) -> None:
    """It spends no more of the error budget than the first run did."""
    pushes(tmp_path, "before").add({ROW: EarlierPushes(pushes=4)})
    pushes(tmp_path, "first").add({ROW: RED.model_copy(update={"pushes": 5})})
    assert pushes(tmp_path, "first").earlier() == {ROW: RED.model_copy(update={"pushes": 4})}


def test_another_pull_request_knows_nothing_of_it(tmp_path: Path) -> None:
    pushes(tmp_path, "first").add({ROW: RED})
    assert pushes(tmp_path, "second", names=("default", "main", "other")).earlier() == {}


def test_a_push_is_forgotten_as_history_is(tmp_path: Path) -> None:
    pushes(tmp_path, "first").add({ROW: RED})
    assert pushes(tmp_path, "second", now=15 * DAY).earlier() == {}


def test_a_damaged_log_is_ignored(tmp_path: Path) -> None:
    pushes(tmp_path, "first").add({ROW: RED})
    (file,) = (tmp_path / "pushes").iterdir()
    file.write_text("{", encoding="utf-8")
    assert pushes(tmp_path, "second").earlier() == {}
