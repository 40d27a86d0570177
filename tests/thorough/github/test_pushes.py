"""Pushes of one pull request through the action: a red row clears by evidence, all share one error budget."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gh.emulated.runner import Ran, Step
from tests.gh.job import RENAMED, Job
from tests.journeys.conftest import NOTES
from tests.trial.github.test_feeding import SUITE

# The tool fails in two of three calls on average, so that a push can have a lucky screening.
FAILS_OFTEN = NOTES.replace("  add)", "  add) [ $(($(od -An -N2 -tu2 /dev/urandom) % 3)) = 0 ] || exit 1;")


@pytest.fixture
def job(job: Job) -> Job:
    """A pull request that breaks the tool, tested by an agent that chance has a part in."""
    job.repo.commit(
        {"tidegate.yaml": f"{SUITE}budget: {{minutes: 1}}  # so that verifications wait for 6 s\n"}, on="main"
    )
    job.repo.git("branch", "--quiet", "--delete", "--force", "pr")
    job.repo.branch("pr", {"bin/notes": RENAMED})
    return job


def push(job: Job, tool: str) -> tuple[Ran, dict[str, Any]]:
    job.repo.commit({"bin/notes": tool}, on="pr")
    return judged(job.run())


def judged(ended: tuple[Ran, Step]) -> tuple[Ran, dict[str, Any]]:
    ran, step = ended
    result = json.loads((step.workspace / step.outputs()["result_path"]).read_text(encoding="utf-8"))
    (row,) = result["rows"]
    return ran, row


def test_the_same_defect_stays_red_at_the_next_push_and_a_repair_clears_it(job: Job) -> None:
    first, broken = judged(job.run())
    assert (first.exit_code, broken["state"]) == (1, "regressed"), first.stderr
    assert broken["effect"]["level"] == pytest.approx(0.02 / 2 / 2)

    second, still = push(job, RENAMED + "# another push\n")
    assert (second.exit_code, still["state"]) == (1, "regressed"), second.stderr
    assert still["effect"]["level"] == pytest.approx(0.02 / 2 / 6), "the second push spends what is left"
    assert "Fixed" not in job.pull.bot_comments()[0].body

    third, fixed = push(job, NOTES + "# repaired\n")
    assert (third.exit_code, fixed["state"]) == (0, "ok"), third.stderr
    assert fixed["head"]["trials"] == 3 + 8, "a red row clears by pairs, not by its screening"
    assert "Fixed" in job.pull.bot_comments()[0].body


def test_a_lucky_screening_does_not_clear_a_red_row(job: Job) -> None:
    """Each push has a tool that fails often; what is compared with base says whether that was luck."""
    judged(job.run())
    for number in range(3):
        ran, row = push(job, f"{FAILS_OFTEN}# push {number}\n")
        assert (ran.exit_code, row["state"]) == (1, "regressed"), row["reason"]
        assert row["head"]["confirm"][1] >= 3
