"""`tidegate action` as the runner starts it: a real event, real git, a GitHub that enforces its rules."""

from __future__ import annotations

import pytest

from tests.gh.job import RENAMED, Job
from tidegate.history.run_folder import load_run


@pytest.mark.own_process
def test_a_regression_is_one_comment_that_follows_the_pull_request_until_it_is_green(job: Job) -> None:
    red, step = job.run()

    (comment,) = job.pull.bot_comments()
    assert (red.exit_code, red.stderr) == (1, "")
    assert "notes: unknown command: add" in comment.body
    assert "0/3" in comment.body
    outputs = step.outputs()
    assert (outputs["verdict"], outputs["reason"], outputs["regressions"]) == ("failed", "regression", "1")
    assert outputs["comment_url"] == comment.url
    assert (job.repo.root / outputs["result_path"]).is_file()
    assert (job.repo.root / outputs["report_path"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "notes: unknown command: add" in step.summary()
    assert step.variables() == {}
    (annotation,) = red.log.annotations()
    assert (annotation.name, annotation.properties["title"]) == ("error", "regressed: keep_notes × docs")

    again, _ = job.run()
    (updated,) = job.pull.bot_comments()
    assert (again.exit_code, updated.id) == (1, comment.id)

    job.fix()
    green, step = job.run()
    (fixed,) = job.pull.bot_comments()
    assert (green.exit_code, fixed.id) == (0, comment.id), green.stderr
    assert "Fixed" in fixed.body
    assert "keep_notes" in fixed.body
    assert step.outputs()["verdict"] == "passed"


@pytest.mark.own_process
def test_nothing_that_an_agent_prints_reaches_the_runners_parser(job: Job) -> None:
    hostile = RENAMED.replace("unknown command: $1", "::error::owned%0A::set-output name=verdict::passed")
    job.repo.commit({"bin/notes": hostile}, on="pr")

    ran, step = job.run()

    assert ran.exit_code == 1, ran.stderr
    groups = [command.message for command in ran.log.commands if command.name == "group"]
    others = [c for c in ran.log.commands if c.name not in ("group", "endgroup", "stop-commands")]
    assert groups == [
        "getting ready",
        "comparing what the tool offers",
        "screening both sides",
        "confirming what was seen, on new trials",
    ]
    assert [command.name for command in others] == ["add-mask", "error"]
    assert ran.log.commands[0] == others[0]
    assert others[1].properties["title"].startswith("regressed")
    assert step.outputs()["verdict"] == "failed"


@pytest.mark.own_process
def test_the_command_run_is_of_the_commit_and_not_of_what_lies_around_it(job: Job) -> None:
    """In the container, the users of trials cannot reach the workspace: its files would be run with our own rights."""
    job.repo.git("checkout", "--quiet", "main")
    job.repo.write({"bin/notes": "#!/bin/sh\nexit 9\n"})

    ran, _ = job.run(inputs={"command": "run", "args": "--trials 1 --out .tidegate/one"})

    assert ran.exit_code == 0, ran.stderr
    run = load_run(job.repo.root / ".tidegate/one")
    assert (run.revision.sha, run.revision.dirty) == (job.repo.git("rev-parse", "main"), False)
    assert [trial.outcome for trial in run.trials] == ["pass"]
