"""The stand-ins for GitHub, and results to publish."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.gh.emulated.front import Front
from tests.gh.emulated.node import EquipmentMissingError, evaluate_command
from tests.gh.emulated.runner import Step
from tests.gh.emulated.server import GitHub
from tests.gh.fake.server import BlobHost, FakeGitHub
from tests.gh.job import Job, MakeStep, Start, act_here, repository
from tests.gh.remembered import Remembered
from tests.make import BASE_SHA, HEAD_SHA, result, row
from tidegate.model.comparison import SuiteEffect
from tidegate.model.red import red_names
from tidegate.model.result import BaseSide, HeadSide, Result, Sides, Verdict
from tidegate.model.suite import RowState


@pytest.fixture(scope="session")
def github_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """The emulated GitHub; started once, gone at the end."""
    try:
        server = GitHub(tmp_path_factory.mktemp("github"))
    except EquipmentMissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the emulated GitHub cannot be started: {missing}")
    yield server
    server.stop()


@pytest.fixture
def evaluator() -> None:
    """GitHub's own evaluator of expressions; without it the test is skipped."""
    try:
        evaluate_command()
    except EquipmentMissingError as missing:
        pytest.skip(f"GitHub's evaluator cannot be run: {missing}")


@pytest.fixture
def emulated(github_server: GitHub) -> Iterator[GitHub]:
    """The emulated GitHub for one test; every request of ours has to be one that GitHub's description allows."""
    github_server.front.reset()
    yield github_server
    assert github_server.front.violations == []


@pytest.fixture(scope="session")
def fake_front() -> Iterator[Front]:
    """The server of the rule-enforcing GitHub; what it serves is new in every test."""
    front = Front()
    yield front
    front.stop()


@pytest.fixture(scope="session")
def blob_host() -> Iterator[BlobHost]:
    """Where its archives lie."""
    host = BlobHost()
    yield host
    host.stop()


@pytest.fixture
def github(fake_front: Front, blob_host: BlobHost) -> Iterator[FakeGitHub]:
    """The rule-enforcing GitHub for one test; every request of ours has to be one that GitHub's description allows."""
    fake_front.reset()
    blob_host.leaks.clear()
    yield FakeGitHub(fake_front, blob_host)
    assert fake_front.violations == []
    assert blob_host.leaks == []


@pytest.fixture
def make_step(tmp_path: Path) -> Callable[..., Step]:
    """Makes steps of a job: `make_step(workspace, api_url)`."""
    steps: list[Step] = []

    def make(workspace: Path, api_url: str = "https://api.github.com") -> Step:
        steps.append(Step(tmp_path / f"step-{len(steps)}", workspace, api_url))
        return steps[-1]

    return make


@pytest.fixture
def job(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    github: FakeGitHub,
    make_step: MakeStep,
    tmp_path: Path,
) -> Job:
    """A pull request that renames a command which AGENTS.md still has."""
    start: Start = partial(act_here, compare=Remembered.of_the_session(tmp_path_factory))
    if request.node.get_closest_marker("own_process"):
        start = Step.run
    template = tmp_path_factory.getbasetemp() / "template of jobs"
    return Job(github, make_step, repository(tmp_path / "repo", template), start)


def make_result(head: str = HEAD_SHA, instance: str = "default", **states: RowState) -> Result:
    """A result with one row per scenario, failed if any of them is regressed."""
    failed = "regressed" in states.values()
    rows = tuple(row(state, scenario=name, agent="docs") for name, state in states.items())
    verdict = Verdict(
        state="failed" if failed else "passed",
        reason="regression" if failed else "no_regression",
        exit_code=int(failed),
        summary="one line",
        red=tuple(red_names(rows, SuiteEffect(), (), (), ())) if failed else (),
    )
    sides = Sides(base=BaseSide(sha=BASE_SHA, ref="main"), head=HeadSide(sha=head, ref="change"))
    return result(*rows, instance=instance, verdict=verdict, sides=sides)
