"""A maintainer accepts regressions: who may, for which commit, and the result."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import Ran, Step, load_event
from tests.gh.job import Job, act_here
from tests.journeys.conftest import FILES
from tests.make import result, row
from tidegate.model.comparison import DefinitionChange, MetricChange, SuiteEffect
from tidegate.model.result import Result
from tidegate.model.suite import Policy, RowState
from tidegate.model.surface import Interface, InterfaceChange

LABEL = "tidegate: accept"


def accept(job: Job, by: str = "olivia", label: str = LABEL, **more: Any) -> tuple[Ran, Step]:
    """The label is put there when the comment shows the verdict, and its event's run."""
    job.run()
    job.pull.label(label, by)
    return job.run(action="labeled", label=label, sender=by, **more)


@pytest.mark.own_process
def test_accepted_is_passed_by_somebody_and_nothing_is_hidden(job: Job) -> None:
    ran, step = accept(job)

    (comment,) = job.pull.bot_comments()
    assert ran.exit_code == 0, ran.stderr
    assert (step.outputs()["verdict"], step.outputs()["reason"], step.outputs()["regressions"]) == (
        ("passed", "accepted", "1")
    )
    assert "passed (accepted)" in comment.body
    assert "Accepted by `olivia`" in comment.body
    assert "Accepted by `olivia`" in step.summary()
    assert "notes: unknown command: add" in comment.body
    assert [annotation.name for annotation in ran.log.annotations()] == ["warning"]
    stored = json.loads((job.repo.root / ".tidegate/pr/result.json").read_text(encoding="utf-8"))
    assert stored["verdict"]["accepted_by"] == "olivia"
    assert "Accepted by `olivia`" in (job.repo.root / ".tidegate/pr/comment.md").read_text(encoding="utf-8")


def test_a_re_run_of_the_same_commit_remembers_it(job: Job) -> None:
    accept(job)

    ran, step = job.run(action="reopened")

    assert (ran.exit_code, step.outputs()["reason"]) == (0, "accepted"), ran.stdout


def test_the_next_push_ends_it_and_takes_the_label_away(job: Job) -> None:
    accept(job)
    job.repo.commit({"README.md": "more\n"}, on="pr")

    ran, step = job.run(action="synchronize")

    assert (ran.exit_code, step.outputs()["reason"]) == (1, "regression")
    assert job.pull.row.labels == []
    assert "Accepted" not in job.pull.bot_comments()[0].body
    assert "taken away" in ran.stdout


def test_a_label_that_could_not_be_taken_away_accepts_nothing_new(job: Job) -> None:
    accept(job)
    job.repo.commit({"README.md": "more\n"}, on="pr")
    job.github.front.faults.append(Fault("DELETE", "/labels/", status=403, message="Resource not accessible", times=9))

    ran, _ = job.run(action="synchronize")

    assert (ran.exit_code, job.pull.row.labels) == (1, [LABEL])
    assert "before the comment showed the verdict on this commit" in ran.stdout


@pytest.mark.parametrize("by", ["tristan", "mallory", "github-actions[bot]"])
def test_who_may_not_push_accepts_nothing(job: Job, by: str) -> None:
    ran, _ = accept(job, by)

    assert ran.exit_code == 1
    assert f"`{by}` put the label `{LABEL}` there, and may not push" in ran.stdout


def test_a_label_that_was_there_before_accepts_nothing(job: Job) -> None:
    job.pull.label(LABEL)

    ran, _ = job.run(action="opened")

    assert ran.exit_code == 1
    assert "Take it away, and put it back" in ran.stdout


def test_another_label_changes_nothing(job: Job) -> None:
    ran, _ = accept(job, label="bug")

    assert ran.exit_code == 1


def test_a_label_that_was_taken_away_meanwhile_accepts_nothing(job: Job) -> None:
    ran, _ = job.run(action="labeled", label=LABEL, sender="olivia")

    assert ran.exit_code == 1


def test_a_label_that_somebody_else_has_put_back_accepts_nothing(job: Job) -> None:
    """The event says who it was, and GitHub's own list, which nobody can write, says otherwise."""
    job.run()
    job.pull.label(LABEL, by="tristan")

    ran, _ = job.run(action="labeled", label=LABEL, sender="olivia")

    assert ran.exit_code == 1
    assert f"`tristan` put the label `{LABEL}` there, and may not push" in ran.stdout


