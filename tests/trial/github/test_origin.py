"""The job's token in git calls: it is sent to the job's server only."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.gh.emulated.runner import Ran, Step
from tests.gh.fake.server import FakeGitHub
from tests.gh.git_server import GitServer, serve
from tests.gh.job import Job, MakeStep, repository
from tests.journeys.conftest import FILES
from tidegate.github.job import Job as ActionJob
from tidegate.github.job import Outside, origin_of
from tidegate.github.settings import GitHubJob, Settings
from tidegate.history.branch import copy_to, fetch
from tidegate.model.progress import Progress

BRANCH = "tidegate-history"
TOKEN = "ghs_contents-write"
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
store: {type: branch}
agents:
  spy:
    type: scripted
    deterministic: false
    steps: {keep_notes: [notes add first, notes add second, env, "git config --list --show-origin; true"]}
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with serve(tmp_path / "served") as running:
        yield running


@pytest.fixture
def served(server: GitServer) -> Repository:
    """The repository that jobs are checked out of."""
    repo = Repository(server.folder / "notes.git")
    repo.git("config", "http.receivepack", "true")
    return repo


def asked(server: GitServer, token: str, **environ: str) -> ActionJob:
    """A job, as far as git is concerned."""
    names = {"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": "/none", "GITHUB_REPOSITORY": "acme/notes"}
    runner = GitHubJob.from_environ({**names, "GITHUB_WORKSPACE": "/none", "GITHUB_SERVER_URL": server.url})
    outside = Outside(environ, Progress(), lambda *_: None, print, lambda _: None)
    return ActionJob(Settings.from_environ({"INPUT_GITHUB_TOKEN": token}), runner, outside)


def on_branch(served: Repository) -> int:
    if not served.git("branch", "--list", BRANCH):
        return 0
    files = served.git("ls-tree", "-r", "--name-only", BRANCH, "history").split()
    return sum(served.git("show", f"{BRANCH}:{name}").count("\n") + 1 for name in files if name.endswith(".jsonl"))


@pytest.fixture
def run_history(
    github: FakeGitHub, make_step: MakeStep, tmp_path: Path, server: GitServer
) -> Callable[[str], tuple[Ran, str, Repository]]:
    """A person starts the history's workflow, with a token of that profile: what was run, its summary, its checkout."""

    def run(profile: str) -> tuple[Ran, str, Repository]:
        job = Job(github, make_step, repository(tmp_path / "repo", tmp_path / "template"), Step.run)
        main = job.repo.commit({**FILES, "tidegate.yaml": SUITE}, on="main")
        job.repo.git("remote", "add", "origin", f"{server.url}/notes.git/.git")
        environ = {"GITHUB_SERVER_URL": server.url, "GITHUB_REF": "refs/heads/main"}
        inputs = {"command": "history"}
        ran, step = job.dispatch(profile=profile, action_inputs=inputs, checked_out=main, environ=environ)
        return ran, step.summary(), job.repo

    return run


def test_the_token_writes_the_branch_and_is_left_nowhere(
    run_history: Callable[[str], tuple[Ran, str, Repository]], served: Repository, server: GitServer
) -> None:
    ran, summary, repo = run_history("history-branch")

    assert ran.exit_code == 0, ran.stderr
    assert on_branch(served) == 10, summary
    (header,) = set(server.seen)
    secret = header.partition(" ")[2]
    token = base64.b64decode(secret).decode().partition(":")[2]
    _, _, said = ran.stdout.partition("\n")  # the first line has the runner mask the token
    assert ran.stdout.startswith(f"::add-mask::{token}\n")
    left = [said, ran.stderr, summary]
    left += [path.read_text(errors="replace") for path in repo.root.rglob("*") if path.is_file()]
    assert any("safe.directory" in text or "TIDEGATE_" in text for text in left), "the agent's environment is recorded"
    assert [text for text in left if secret in text or token in text] == []


def test_a_token_that_may_only_read_is_said_with_the_line_to_add(
    run_history: Callable[[str], tuple[Ran, str, Repository]], served: Repository
) -> None:
    ran, summary, _ = run_history("history")

    assert ran.exit_code == 0
    assert on_branch(served) == 0
    assert "may not push to the branch `tidegate-history`" in summary
    assert "403" in summary
    assert "Give the job `contents: write`" in summary


def test_a_token_that_may_not_even_read_is_said_with_the_line_to_add(
    make_repository: Callable[..., Repository], served: Repository, server: GitServer
) -> None:
    repo = make_repository()
    repo.git("remote", "add", "origin", f"{server.url}/notes.git/.git")
    sentence = fetch(repo.root, BRANCH, origin_of(asked(server, "ghs_nothing"))) or ""
    assert "could not be fetched" in sentence
    assert sentence.endswith("the job needs `contents: read`")


def test_what_a_checkout_has_left_in_the_configuration_is_not_sent_too(
    make_repository: Callable[..., Repository], served: Repository, server: GitServer
) -> None:
    repo = make_repository()
    repo.git("remote", "add", "origin", f"{server.url}/notes.git/.git")
    repo.git("config", f"http.{server.url}/.extraheader", "AUTHORIZATION: basic c3RhbGU=")
    assert fetch(repo.root, BRANCH, origin_of(asked(server, TOKEN))) is None
    assert {base64.b64decode(header.split()[1]).decode() for header in server.seen} == {f"x-access-token:{TOKEN}"}


def test_a_pull_request_s_token_reads_it_and_the_clone_stays_shallow(
    make_repository: Callable[..., Repository], served: Repository, server: GitServer, tmp_path: Path
) -> None:
    sha = served.commit({"a": "1"})
    served.commit({"a": "2", "tidegate-history.json": '{"schema_version": 1}\n', "history/ab.jsonl": "{}\n"})
    served.git("branch", BRANCH)
    repo = make_repository()
    repo.git("fetch", "--quiet", "--depth=1", str(served.root), "main")
    repo.git("remote", "add", "origin", f"{server.url}/notes.git/.git")

    origin = origin_of(asked(server, "ghs_contents-read"))
    assert fetch(repo.root, BRANCH, origin) is None
    assert copy_to(repo.root, BRANCH, tmp_path / "copy", origin) == ()

    assert (tmp_path / "copy/history/ab.jsonl").read_text() == "{}\n"
    assert sha not in repo.git("rev-list", f"refs/remotes/origin/{BRANCH}")


def test_no_other_server_is_given_the_token(
    make_repository: Callable[..., Repository], served: Repository, server: GitServer, tmp_path: Path
) -> None:
    repo = make_repository()
    with serve(tmp_path / "served") as stranger:
        repo.git("remote", "add", "origin", f"{stranger.url}/notes.git/.git")
        assert "could not be fetched" in (fetch(repo.root, BRANCH, origin_of(asked(server, TOKEN))) or "")
        assert stranger.seen == []


def test_the_settings_that_the_job_has_for_git_stay(server: GitServer) -> None:
    count = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    environ = origin_of(asked(server, TOKEN, **count)).environ
    assert environ["GIT_CONFIG_COUNT"] == "3"
    assert not {"GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"} & environ.keys()
    assert TOKEN not in repr(origin_of(asked(server, TOKEN)))
    assert "GIT_CONFIG_KEY_1" not in os.environ
