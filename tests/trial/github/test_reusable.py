"""What `tidegate init` writes calls our reusable workflows, which are run here for each kind of event."""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gh.emulated.called import Called, Ended, Event, Runner, call, complete, evaluated, opened
from tests.gh.emulated.runner import dispatch_payload, workflow_run_payload
from tests.gh.job import Job
from tidegate.authoring.callers import USUAL_WORKFLOWS, ActionSource, Needs, workflow

pytestmark = pytest.mark.usefixtures("evaluator")

RUN = 77
OURS = ActionSource("owner/tidegate", "0" * 40)
LABEL = "tidegate: accept"
GHES = "@actions/artifact v2.0.0+, upload-artifact@v4+ and download-artifact@v4+ are not currently supported on GHES."
GH = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in *per_page*) echo 77 ;; esac
"""
WITH = """\
    with:
      comment: on-regression
      drafts: skip
      fork_without_key: fail
      runs_on: '["self-hosted", "tidegate"]'
"""


def caller(name: str = "pull-request", *, native: bool = False) -> str:
    return workflow(name, OURS, "main", Needs(native)).text


def run(job: Job, text: str, event: Event, token: Callable[[Mapping[str, str]], str] | None = None) -> Ended:
    """The caller's run to its end; what it uploads is at GitHub afterwards."""
    workspace = job.repo.root if event.name == "pull_request" else _empty(job)
    made = Runner(workspace, job, token)
    ended = made.run(call(text, event), event)
    for name, archive in ended.uploads.items():
        job.pull.upload(event.run, name, archive)
    return ended


def example(name: str) -> str:
    return (Path(__file__).parents[3] / f"examples/workflows/{name}.yml").read_text(encoding="utf-8")


def _empty(job: Job) -> Path:
    folder = job.repo.root.parent / f"workspace-{len(list(job.repo.root.parent.iterdir()))}"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("native", [False, True], ids=["container", "native"])
def test_a_pull_request_is_compared_commented_and_uploaded(job: Job, *, native: bool) -> None:
    ended = run(job, caller(native=native), opened(job, RUN))

    (comment,) = job.pull.bot_comments()
    assert (ended.ran.exit_code, ended.step.outputs()["comment_url"]) == (1, comment.url), ended.ran.stderr
    report = ended.uploads.pop("tidegate-report.html")
    packed = {name: set(zipfile.ZipFile(io.BytesIO(data)).namelist()) for name, data in ended.uploads.items()}
    assert packed == {"tidegate-result": {"result.json"}}
    assert report.startswith(b"<!doctype html>")
    assert f"/actions/runs/{RUN}/artifacts/77)" in comment.body
    assert ended.failed


@pytest.mark.parametrize(
    ("refuses", "copied"), [("Artifact storage quota has been hit.", False), ("(403) Forbidden", True), (GHES, False)]
)
def test_an_upload_never_decides_and_what_is_lost_is_said(job: Job, refuses: str, *, copied: bool) -> None:
    job.fix()
    event = opened(job, RUN)
    made = complete(example("complete-pull-request"), event) if copied else call(caller(), event)

    ended = Runner(job.repo.root, job, refuses=refuses).run(made, event)

    assert (ended.ran.exit_code, ended.failed, ended.uploads) == (0, False, {}), ended.ran.stderr
    assert "::warning title=no artifact::" in ended.said
    assert f"/actions/runs/{RUN}#artifacts)" in job.pull.bot_comments()[0].body


def test_a_caller_passes_inputs_permissions_and_any_secret_by_name(job: Job) -> None:
    text = caller().replace(
        "    secrets:\n", WITH + "    secrets:\n      VARIABLES: |\n        SHOP=${{ secrets.SHOP }}\n"
    )
    event = opened(job, RUN)
    event = Event(event.name, event.payload, RUN, {"SHOP": "s3cret=="})
    made = call(text, event)

    ended = Runner(job.repo.root, job).run(made, event)

    assert made.contexts["inputs"]["comment"] == "on-regression"
    assert evaluated({"on": made.job["runs-on"]}, made.contexts)["on"] == ["self-hosted", "tidegate"]
    assert ended.env["SHOP"] == "s3cret=="


