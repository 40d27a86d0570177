"""Base's history on the default branch: trials of merged pull requests are added, those of forks never."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.gh.emulated.runner import load_event
from tests.gh.job import Job
from tests.journeys.conftest import FILES, NOTES
from tests.unit.github.test_artifact import packed
from tidegate.history.known_results import history_counts
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan

Tested = Callable[..., None]
RUN, NAME = 77, "tidegate-result"
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents:
  fake: {type: scripted, deterministic: false, steps: {keep_notes: [notes add first, notes add second]}}
"""


@pytest.fixture
def job(job: Job) -> Job:
    """A pull request that changes nothing for the worse, of an agent that chance has a part in."""
    job.repo.commit({"tidegate.yaml": SUITE}, on="main")
    job.repo.git("branch", "--quiet", "--delete", "--force", "pr")
    job.repo.branch("pr", {"bin/notes": NOTES.replace("notes 1.0", "notes 1.1")})
    return job


@pytest.fixture
def tested(job: Job) -> Tested:
    """Runs the pull request's own job and uploads its artifact."""

    def run(**changes: Any) -> None:
        job.check_out_merge()
        ran, _ = job.run()
        assert ran.exit_code == 0, ran.stderr
        result = json.loads((job.repo.root / ".tidegate/pr/result.json").read_text(encoding="utf-8"))
        job.pull.upload(RUN, NAME, packed(json.dumps({**result, **changes})))

    return run


def history(job: Job) -> list[dict[str, Any]]:
    folder = Path(job.repo.root, ".tidegate/store/history")
    return [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]


def forget(job: Job) -> None:
    """Every job begins with what the cache holds: nothing here."""
    for path in Path(job.repo.root, ".tidegate/store/history").glob("*"):
        path.unlink()


@pytest.mark.own_process
def test_a_merged_pull_request_s_trials_are_base_s_history_and_no_agent_is_run(job: Job, tested: Tested) -> None:
    tested()
    forget(job)

    ran, step = job.push(job.merge())

    assert ran.exit_code == 0, ran.stderr
    assert "6 trials of the merged pull request are base's history now." in step.summary()
    kept = history(job)
    assert [trial["decides"] for trial in kept] == ["pass"] * 6
    base = job.repo.git("rev-parse", "main^")
    assert (
        [trial["sha"] == base for trial in kept] == [not trial["merged"] for trial in kept] == [True] * 3 + [False] * 3
    )
    again, _ = job.push(job.repo.git("rev-parse", "main"))
    assert again.exit_code == 0
    assert len(history(job)) == 6, "a re-run adopts nothing twice"


def test_what_a_store_that_outlives_its_job_has_already_is_not_counted_twice(job: Job, tested: Tested) -> None:
    tested()
    assert len(history(job)) == 3
    job.push(job.merge())
    assert len(history(job)) == 6


def test_what_was_tested_has_to_be_what_was_merged(job: Job, tested: Tested) -> None:
    tested()
    forget(job)
    job.repo.commit({"README.md": "meanwhile"}, on="main")

    _, step = job.push(job.merge())

    assert "What was tested is not what was merged" in step.summary()
    assert history(job) == []


def test_a_fork_s_artifact_is_never_adopted(job: Job, tested: Tested) -> None:
    job.pull.row.head_repo = "mallory/fork"
    tested()
    forget(job)

    _, step = job.push(job.merge())

    assert "No pull request of this repository was merged by this commit" in step.summary()
    assert history(job) == []


def test_another_run_s_artifact_is_not_the_merged_one_s(job: Job, tested: Tested) -> None:
    tested()
    forget(job)
    job.pull.repo.artifacts[0].head_sha = "5" * 40

    _, step = job.push(job.merge())

    assert "has left no artifact" in step.summary()
    assert history(job) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema_version": 2}, "The artifact is ignored"),
        ({"rows": [], "trials": []}, "0 trials of the merged pull request"),
        ({"agents": {"fake": {"type": "scripted", "version": "2"}}}, "1 rows are not what they were"),
    ],
)
def test_what_is_poisoned_or_foreign_is_ignored_and_said(
    job: Job, tested: Tested, changes: dict[str, Any], said: str
) -> None:
    tested(**changes)
    forget(job)

    ran, step = job.push(job.merge())

    assert ran.exit_code == 0
    assert said in step.summary()
    assert history(job) == []


def test_a_row_with_a_script_of_its_own_is_adopted_and_found_again(job: Job, tested: Tested) -> None:
    judged = "evaluation:\n  evaluators:\n    - {type: code_judge, name: scored, script: python3 judge.py}\n"
    scenario = FILES["scenarios/keep.yaml"].partition("evaluation:")[0] + judged
    scored = {"scenarios/keep.yaml": scenario, "scenarios/judge.py": 'print("{\\"score\\": 1}")\n'}
    job.repo.commit(scored, on="main")
    job.repo.git("rebase", "--quiet", "main", "pr")
    tested()
    forget(job)

    _, step = job.push(job.merge())

    assert "6 trials of the merged pull request are base's history now." in step.summary()
    suite = load_suite(job.repo.root, "tidegate.yaml", environ={})
    assert list(history_counts(job.repo.root, suite, make_plan(suite)).values()) == [(6, 6)]


