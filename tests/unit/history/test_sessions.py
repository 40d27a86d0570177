"""Recorded sessions of base: what is kept of them, and what is ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidegate.history.store import History, SessionStore
from tidegate.model.plan import RowKey
from tidegate.model.suite import Store
from tidegate.model.trial import SessionRecord, SessionStep

NOW = 1_700_000_000.0
KEY = RowKey(scenario="s", agent="a")
PRINTS = {KEY: "f" * 64}


def session(number: int = 0, **fields: Any) -> SessionRecord:
    step = SessionStep(tool="Bash", command=f"notes add {number}", status="ok", exit_code=0)
    made = {"scenario": "s", "agent": "a", "trial": f"base/s/a/{number}", "sha": "b" * 40, "at": NOW - number}
    return SessionRecord(**{**made, "passed": True, "steps": (step,), **fields})


def store(folder: Path) -> SessionStore:
    return History(folder, Store(), NOW).sessions


def read(folder: Path, **more: Any) -> list[str]:
    return [one.trial.rpartition("/")[2] for one in store(folder).read(PRINTS, **more).by_row.get(KEY, ())]


def test_the_ten_best_are_kept_those_that_passed_first(tmp_path: Path) -> None:
    store(tmp_path).add(PRINTS, [session(number, passed=number >= 3) for number in range(14)])
    assert read(tmp_path) == ["3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]


def test_a_session_that_cannot_be_replayed_or_is_too_old_is_not_kept(tmp_path: Path) -> None:
    store(tmp_path).add(PRINTS, [session(1, problem="unended"), session(2, at=NOW - 15 * 86_400)])
    assert read(tmp_path) == []


def test_a_session_that_shows_a_key_is_not_kept(tmp_path: Path) -> None:
    """Without the key, its commands and outputs could not be compared with head's."""
    step = SessionStep(tool="Bash", command="notes key", status="ok", output="npm_" + "aB3" * 12)
    store(tmp_path).add(PRINTS, [session(1, steps=(step,)), session(2)])
    assert read(tmp_path) == ["2"]


def test_a_session_of_the_pull_request_s_own_commits_is_ignored(tmp_path: Path) -> None:
    store(tmp_path).add(PRINTS, [session(1), session(2, sha="d" * 40)])
    assert read(tmp_path, foreign={"d" * 40}) == ["1"]
    assert store(tmp_path).read(PRINTS, {"d" * 40}).warnings == ()


def test_sessions_of_another_fingerprint_are_not_found(tmp_path: Path) -> None:
    store(tmp_path).add(PRINTS, [session(1)])
    assert store(tmp_path).read({KEY: "e" * 64}).by_row == {}


def test_pruning_the_history_keeps_good_sessions_only(tmp_path: Path) -> None:
    store(tmp_path).add(PRINTS, [session(1)])
    (path,) = tmp_path.glob("history/*.sessions")
    path.write_text(path.read_text() + "damaged\n")
    History(tmp_path, Store(), NOW).prune()
    assert path.read_text().count("\n") == 1
    History(tmp_path, Store(), NOW + 20 * 86_400).prune()
    assert not path.exists()


def test_a_session_of_another_row_is_ignored(tmp_path: Path) -> None:
    other = RowKey(scenario="other", agent="a")
    store(tmp_path).add({other: PRINTS[KEY]}, [session(2, scenario="other")])
    assert read(tmp_path) == []