@pytest.mark.parametrize("shown", [False, True])
def test_the_label_of_a_commit_whose_verdict_was_not_shown_accepts_nothing(job: Job, shown: bool) -> None:
    """A push comes while a maintainer looks at the verdict on the commit before."""
    if shown:
        job.run()
        job.pull.push(job.repo.commit({"bin/notes": "#!/bin/sh\nexit 3\n"}, on="pr"))
    job.pull.label(LABEL, "olivia")

    ran, _ = job.run(action="labeled", label=LABEL, sender="olivia")

    assert ran.exit_code == 1
    assert "before the comment showed the verdict on this commit" in ran.stdout


def test_a_forged_record_accepts_nothing(job: Job) -> None:
    """Our comment, edited by a hand that can: GitHub's own list has the last word."""
    job.run()
    (row,) = [row for row in job.pull.repo.comments if row.author.startswith("github-actions")]
    head = job.repo.git("rev-parse", "pr")
    row.body = row.body.replace(" -->", f" accepted={head}/main/olivia/1 -->", 1)
    job.pull.label(LABEL, by="tristan")

    ran, _ = job.run(action="reopened")

    assert ran.exit_code == 1
    assert "GitHub does not say that `olivia`" in ran.stdout


def test_there_is_nothing_to_accept_in_green(job: Job) -> None:
    job.fix()

    ran, step = accept(job)

    assert (ran.exit_code, step.outputs()["reason"]) == (0, "nothing_to_do")


@pytest.mark.parametrize("path", ["/pulls/1$", "/events", "/permission"])
def test_what_github_does_not_answer_is_no_acceptance(job: Job, path: str) -> None:
    job.github.front.faults.append(Fault("GET", path, status=404, message="Not Found", times=99))

    ran, _ = accept(job)

    assert ran.exit_code == 1


def queue(job: Job) -> Ran:
    """The merge queue adds the pull request to what main is by now."""
    job.check_out_merge()
    base = job.repo.git("rev-parse", "main")
    payload = load_event("merge_group.checks_requested")
    payload["merge_group"] |= {
        "base_sha": base,
        "head_sha": job.repo.git("rev-parse", "HEAD"),
        "head_ref": f"refs/heads/gh-readonly-queue/main/pr-{job.pull.number}-{base}",
    }
    payload["repository"]["full_name"] = job.pull.repository
    step = job.make_step(job.repo.root, job.github.api_url)
    return job.start(step, step.environ("merge_group", payload, {"github_token": job.github.token}))


def test_a_merge_queue_lets_an_accepted_pull_request_through(job: Job) -> None:
    accept(job)

    ran = queue(job)

    assert ran.exit_code == 0, ran.stdout
    assert [annotation.name for annotation in ran.log.annotations()] == ["warning"]


def test_a_label_of_who_may_not_push_gets_nothing_through_the_merge_queue(job: Job) -> None:
    accept(job, "tristan")

    assert queue(job).exit_code == 1


def test_what_gets_worse_in_the_merge_queue_alone_is_accepted_by_nobody(job: Job) -> None:
    """Main has got a scenario since, which the pull request breaks as well."""
    accept(job)
    job.repo.git("checkout", "--quiet", "main")
    name, text = next((name, text) for name, text in FILES.items() if name.startswith("scenarios/"))
    second = text.replace("name: keep_notes", "name: keep_more_notes")
    assert second != text, name
    job.repo.commit({"scenarios/second.yaml": second})

    assert queue(job).exit_code == 1


POLICY = Policy(rules="block", interface="block", block_metrics={"error_rate": 0.1})
WORSE = SuiteEffect(metrics={"error_rate": MetricChange(base=0.0, head=0.5, effect=0.5, q=0.001)})
LESS = DefinitionChange(scenario="s", effect="less", detail="a gate is gone")
LOST = Interface(tool="notes", changes=(InterfaceChange(impact="breaking", part="`drop`", detail="gone"),))


def measured(job: Job, *states: RowState, **fields: Any) -> None:
    """From now on, a comparison finds a row in each of these states."""
    rows = (row(state, head=(0, 1), scenario=f"s{number}") for number, state in enumerate(states, 1))
    found = result(*rows, policy=POLICY, **fields)

    async def compare(*_: object) -> Result:
        return found

    job.start = partial(act_here, compare=compare)


