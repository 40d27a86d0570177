"""Jobs whose GitHub never answers, cannot be reached, or is still being asked when a signal comes."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time

import pytest

from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import pull_request_payload
from tests.gh.job import Job
from tidegate.github.api import PublishError
from tidegate.github.deadline import Deadline
from tidegate.github.job import BEFORE


def test_what_is_asked_is_answered() -> None:
    assert asyncio.run(Deadline(5).ask(lambda: 7)) == 7


def test_every_other_exception_is_one_kind() -> None:
    with pytest.raises(PublishError, match="ZeroDivisionError"):
        asyncio.run(Deadline(5).ask(lambda: 1 // 0))


def test_several_requests_share_the_time() -> None:
    async def twice() -> None:
        deadline = Deadline(0.3)
        await deadline.ask(lambda: time.sleep(0.2))
        await deadline.ask(lambda: time.sleep(5))

    with pytest.raises(PublishError, match=r"did not answer within 0\.3 seconds"):
        asyncio.run(twice())


def test_a_request_before_the_verdict_leaves_most_of_the_time_to_the_verdict() -> None:
    async def work() -> float:
        deadline = Deadline(0.4)
        with pytest.raises(PublishError, match=r"did not answer within 0\.1 seconds"):
            await deadline.ask(lambda: time.sleep(5), BEFORE)
        return deadline.left

    assert 0 < asyncio.run(work()) <= 0.3


@pytest.mark.parametrize("address", ["nonsense", "https://127.0.0.1:1"])
def test_an_address_that_cannot_be_used_leaves_the_exit_code(job: Job, address: str) -> None:
    head, base = job.repo.git("rev-parse", "pr"), job.repo.git("rev-parse", "main")
    step = job.make_step(job.repo.root, address)
    payload = pull_request_payload(job.pull.repository, 1, head, base, head_ref="pr", action="synchronize")

    ran = job.start(step, step.environ("pull_request", payload, {"github_token": "t"}))

    assert (ran.exit_code, step.outputs()["verdict"]) == (1, "failed"), ran.stderr
    assert "regressed" in step.summary()
    assert "not published" in ran.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_signal_while_github_is_asked_ends_at_once_with_the_verdict(job: Job, number: signal.Signals) -> None:
    head, base = job.repo.git("rev-parse", "pr"), job.repo.git("rev-parse", "main")
    job.github.front.faults.append(Fault("GET", "/comments", delay=200, drop=True, times=99))
    step = job.make_step(job.repo.root, job.github.api_url)
    payload = pull_request_payload(job.pull.repository, 1, head, base, head_ref="pr", action="opened")
    environ = step.environ("pull_request", payload, {"github_token": job.github.token, "publish_timeout": "600"})
    with subprocess.Popen(["tidegate", "action"], cwd=job.repo.root, env=environ, stdout=-1, stderr=-1) as process:
        while not step.summary():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        time.sleep(0.3)
        before = time.monotonic()
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=100)

    assert time.monotonic() - before < 100, "the request itself takes 200, and the job waits for 600"
    assert process.returncode == 1, stderr
    assert "regressed" in step.summary()
    assert step.outputs()["verdict"] == "failed"
    assert b"the job was cancelled" in stdout
