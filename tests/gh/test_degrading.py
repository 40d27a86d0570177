"""Failures of requests other than the comment's: nothing is accepted or published wrongly."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.gh.conftest import make_result
from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import Step, pull_request_payload, workflow_run_payload
from tests.gh.fake.server import FakeGitHub
from tests.gh.test_artifact import packed
from tests.gh.test_faults import FAULTS, IMPATIENT
from tests.make import HEAD_SHA
from tidegate.action import Outside, act
from tidegate.action.acceptance import accepted_by
from tidegate.action.job import Job
from tidegate.action.publishing import Subject
from tidegate.action.workflow_dispatch import _set_status
from tidegate.errors import TidegateError
from tidegate.gh.client import connect
from tidegate.gh.event import PullRequestEvent, read_event
from tidegate.model.progress import Silent
from tidegate.reports.result_json import result_json
from tidegate.settings import GitHubJob, Settings

RED = make_result(head=HEAD_SHA, add="regressed")
LABEL = "tidegate: accept"
ACCEPTING = ("/pulls/1$", "/issues/1/events", "/permission$")
PUBLISHING = ("/pulls[?]", "/artifacts[?]", "/zip$")


def fault_at(path: str, name: str, times: int, method: str = "GET") -> Fault:
    """One of the faults of the matrix."""
    return Fault(method, path, times=times, **FAULTS[name])  # type: ignore[arg-type]


def job_of(step: Step, event: str, payload: dict[str, object], token: str) -> tuple[Job, list[str]]:
    """A job in this process, without patience; and the commands that it gives to the runner."""
    environ = step.environ(event, payload, {"github_token": token})
    commands: list[str] = []

    def impatient(settings: Settings, runner: GitHubJob) -> object:
        return connect(runner.api_url, settings.github_token or SecretStr(""), runner.repository, IMPATIENT)

    outside = Outside(environ, Silent(), impatient, commands.append, lambda _: None)  # type: ignore[arg-type]
    return Job(Settings.from_environ(environ), GitHubJob.from_environ(environ), outside), commands


@pytest.mark.parametrize(("path", "fault", "times"), [*itertools.product(ACCEPTING, FAULTS, (1, 99))])
def test_nothing_is_accepted_that_github_does_not_confirm(
    github: FakeGitHub, tmp_path: Path, path: str, fault: str, times: int
) -> None:
    pull = github.pull_request()
    pull.label(LABEL)
    payload = pull_request_payload(
        pull.repository, 1, HEAD_SHA, "0" * 40, action="labeled", label=LABEL, sender="olivia"
    )
    event = read_event("pull_request", payload)
    assert isinstance(event, PullRequestEvent)
    step = Step(tmp_path / "step", tmp_path, github.api_url)
    job, commands = job_of(step, "pull_request", payload, github.token)
    github.front.faults.append(fault_at(path, fault, times))

    accepted = asyncio.run(accepted_by(event, RED, job.connect(), job, job.deadline()))

    recovered = times == 1 and fault.startswith(("502", "500", "reset", "429, Retry", "403 secondary, "))
    assert (accepted is not None) == recovered, commands
    assert (commands == []) == recovered


@pytest.mark.parametrize(("path", "fault", "times"), [*itertools.product(PUBLISHING, FAULTS, (1, 99))])
def test_what_cannot_be_read_is_not_published_and_the_job_says_so(
    github: FakeGitHub, tmp_path: Path, path: str, fault: str, times: int
) -> None:
    pull = github.pull_request(head_repo="mallory/fork")
    pull.upload(7, "tidegate-result", packed(result_json(RED)))
    payload = workflow_run_payload(pull.repository, 7, HEAD_SHA, head_repo="mallory/fork")
    step = Step(tmp_path / "step", tmp_path, github.api_url)
    job, _ = job_of(step, "workflow_run", payload, github.token_like("publish"))
    github.front.faults.append(fault_at(path, fault, times))

    try:
        code = asyncio.run(act(job.outside))
    except TidegateError as error:
        code = error.exit_code

    assert (code, len(pull.bot_comments())) in ((0, 1), (4, 0))
    assert code == 0 or "could not run" in step.summary()
    if times == 1 and fault.startswith(("502", "500", "reset")):
        assert code == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_a_status_that_cannot_be_set_is_a_warning(github: FakeGitHub, tmp_path: Path, fault: str) -> None:
    pull = github.pull_request()
    step = Step(tmp_path / "step", tmp_path, github.api_url)
    payload = pull_request_payload(pull.repository, 1, HEAD_SHA, "0" * 40)
    job, commands = job_of(step, "pull_request", payload, github.token_like("maintainer"))
    repository = job.connect()
    assert repository is not None
    github.front.faults.append(fault_at("/statuses/", fault, 99, "POST"))

    subject = Subject(1, HEAD_SHA, repository)
    asyncio.run(_set_status("failure", "1 of 4 regressed", subject, job, job.deadline()))

    assert all("no commit status" in command for command in commands)
    assert len(commands) == 1