@pytest.mark.parametrize("where", ["in the run that the label starts", "in the queue"])
@pytest.mark.parametrize(
    ("shown", "found", "fields", "code"),
    [
        (["regressed"], ["regressed", "regressed"], {}, 1),
        (["regressed"], ["regressed", "not_comparable"], {}, 1),
        (["not_comparable"], ["regressed"], {}, 1),
        (["regressed"], ["regressed"], {"interfaces": (LOST,)}, 1),
        (["regressed"], ["regressed"], {"definitions": (LESS,)}, 1),
        (["regressed"], ["regressed"], {"suite": WORSE}, 1),
        (["regressed"], ["regressed"], {"suite": SuiteEffect(state="regressed")}, 1),
        (["regressed"] * 401, ["regressed"] * 401, {}, 1),  # more than the comment keeps
        (["regressed"], ["regressed", "added"], {}, 0),
        (["regressed", "regressed"], ["ok", "regressed"], {}, 0),
        (["regressed"], ["not_comparable"], {}, 0),
        (["not_comparable"], ["not_comparable"], {}, 0),
        (["regressed"] * 100, ["regressed"] * 100, {}, 0),
    ],
)
def test_an_acceptance_covers_what_the_comment_showed_and_nothing_else(
    job: Job, where: str, shown: list[RowState], found: list[RowState], fields: dict[str, Any], code: int
) -> None:
    measured(job, *shown)
    assert job.run(action="opened", attempt=(5, 1))[0].exit_code in (1, 5)
    job.pull.label(LABEL, "olivia")
    measured(job, *found, **fields)

    ran = queue(job) if where == "in the queue" else job.run(action="opened", attempt=(5, 2))[0]

    assert ran.exit_code == code, ran.stdout
    assert ("before the comment showed" in ran.stdout) is (code != 0)


def test_what_was_accepted_stays_accepted_where_less_was_found_meanwhile(job: Job) -> None:
    measured(job, "regressed", "regressed")
    job.run(action="opened", attempt=(5, 1))
    job.pull.label(LABEL, "olivia")
    measured(job, "regressed", "ok")
    job.run(action="opened", attempt=(5, 2))
    measured(job, "regressed", "regressed")

    ran, _ = job.run(action="opened", attempt=(5, 3))

    assert ran.exit_code == 0, ran.stdout


def test_the_label_starts_the_run_again_which_is_accepted(job: Job) -> None:
    """As `rerun` does: the event is that of the first attempt."""
    job.run(action="opened", attempt=(5, 1))
    job.pull.label(LABEL, "olivia")

    ran, step = job.run(action="opened", attempt=(5, 2))

    assert (ran.exit_code, step.outputs()["reason"]) == (0, "accepted"), ran.stdout
    assert "Accepted by `olivia`" in job.pull.bot_comments()[0].body


@pytest.mark.parametrize("by", ["tristan", "mallory"])
def test_in_a_run_that_is_started_again_the_label_counts_for_people_who_may_push(job: Job, by: str) -> None:
    job.run(action="opened", attempt=(5, 1))
    job.pull.label(LABEL, by)

    assert job.run(action="opened", attempt=(5, 2))[0].exit_code == 1


def test_a_label_from_before_the_verdict_does_not_count_in_a_run_that_is_started_again(job: Job) -> None:
    job.pull.label(LABEL)
    job.run(action="opened", attempt=(5, 1))

    ran, _ = job.run(action="opened", attempt=(5, 2))

    assert ran.exit_code == 1
    assert "before the comment showed the verdict on this commit" in ran.stdout


def test_a_run_that_is_started_again_compares_with_the_base_branch_of_now(job: Job) -> None:
    """The payload is still that of the first attempt, and so is the test merge."""
    job.fix()
    job.run(action="opened", attempt=(5, 1))
    job.repo.git("checkout", "--quiet", "main")
    job.repo.git("branch", "release", "main")
    job.pull.row.base_ref = "release"
    job.check_out_merge()

    ran, _ = job.run(action="opened", attempt=(5, 2))

    (comment,) = job.pull.bot_comments()
    assert ran.exit_code == 0, ran.stderr
    assert "The base branch is `release` now" in ran.stdout
    assert "base=release" in comment.body.partition("\n")[0]
