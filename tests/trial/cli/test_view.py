"""`tidegate view`: the page of a stored run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import run, trial_result
from tests.warm import run_tidegate
from tidegate.history.run_folder import RunFolder
from tidegate.model.run_row import RunRow


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """A run that goes on: one trial has finished."""
    store = RunFolder(tmp_path / "run")
    store.begin_run(run(side="head", rows=(RunRow(scenario="add_task", agent="docs", deterministic=True),)))
    store.finish_trial(trial_result(side="head", scenario="add_task", agent="docs", index=1, outcome="pass"))
    return store.folder


def test_a_run_without_a_base_gets_a_page_of_its_own(unfinished: Path) -> None:
    done = run_tidegate("view", "--no-browser", str(unfinished), cwd=unfinished)
    assert (done.returncode, done.stdout) == (0, f"{unfinished}/report.html\n")
    page = (unfinished / "report.html").read_text()
    assert "one run without a base, not finished: 1 of 1 trial passed" in page


def test_a_folder_without_a_run_is_an_error(tmp_path: Path) -> None:
    done = run_tidegate("view", "--no-browser", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert "contains no finished run" in done.stderr
