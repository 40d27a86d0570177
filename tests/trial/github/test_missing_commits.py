"""Checkouts that lack something: it is fetched with the job's token, or one sentence says why."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.gh.emulated.runner import Ran, Step, load_event, pull_request_payload
from tests.gh.fake.server import FakeGitHub
from tests.gh.git_server import GitServer, serve
from tests.gh.job import RENAMED, MakeStep, act_here
from tests.journeys.conftest import FILES
from tidegate.errors import ConfigurationError
from tidegate.vcs.missing_commits import fetch_missing

Checkout = Callable[..., tuple[Ran, Step]]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with serve(tmp_path / "served") as running:
        yield running


@pytest.fixture
def served(server: GitServer) -> Repository:
    """A pull request of three commits, on a base of three."""
    repo = Repository(server.folder / "notes.git")
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.commit(FILES)
    repo.commit({"old": "1\n"})
    repo.commit({"old": "2\n"})
    repo.branch("pr", {"bin/notes": RENAMED})
    repo.commit({"a": "1\n"}, on="pr")
    repo.commit({"b": "1\n"})
    repo.git("checkout", "--quiet", "main")
    return repo


@pytest.fixture
def start(github: FakeGitHub, make_step: MakeStep, server: GitServer, served: Repository, tmp_path: Path) -> Checkout:
    """The job on a checkout of so many commits of a branch, in a folder below the workspace."""

    def run(
        event: str = "pull_request", ref: str = "pr", depth: int = 1, folder: str = ".", **inputs: str
    ) -> tuple[Ran, Step]:
        pull = github.pull_request()
        head, base = served.git("rev-parse", "pr"), served.git("rev-parse", "main")
        pull.push(head)
        workspace = tmp_path / "workspace"
        clone = workspace / folder
        clone.mkdir(parents=True)
        if ref != "none":
            _clone(clone, served, server, ref, depth)
        if sparse := inputs.pop("sparse", ""):
            subprocess.run(["git", "sparse-checkout", "set", sparse], cwd=clone, check=True)
        payload = pull_request_payload(pull.repository, 1, head, base, head_ref="pr", action="opened")
        if event == "merge_group":
            payload = load_event("merge_group.checks_requested")
            payload["merge_group"] |= {"base_sha": base, "head_sha": head}
            payload["repository"]["full_name"] = pull.repository
        step = make_step(workspace, github.api_url)
        token = github.token  # its name has its permissions, which the server of git reads too
        environ = step.environ(event, payload, {"github_token": token, **inputs})
        return act_here(step, {**environ, "GITHUB_SERVER_URL": server.url}), step

    return run


def _clone(folder: Path, served: Repository, server: GitServer, ref: str, depth: int) -> None:
    """What actions/checkout makes: one commit and its parents, and an origin without credentials."""
    clone = Repository(folder / ".made")
    for path in clone.root.iterdir():
        path.rename(folder / path.name)
    clone.root.rmdir()
    clone.root = folder
    clone.git("fetch", "--quiet", f"--depth={depth}", f"file://{served.root}", ref)
    clone.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
    clone.git("remote", "add", "origin", f"{server.url}/notes.git/.git")


@pytest.mark.parametrize("event", ["pull_request", "merge_group"])
@pytest.mark.parametrize("depth", [1, 2])
def test_what_is_missing_is_fetched_with_the_token(start: Checkout, server: GitServer, event: str, depth: int) -> None:
    """A merge queue that rebases has more commits than the two of the documented checkout."""
    ran, step = start(event, depth=depth)

    assert (ran.exit_code, step.outputs()["regressions"]) == (1, "1"), ran.stdout + ran.stderr
    assert "has been fetched" in ran.stdout
    assert "too shallow" in ran.stdout
    assert server.seen


def test_a_test_merge_of_depth_1_is_completed(start: Checkout, served: Repository) -> None:
    served.git("checkout", "--quiet", "-b", "merge", "main")
    served.git("merge", "--quiet", "--no-ff", "--message", "test merge", "pr")

    ran, _ = start(ref="merge", depth=1)

    assert ran.exit_code == 1, ran.stdout + ran.stderr
    assert "was not in the checkout and has been fetched" in ran.stdout


def test_without_a_token_that_reads_the_sentence_names_depth_and_permission(start: Checkout) -> None:
    ran, _ = start(github_token="ghs_nothing")

    assert ran.exit_code == 2
    assert "could not be fetched" in ran.stderr
    assert "`fetch-depth: 0`" in ran.stderr
    assert "`contents: read`" in ran.stderr


def test_a_base_branch_that_has_vanished_is_named(make_repository: Callable[..., Repository]) -> None:
    repository = make_repository()
    repository.commit({"a": "1"})
    repository.git("remote", "add", "origin", str(repository.root))

    with pytest.raises(ConfigurationError, match=r"could not be fetched: couldn't find remote ref"):
        fetch_missing(repository.root, "gone", "HEAD", {})


def test_without_a_checkout_the_sentence_names_the_step(start: Checkout) -> None:
    ran, _ = start(ref="none")

    assert ran.exit_code == 2
    assert "Put a step with actions/checkout before this one" in ran.stderr


def test_the_folder_of_the_checkout_can_be_named(start: Checkout) -> None:
    ran, step = start(folder="sub/tool", depth=9, path="sub/tool")

    assert (ran.exit_code, step.outputs()["regressions"]) == (1, "1"), ran.stdout + ran.stderr
    assert step.outputs()["result_path"] == "sub/tool/.tidegate/pr/result.json"


@pytest.mark.parametrize("path", ["/etc", "../other", "a/../../b"])
def test_a_folder_outside_of_the_workspace_is_refused(start: Checkout, path: str) -> None:
    ran, _ = start(path=path)

    assert ran.exit_code == 2
    assert "not a folder below the workspace" in ran.stderr
