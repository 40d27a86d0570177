"""Failures of requests other than the comment's: nothing is accepted or published wrongly."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import Step, pull_request_payload
from tests.gh.fake.server import FakeGitHub
from tests.gh.fixtures import make_result
from tests.make import HEAD_SHA, sure
from tests.thorough.github.test_fault_layer import ENDLESS, KINDS, QUICK
from tidegate.errors import CannotRunError, ConfigurationError, MissingKeyError, NothingToRunError, TidegateError
from tidegate.github import Outside
from tidegate.github.announce import tell_failure
from tidegate.github.client import connect
from tidegate.github.job import Job
from tidegate.github.settings import GitHubJob, Settings
from tidegate.github.workflow_dispatch import _set_status
from tidegate.model.progress import Progress

RED = make_result(head=HEAD_SHA, add="regressed")


def fault_at(path: str, name: str, times: int, method: str = "GET") -> Fault:
    """One of the faults of the matrix."""
    return Fault(method, path, times=times, **KINDS[name])


def job_of(step: Step, event: str, payload: dict[str, object], token: str) -> tuple[Job, list[str]]:
    """A job in this process, without patience; and the commands that it gives to the runner."""
    environ = step.environ(event, payload, {"github_token": token})
    commands: list[str] = []

    def impatient(settings: Settings, runner: GitHubJob) -> object:
        return connect(runner.api_url, settings.github_token or SecretStr(""), runner.repository, QUICK)

    outside = Outside(environ, Progress(), impatient, commands.append, lambda _: None)  # type: ignore[arg-type]
    return Job(Settings.from_environ(environ), GitHubJob.from_environ(environ), outside), commands


@pytest.mark.parametrize("fault", sorted({*KINDS} - {*ENDLESS}))
def test_a_status_that_cannot_be_set_is_a_warning(github: FakeGitHub, tmp_path: Path, fault: str) -> None:
    pull = github.pull_request()
    step = Step(tmp_path / "step", tmp_path, github.api_url)
    payload = pull_request_payload(pull.repository, 1, HEAD_SHA, "0" * 40)
    job, commands = job_of(step, "pull_request", payload, github.token_like("maintainer"))
    repository = sure(job.connect())
    github.front.faults.append(fault_at("/statuses/", fault, 99, "POST"))

    asyncio.run(_set_status("failure", "1 of 4 regressed", repository.pull_request(1), repository, job))

    assert all("no commit status" in command for command in commands)
    assert len(commands) == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConfigurationError, "configuration"),
        (NothingToRunError, "no_scenarios"),
        (CannotRunError, "cannot_run"),
        (MissingKeyError, "missing_key"),
        (TidegateError, "internal_error"),
    ],
)
def test_every_error_has_its_word_in_the_outputs(tmp_path: Path, error: type[TidegateError], reason: str) -> None:
    step = Step(tmp_path / "step", tmp_path)
    job, _ = job_of(step, "pull_request", pull_request_payload("acme/x", 1, HEAD_SHA, "0" * 40), "t")

    tell_failure(error("what", "advice"), job)

    assert step.outputs()["reason"] == reason
