"""What `tidegate init` writes calls our reusable workflows, which are run here for each kind of event."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gh.emulated.called import Called, Ended, Event, RefusedError, Runner, call, opened
from tests.gh.emulated.runner import comment_payload, dispatch_payload, workflow_run_payload
from tests.gh.fake.state import RunRow, told_time
from tests.gh.job import Job
from tidegate.authoring.callers import FOLDER, Needs, Place, workflow_files

pytestmark = pytest.mark.usefixtures("evaluator")

RUN = 77
OURS = Place("owner/tidegate", "0" * 40)
LABEL = "tidegate: accept"


def caller(name: str = "tidegate", *, native: bool = False) -> str:
    return workflow_files(OURS, "main", Needs(native), commands=True)[f"{FOLDER}/{name}.yml"]


def run(job: Job, text: str, event: Event, token: Callable[[Mapping[str, str]], str] | None = None) -> Ended:
    """The caller's run to its end; what it uploads is at GitHub afterwards."""
    workspace = job.repo.root if event.name == "pull_request" else _empty(job)
    made = Runner(workspace, job, token)
    ended = made.run(call(text, event), event)
    for name, archive in ended.uploads.items():
        job.pull.upload(event.run, name, archive)
    return ended


def _empty(job: Job) -> Path:
    folder = job.repo.root.parent / f"workspace-{len(list(job.repo.root.parent.iterdir()))}"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("native", [False, True], ids=["container", "native"])
def test_a_pull_request_is_compared_commented_and_uploaded(job: Job, *, native: bool) -> None:
    ended = run(job, caller(native=native), opened(job, RUN))

    (comment,) = job.pull.bot_comments()
    assert (ended.ran.exit_code, ended.step.outputs()["comment_url"]) == (1, comment.url), ended.ran.stderr
    packed = {name: set(zipfile.ZipFile(io.BytesIO(data)).namelist()) for name, data in ended.uploads.items()}
    assert packed == {"tidegate-report": {"report.html", "result.json"}, "tidegate-result": {"result.json"}}


def test_explain_shows_what_the_pull_requests_run_uploaded(job: Job) -> None:
    """With nothing but the workflows that `init` writes."""
    event = opened(job, RUN)
    run(job, caller(), event)
    job.pull.repo.runs.append(RunRow(RUN, 70, "pull_request", job.pull.row.head_sha))
    row = job.pull.say("/tidegate explain keep_notes", "olivia")
    written = told_time(row.updated)
    comment = {"id": row.id, "body": row.body, "user": {"login": "olivia", "id": 1, "type": "User"}}
    payload = comment_payload(
        job.pull.repository, job.pull.number, comment | {"created_at": written, "updated_at": written}
    )

    ended = run(job, caller("tidegate-commands"), Event("issue_comment", payload, 800))

    assert ended.ran.exit_code == 0, ended.ran.stderr
    assert "notes: unknown command: add" in job.pull.bot_comments()[-1].body
    assert row.reactions[-1][1] == "+1"


def test_a_forks_run_is_published_by_the_second_workflow(job: Job) -> None:
    job.pull.row.head_repo, job.pull.row.head_ref = "mallory/fork", "pr"
    first = run(job, caller(), opened(job, RUN, head_repo="mallory/fork"), lambda _: job.github.token_like("read-only"))
    assert (first.ran.exit_code, job.pull.bot_comments()) == (1, []), first.ran.stderr
    payload = workflow_run_payload(
        job.pull.repository, RUN, job.pull.row.head_sha, head_repo="mallory/fork", branch="pr"
    )

    second = run(job, caller("tidegate-publish"), Event("workflow_run", payload, 900))

    (comment,) = job.pull.bot_comments()
    assert second.ran.exit_code == 0, second.ran.stderr
    assert "Not verified" in comment.body


def called(name: str, event: Event) -> Called:
    return call(caller(name), event)


def test_a_foreign_label_and_a_new_title_cancel_no_running_job(job: Job) -> None:
    """A label that accepts, and a new base branch, do."""
    events: dict[str, dict[str, Any]] = {
        "push": {"action": "synchronize"},
        "ours": {"action": "labeled", "label": LABEL},
        "foreign": {"action": "labeled", "label": "bug"},
        "title": {"action": "edited", "changes": {"title": {"from": "x"}}},
        "base": {"action": "edited", "changes": {"base": {"ref": {"from": "old"}}}},
    }
    groups = {name: called("tidegate", opened(job, RUN, **changes)).concurrency for name, changes in events.items()}

    assert all(group["cancel-in-progress"] is True for group in groups.values())
    assert groups["push"] == groups["ours"] == groups["base"]
    assert groups["push"]["group"] != groups["foreign"]["group"] == groups["title"]["group"]
    assert str(RUN) in groups["foreign"]["group"]


def test_jobs_start_for_their_own_events_only(job: Job) -> None:
    repository, head = job.pull.repository, "1" * 40
    pushed = Event("workflow_run", workflow_run_payload(repository, 1, head, event="push"))
    ended = Event("workflow_run", workflow_run_payload(repository, 1, head))
    user = {"id": 1, "user": {"login": "olivia", "id": 1, "type": "User"}}
    chat = Event("issue_comment", comment_payload(repository, 1, {**user, "body": "nice"}))
    command = Event("issue_comment", comment_payload(repository, 1, {**user, "body": "/tidegate rerun"}))
    issue = Event("issue_comment", comment_payload(repository, 1, {**user, "body": "/tidegate rerun"}, issue=True))

    assert [called("tidegate-publish", event).starts for event in (pushed, ended)] == [False, True]
    assert [called("tidegate-commands", event).starts for event in (chat, command, issue)] == [False, True, False]


def test_the_maintainers_run_checks_the_reviewed_commit_out(job: Job) -> None:
    inputs = {"pull_request": "1", "sha": "2" * 40}
    event = Event("workflow_dispatch", dispatch_payload(job.pull.repository, "olivia", inputs))

    found = called("tidegate-maintainer", event)

    assert found.concurrency == {"group": "tidegate-maintainer-1", "cancel-in-progress": True}
    assert found.job["steps"][0]["with"]["ref"] == "${{ github.event.inputs.sha }}"
    assert found.permissions["statuses"] == "write"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("    secrets:\n", "    with: {confg: x}\n    secrets:\n", "inputs that are not declared"),
        ("    secrets:\n", "    with: {native: 'yes'}\n    secrets:\n", "is not a boolean"),
        ("      ANTHROPIC_API_KEY", "      OTHER_KEY", "secrets that are not declared"),
    ],
)
def test_the_stand_in_refuses_what_github_refuses(job: Job, before: str, after: str, why: str) -> None:
    text = caller().replace(before, after, 1)
    assert text != caller()

    with pytest.raises(RefusedError, match=why):
        call(text, opened(job, RUN))


def test_all_called_jobs_have_a_time_limit_and_a_concurrency() -> None:
    for path in workflow_files(OURS, "main", commands=True).values():
        (calling,) = yaml.safe_load(path)["jobs"].values()
        file = Path(__file__).parents[2] / calling["uses"].partition("@")[0].removeprefix("owner/tidegate/")
        workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
        (job,) = workflow["jobs"].values()

        assert "timeout-minutes" in job, file.name
        assert "concurrency" in workflow or "concurrency" in job, file.name
