"""Failures of requests other than the comment's: nothing is accepted or published wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gh.job import Job as PullRequestJob


@pytest.mark.parametrize("red", [True, False])
@pytest.mark.parametrize(("variable", "what"), [("GITHUB_OUTPUT", "outputs"), ("GITHUB_STEP_SUMMARY", "summary")])
def test_a_file_of_the_runner_that_cannot_be_written_is_a_warning(
    job: PullRequestJob, variable: str, what: str, red: bool
) -> None:
    if not red:
        job.fix()

    ran, _ = job.run(environ={variable: str(job.repo.root)})  # a folder: not even root can write it

    assert ran.exit_code == int(red), ran.stderr
    assert f"the step's {what} could not be written" in ran.stdout
    assert f"no {what}" in [one.properties["title"] for one in ran.log.annotations()]
    assert len(job.pull.bot_comments()) == 1


def test_a_payload_of_200_000_levels_is_an_error_of_configuration(job: PullRequestJob, tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000)

    ran, step = job.run(environ={"GITHUB_EVENT_PATH": str(deep)})

    assert (ran.exit_code, step.outputs()["reason"]) == (2, "configuration"), ran.stderr
    assert "deep.json cannot be read" in ran.stderr


def test_a_missing_workspace_is_told_as_such(job: PullRequestJob, tmp_path: Path) -> None:
    ran, _ = job.run(environ={"GITHUB_WORKSPACE": str(tmp_path / "nowhere")})

    assert ran.exit_code == 2
    assert "nowhere is not a git repository" in ran.stderr
    assert "actions/checkout" in ran.stderr