def test_a_forks_run_is_published_by_the_second_workflow(job: Job) -> None:
    job.pull.row.head_repo, job.pull.row.head_ref = "mallory/fork", "pr"
    first = run(job, caller(), opened(job, RUN, head_repo="mallory/fork"), lambda _: job.github.token_like("read-only"))
    assert (first.ran.exit_code, job.pull.bot_comments()) == (1, []), first.ran.stderr
    payload = workflow_run_payload(
        job.pull.repository, RUN, job.pull.row.head_sha, head_repo="mallory/fork", branch="pr"
    )

    second = run(job, caller("publish"), Event("workflow_run", payload, 900))

    (comment,) = job.pull.bot_comments()
    assert second.ran.exit_code == 0, second.ran.stderr
    assert "Not verified" in comment.body


def called(name: str, event: Event) -> Called:
    return call(caller(name), event)


@pytest.mark.parametrize("name", ["pull-request", "complete-pull-request", "several-suites", "sharded"])
def test_labels_and_titles_start_no_run(name: str) -> None:
    """`gh pr create --label a --label b --label c` sends four events, of which one starts a run."""
    on = yaml.safe_load(example(name))[True]["pull_request"]  # YAML 1.1 reads `on` as true

    assert [kind for kind in ("opened", "labeled", "labeled", "labeled", "edited") if kind in on["types"]] == ["opened"]


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"action": "labeled", "label": "bug"}, []),
        ({"action": "labeled", "label": LABEL.upper()}, ["rerun"]),
        ({"action": "edited", "changes": {"title": {"from": "x"}}}, []),
        ({"action": "edited", "changes": {"base": {"ref": {"from": "old"}}}}, ["cancel", "rerun"]),
    ],
    ids=["a label", "the label that accepts", "a title", "a base branch"],
)
def test_what_changes_the_verdict_starts_the_run_again(job: Job, changes: dict[str, Any], asked: list[str]) -> None:
    event = opened(job, RUN, **changes)
    found = complete(example("rerun"), Event("pull_request_target", event.payload))
    tools = job.repo.root.parent / "tools"
    tools.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    contexts = {**found.contexts, "github": {**found.contexts["github"], "token": "t"}}
    if found.starts:
        (step,) = evaluated(found.job["steps"], contexts)
        environ = {"PATH": f"{tools}:/usr/bin:/bin", "GITHUB_REPOSITORY": "acme/x", "CALLS": str(tools / "calls")}
        given = {name: str(value).lower() for name, value in step["env"].items()}
        subprocess.run(["bash", "-e", "-c", step["run"]], env={**environ, **given}, check=True)

    calls = (tools / "calls").read_text().splitlines() if found.starts else []
    assert [line.rpartition("/")[2] for line in calls if "POST" in line] == asked
    assert all(job.pull.row.head_sha in line for line in calls if "workflows/tidegate.yml" in line)


def test_jobs_start_for_their_own_events_only(job: Job) -> None:
    repository, head = job.pull.repository, "1" * 40
    pushed = Event("workflow_run", workflow_run_payload(repository, 1, head, event="push"))
    ended = Event("workflow_run", workflow_run_payload(repository, 1, head))

    assert [called("publish", event).starts for event in (pushed, ended)] == [False, True]


def test_the_maintainers_run_checks_the_reviewed_commit_out(job: Job) -> None:
    inputs = {"pull_request": "1", "sha": "2" * 40}
    event = Event("workflow_dispatch", dispatch_payload(job.pull.repository, "olivia", inputs))

    found = called("maintainer", event)

    assert found.concurrency == {"group": "tidegate-maintainer-1", "cancel-in-progress": True}
    assert found.job["steps"][0]["with"]["ref"] == "${{ github.event.inputs.sha }}"
    assert found.permissions["statuses"] == "write"


def test_all_called_jobs_have_a_time_limit_and_a_concurrency() -> None:
    for name in {*USUAL_WORKFLOWS} - {"rerun"}:
        (calling,) = yaml.safe_load(caller(name))["jobs"].values()
        file = Path(__file__).parents[3] / calling["uses"].partition("@")[0].removeprefix("owner/tidegate/")
        workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
        (job,) = workflow["jobs"].values()

        assert "timeout-minutes" in job, file.name
        assert "concurrency" in workflow or "concurrency" in job, file.name
