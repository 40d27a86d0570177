"""What a run knows of its plan and its commits."""

from __future__ import annotations

from pathlib import Path

from tests.make import DOCS, scenario, suite
from tidegate.history.run_folder import AnswerStore, RunFolder
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.revision import Revision
from tidegate.run.build import Checkout
from tidegate.run.run_job import RunJob


def test_the_commits_of_deterministic_rows_are_not_read(tmp_path: Path) -> None:
    """Such rows are always run again, and git takes longer than they do."""
    key = RowKey(scenario="s", agent="docs")
    plan = Plan(rows=(PlanRow(key=key, scenario=scenario(), agent=DOCS, deterministic=True),))
    side = Checkout("head", Revision(sha="1" * 40, ref="pr"), tmp_path, RunFolder(tmp_path))
    job = RunJob(suite(scenario()), plan, (side,), tmp_path, AnswerStore(tmp_path), watched=("**",))
    assert job.test_keys(tmp_path, {key: "f"}) == {}