def test_a_failed_check_s_trials_are_not_adopted_though_it_was_merged(job: Job, tested: Tested) -> None:
    tested(verdict={"state": "failed", "reason": "metric", "exit_code": 1, "summary": "a metric got worse"})
    forget(job)

    _, step = job.push(job.merge())

    assert "check had failed" in step.summary()
    assert history(job) == []


def test_a_schedule_runs_the_suite_once_more(job: Job) -> None:
    job.repo.git("checkout", "--quiet", "main")
    step = job.make_step(job.repo.root, job.github.api_url)
    payload = {"schedule": "0 3 * * *", "repository": load_event("push")["repository"]}
    ran = job.start(step, step.environ("schedule", payload, {"github_token": job.github.token}, (800, 1)))
    assert ran.exit_code == 0, ran.stderr
    assert "3 trials of" in step.summary()
    assert len(history(job)) == 3


BRANCH = "tidegate-history"


@pytest.fixture
def origin(job: Job, tmp_path: Path) -> Repository:
    """The job's suite keeps its history on a branch of this repository."""
    job.repo.commit({"tidegate.yaml": SUITE + "store: {type: branch}\n"}, on="main")
    job.repo.git("rebase", "--quiet", "main", "pr")
    bare = Repository(tmp_path / "origin.git")
    job.repo.git("remote", "add", "origin", f"file://{bare.root}")
    return bare


def on_branch(origin: Repository) -> int:
    """How many trials the branch has."""
    if not origin.git("branch", "--list", BRANCH):
        return 0
    files = origin.git("ls-tree", "-r", "--name-only", BRANCH, "history").split()
    texts = [origin.git("show", f"{BRANCH}:{name}") for name in files if name.endswith(".jsonl")]
    return sum(len(text.splitlines()) for text in texts)


def next_pull_request(job: Job) -> dict[str, Any]:
    """What comes of another one, which changes something else."""
    job.repo.git("checkout", "--quiet", "-B", "pr", "main")
    job.repo.commit({"bin/notes": NOTES.replace("notes 1.0", "notes 1.2")})
    job.check_out_merge()
    ran, _ = job.run()
    assert ran.exit_code == 0, ran.stderr
    result: dict[str, Any] = json.loads((job.repo.root / ".tidegate/pr/result.json").read_text(encoding="utf-8"))
    return result


def test_a_branch_is_fed_by_a_push_and_by_hand_and_the_next_pull_request_runs_no_base(
    job: Job, tested: Tested, origin: Repository
) -> None:
    tested()
    assert on_branch(origin) == 0, "a pull request's own run writes nothing"

    ran, step = job.push(job.merge())
    assert "6 trials of the merged pull request are base's history now." in step.summary(), ran.stderr
    assert on_branch(origin) == 6
    ran, _ = job.push(job.repo.git("rev-parse", "main"))
    assert (ran.exit_code, on_branch(origin)) == (0, 6), "a re-run adopts nothing twice"

    main = job.repo.git("rev-parse", "main")
    ran, _ = job.dispatch(
        action_inputs={"command": "history"}, checked_out=main, environ={"GITHUB_REF": "refs/heads/main"}
    )
    assert (ran.exit_code, on_branch(origin)) == (0, 16), ran.stderr
    shutil.rmtree(job.repo.root / ".tidegate")

    result = next_pull_request(job)

    assert [trial["side"] for trial in result["trials"]] == ["head"] * 3
    assert result["sides"]["base"]["history_trials"] == 16
    assert on_branch(origin) == 16


def test_an_origin_that_is_gone_is_said_and_base_is_run(job: Job, origin: Repository) -> None:
    job.repo.git("remote", "set-url", "origin", "file:///nowhere")
    result = next_pull_request(job)
    assert [trial["side"] for trial in result["trials"]].count("base") == 3
    assert result["verdict"]["state"] == "passed"
    assert any("could not be fetched" in warning for warning in result["warnings"])


@pytest.mark.parametrize(("ref", "trials"), [("refs/heads/main", 10), ("refs/heads/feature", 0)])
def test_by_hand_only_the_default_branch_s_run_writes_it(ref: str, trials: int, job: Job, origin: Repository) -> None:
    ran, step = job.dispatch(action_inputs={"command": "history"}, environ={"GITHUB_REF": ref})
    assert ran.exit_code == 0, ran.stderr
    assert on_branch(origin) == trials
    assert ("is not written" in step.summary()) == (trials == 0)
    assert len(list(job.repo.root.glob(".tidegate/runs/*/trials/*/fake/*"))) == trials, "nothing is run in vain"


def test_a_branch_that_may_not_be_pushed_is_said_and_nothing_fails(
    job: Job, tested: Tested, origin: Repository
) -> None:
    hook = origin.root / ".git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'Permission denied' >&2\nexit 1\n")
    hook.chmod(0o755)
    tested()
    ran, step = job.push(job.merge())
    assert ran.exit_code == 0
    assert "contents: write" in step.summary()
