"""Requests that time out, and two runs of one pull request: the newer one's comment is the only one."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import read_key_values
from tests.gh.fake.server import FakeGitHub, PullRequest
from tests.gh.fixtures import make_result
from tests.make import HEAD_SHA
from tidegate.github.connection import Pace
from tidegate.github.job import Job, Outside
from tidegate.github.publishing import Subject
from tidegate.github.pull_request import say
from tidegate.github.settings import GitHubJob, Settings
from tidegate.model.progress import Progress

RED = make_result(head=HEAD_SHA, add="regressed", list="ok")
IMPATIENT = Pace(timeout=30, retries=1, backoff=0, longest_wait=0, between_writes=0)

CALLS = {
    "list": Fault("GET", r"/issues/1/comments(\?|$)"),
    "head": Fault("GET", "/pulls/1$"),
    "create": Fault("POST", "/issues/1/comments$"),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout, as far as a step's files go."""
    folder = tmp_path_factory.mktemp("workspace")
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


@dataclass
class Ended:
    """What a job left behind."""

    exit_code: int
    slept: list[float]
    commands: list[str]
    summary: str
    verdict: str


@pytest.fixture
def end_of_job(workspace: Path, tmp_path: Path) -> Callable[..., Ended]:
    """The end of a job that has compared both sides: what it says, and how it ends."""

    def end(pull: PullRequest, timeout: int = IMPATIENT.timeout) -> Ended:
        summary, output = tmp_path / "summary", tmp_path / "output"
        environ = {
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": "event.json",
            "GITHUB_REPOSITORY": pull.repository,
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_RUN_ID": "9",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(output),
        }
        slept: list[float] = []
        commands: list[str] = []
        settings = Settings(github_token=SecretStr(pull.github.token))
        outside = Outside(environ, Progress(), lambda *_: None, commands.append, slept.append)
        job = Job(settings, GitHubJob.from_environ(environ), outside)
        repository = pull.connect(pace=IMPATIENT.model_copy(update={"timeout": timeout}))
        code = asyncio.run(say(RED, None, Subject(1, HEAD_SHA, repository), job))
        verdict = read_key_values(output.read_text(encoding="utf-8"))["verdict"]
        return Ended(code, slept, commands, summary.read_text(encoding="utf-8"), verdict)

    return end


def test_a_timeout_before_and_after_it_was_done(github: FakeGitHub, end_of_job: Callable[..., Ended]) -> None:
    pull = github.pull_request()
    for call in ("create", "list", "head"):
        github.front.faults.append(replace(CALLS[call], status=None, delay=1.5))

    ended = end_of_job(pull, timeout=1)

    assert ended.exit_code == 1
    assert len(pull.bot_comments()) == 1
