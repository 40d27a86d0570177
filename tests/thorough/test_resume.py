"""Runs that go on with what an earlier run measured, to the same end."""

from __future__ import annotations

from tests.journeys.test_resume import Make, pr, start_history, told
from tests.journeys.test_resume import flawed as flawed


def test_re_runs_of_a_unconfirmed_pull_request_are_one_test(flawed: Make, tidegate: Make) -> None:
    repo = flawed("repo", 0.3, seed=2)
    start_history(tidegate, repo)

    ran = pr(tidegate, repo)
    first, head_trials = told(ran), ran.result["cost"]["trials"]["head"]
    assert ran.row("keep_notes", "fake")["state"] == "unconfirmed", ran.comment
    for _ in range(5):
        ran = pr(tidegate, repo)
        head_trials += ran.result["cost"]["trials"]["head"]
        assert told(ran)["verdict"] == first["verdict"]
        assert told(ran)["rows"] == first["rows"]

    assert 3 < head_trials <= 6 + 41 + 6  # screening, pairs and verification, over all of them
    assert ran.result["cost"]["trials"] == {"base": 0, "head": 0}
    assert ran.result["sides"]["head"]["origin"] == "reused"
    assert (ran.out / "runs/head/trials/keep_notes/fake/1/events.jsonl").is_file()


def test_a_push_outside_of_the_subject_pays_nothing_and_one_inside_pays_again(flawed: Make, tidegate: Make) -> None:
    repo = flawed("repo", 0.0)
    first = pr(tidegate, repo)
    assert first.result["cost"]["trials"] == {"base": 3, "head": 3}

    repo.commit({"README.md": "what it does"}, on="pr")
    docs = pr(tidegate, repo)
    assert docs.code == 0, docs.stderr
    assert docs.result["cost"]["trials"] == {"base": 0, "head": 0}
    assert docs.row("keep_notes", "fake")["head"]["screen"] == [3, 3]

    repo.commit({"bin/other": "#!/bin/sh\n"})
    code = pr(tidegate, repo)
    assert code.result["cost"]["trials"]["head"] == 3
