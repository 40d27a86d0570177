"""A pull request with real commits, the job that looks at it, and what the runner makes of it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from tests.conftest import Repository
from tests.gh.emulated.runner import (
    Ran,
    Step,
    dispatch_payload,
    pull_request_payload,
    push_payload,
    read_log,
    workflow_run_payload,
)
from tests.gh.fake.server import NO_WAITING, FakeGitHub, PullRequest
from tests.journeys.conftest import FILES, NOTES
from tidegate.cli.action import perform
from tidegate.errors import TidegateError
from tidegate.github.client import GitHubRepository, connect
from tidegate.github.job import Compare
from tidegate.github.settings import GitHubJob, Settings

MakeStep = Callable[..., Step]
Start = Callable[[Step, Mapping[str, str]], Ran]
RENAMED = NOTES.replace("  add)", "  append)")
# The same content makes the same commit in every test.
SAME_DATES = {f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}


def act_here(step: Step, environ: Mapping[str, str], compare: Compare | None = None) -> Ran:
    """What `tidegate action` does, in this process and without pauses between requests; a process takes a second more.

    The runner's commands are read from what is printed, as they are when a process has printed it.
    """
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        try:
            code = perform(environ, connect_here, lambda _: None, compare)
        except TidegateError as error:
            print(error.message, error.advice, sep="\n", file=sys.stderr)
            code = error.exit_code
    printed, complained = stdout.getvalue(), stderr.getvalue()
    return Ran(code, read_log(printed + complained), printed, complained)


def connect_here(settings: Settings, runner: GitHubJob) -> GitHubRepository | None:
    """The product's way to GitHub, without pauses."""
    if settings.github_token is None:
        return None
    return connect(runner.api_url, settings.github_token, runner.repository, NO_WAITING)


def repository(root: Path, template: Path) -> Repository:
    """The branches `main` and `pr`, which is checked out. The first is made, and the others are copies of it."""
    if not template.exists():
        made = Repository(template)
        made.environ.update(SAME_DATES)
        made.commit(FILES)
        made.branch("pr", {"bin/notes": RENAMED})
    copy = Repository(root, template)
    copy.environ.update(SAME_DATES)
    return copy


class Job:
    """A pull request on a rule-enforcing GitHub, its commits in a real repository, and the job that looks at it.

    `start`: how its program is started: `act_here`, or `Step.run` for a process of its own.
    """

    def __init__(self, github: FakeGitHub, make_step: MakeStep, repo: Repository, start: Start) -> None:
        self.github, self.make_step, self.repo, self.start = github, make_step, repo, start
        self.pull: PullRequest = github.pull_request()
        self.runs = 0

    def fix(self) -> None:
        """A further commit on the pull request that takes the rename back."""
        self.repo.commit({"bin/notes": NOTES}, on="pr")

    def check_out_merge(self) -> None:
        """What actions/checkout does by default: the test-merge commit."""
        self.repo.git("checkout", "--quiet", "--detach", "main")
        self.repo.git("merge", "--quiet", "--no-ff", "--message", "test merge", "pr")

    def run(self, token: str | None = None, inputs: dict[str, str] | None = None, **changes: Any) -> tuple[Ran, Step]:
        """One run of the job; `attempt`: the run's id and the attempt, for a re-run."""
        self.runs += 1
        run, more = changes.pop("attempt", (self.runs, 1)), changes.pop("environ", {})
        head, base = self.repo.git("rev-parse", "pr"), self.repo.git("rev-parse", "main")
        self.pull.push(head)
        payload = pull_request_payload(self.pull.repository, self.pull.number, head, base, head_ref="pr", **changes)
        step = self.make_step(self.repo.root, self.github.api_url)
        given = {"github_token": token or self.github.token, **(inputs or {})}
        return self.start(step, {**step.environ("pull_request", payload, given, run), **more}), step

    def publish(
        self, run: int, head: str | None = None, inputs: dict[str, str] | None = None, **changes: Any
    ) -> tuple[Ran, Step]:
        """The trusted workflow, after the run with that id has ended. It has nothing checked out."""
        folder = self.repo.root.parent / f"publish-{run}-{self.runs}"
        folder.mkdir(exist_ok=True)
        self.runs += 1
        changes = {"head_repo": self.pull.row.head_repo, "branch": self.pull.row.head_ref, **changes}
        payload = workflow_run_payload(self.pull.repository, run, head or self.pull.row.head_sha, **changes)
        step = self.make_step(folder, self.github.api_url)
        given = {"github_token": self.github.token_like("publish"), "command": "publish", **(inputs or {})}
        return self.start(step, step.environ("workflow_run", payload, given, run=(9_000 + run, 1))), step

    def merge(self) -> str:
        """The pull request is merged into main; returns the new commit."""
        self.repo.git("checkout", "--quiet", "main")
        self.repo.git("merge", "--quiet", "--no-ff", "--message", "merge", "pr")
        sha = self.repo.git("rev-parse", "HEAD")
        self.pull.merge(sha)
        return sha

    def push(self, sha: str, branch: str = "main", profile: str = "history", **inputs: str) -> tuple[Ran, Step]:
        """The workflow on the default branch, after a push."""
        step = self.make_step(self.repo.root, self.github.api_url)
        given = {"github_token": self.github.token_like(profile), **inputs}
        environ = step.environ("push", push_payload(self.pull.repository, sha, branch), given, (700, 1))
        return self.start(step, environ), step

    def dispatch(self, by: str = "olivia", profile: str = "maintainer", **changes: Any) -> tuple[Ran, Step]:
        """A person runs the workflow for forks, with the pull request's head checked out."""
        self.runs += 1
        head = self.repo.git("rev-parse", "pr")
        self.repo.git("checkout", "--quiet", "--detach", changes.pop("checked_out", head))
        inputs = {"pull_request": str(self.pull.number), "sha": head, **changes.pop("inputs", {})}
        step = self.make_step(self.repo.root, self.github.api_url)
        given = {"github_token": self.github.token_like(profile), **changes.pop("action_inputs", {})}
        environ = step.environ("workflow_dispatch", dispatch_payload(self.pull.repository, by, inputs), given, (500, 1))
        return self.start(step, {**environ, **changes.pop("environ", {})}), step
