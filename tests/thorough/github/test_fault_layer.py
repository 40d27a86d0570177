"""33 kinds of fault at each request to GitHub: the exit code is the verdict's, in bounded time, with one comment."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests.gh.emulated.front import Fault, Front
from tests.gh.emulated.runner import pull_request_payload, read_key_values, workflow_run_payload
from tests.gh.fake.server import BlobHost, FakeGitHub, PullRequest
from tests.gh.fake.state import BOT
from tests.gh.fixtures import make_result
from tests.make import HEAD_SHA
from tests.unit.github.test_artifact import packed
from tidegate.errors import TidegateError
from tidegate.github import Outside, act
from tidegate.github.client import GitHubRepository, RequestPace, connect
from tidegate.github.comment import with_marker
from tidegate.github.event import PullRequestEvent, read_event
from tidegate.github.job import Job
from tidegate.github.publishing import Subject
from tidegate.github.pull_request import conclude
from tidegate.github.settings import GitHubJob, Settings
from tidegate.model.marker import Marker, short
from tidegate.model.progress import Progress
from tidegate.model.result import Result
from tidegate.reports.result_json import result_json

Call = tuple[str, str]  # method, and what its path has to match
QUICK = RequestPace(timeout=30, retries=1, backoff=0, longest_wait=0, between_writes=0)
LABEL = "tidegate: accept"
PROFILE = {"workflow_run": "publish"}
OLD = "0" * 40
RED, GREEN = make_result(head=HEAD_SHA, add="regressed"), make_result(head=HEAD_SHA, add="ok")
LIMIT = "You have exceeded a secondary rate limit."


def slowly(*parts: bytes) -> Callable[[BufferedIOBase], None]:
    """An answer whose parts come one after the other, slower than any deadline of a test."""

    def speak(out: BufferedIOBase) -> None:
        for part in parts:
            out.write(part)
            out.flush()
            time.sleep(0.05)

    return speak


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
HANG = slowly(*[b""] * 40)
KINDS: dict[str, dict[str, Any]] = {
    **{f"{status}": {"status": status, "message": "no"} for status in (400, 401, 403, 404, 410, 418, 422, 500, 503)},
    "502 after it was done": {"when": "after"},
    "reset": {"drop": True},
    "reset after it was done": {"drop": True, "when": "after"},
    "secondary limit, Retry-After": {"status": 403, "message": LIMIT, "headers": {"Retry-After": "1"}},
    "secondary limit, a long Retry-After": {"status": 403, "message": LIMIT, "headers": {"Retry-After": "3600"}},
    "secondary limit": {"status": 403, "message": LIMIT},
    "429": {"status": 429, "message": "slow down"},
    "primary limit": {"status": 403, "message": "API rate limit exceeded", "headers": {"X-RateLimit-Remaining": "0"}},
    "a redirect to another host": {"status": 301, "headers": {"Location": "https://elsewhere.invalid/x"}},
    "a redirect to another scheme": {"status": 301, "headers": {"Location": "ftp://127.0.0.1/x"}},
    "a redirect to nowhere": {"status": 301, "headers": {"Location": "http://["}},
    "a redirect without a place": {"status": 301},
    "a temporary redirect": {"status": 307, "headers": {"Location": "https://elsewhere.invalid/x"}},
    "202 for ever": {"status": 202, "body": "{}"},
    "a proxy's page": {"status": 200, "body": "<html>Sign in</html>"},
    "half an answer": {"status": 200, "body": '{"id": '},
    "null": {"status": 200, "body": "null"},
    "a list of nonsense": {"status": 200, "body": '[1, "two"]'},
    "an object of nonsense": {"status": 200, "body": '{"id": "x", "user": 3, "labels": 7}'},
    "nothing": {"status": 200, "body": ""},
    "no HTTP": {"speak": slowly(b"SSH-2.0-OpenSSH_9.2\r\n")},
    "no answer": {"speak": HANG},
    "a byte now and then, of the headers": {"speak": slowly(HEAD, *[b"X: y\r\n"] * 40)},
    "a byte now and then, of the body": {"speak": slowly(HEAD + b"Content-Length: 999\r\n\r\n", *[b"["] * 40)},
}
ENDLESS = ("202 for ever", "no answer", "a byte now and then, of the headers", "a byte now and then, of the body")
TRANSIENT = ("500", "503", "502 after it was done", "reset", "reset after it was done", "secondary limit, Retry-After")
COMMENTING = {
    "who, by REST": ("GET", "^/user$"),
    "who, by GraphQL": ("POST", "^/graphql$"),
    "list": ("GET", r"/issues/1/comments(\?|$)"),
    "head": ("GET", "/pulls/1$"),
    "update": ("PATCH", "/issues/comments/"),
}
PRUNING = {"prune": ("DELETE", "/issues/comments/")}
CREATING = {"create": ("POST", "/issues/1/comments$")}
ACCEPTING = {
    "pull request": ("GET", "/pulls/1$"),
    "who set the label": ("GET", "/issues/1/events"),
    "what our comment showed": ("GET", r"/issues/1/comments(\?|$)"),
    "who may": ("GET", "/permission$"),
}
UNCONFIRMED = ("title=the label could not be read", "title=not accepted", "title=the label was not read")
PUBLISHING = {
    "which pull request": ("GET", "/pulls[?]"),
    "which artifact": ("GET", "/artifacts[?]"),
    "the archive": ("GET", "/zip$"),
    **CREATING,
}


def test_there_are_33_kinds() -> None:
    assert len(KINDS) == 33


@dataclass
class Ended:
    """What a job left behind, and how long it took."""

    code: int
    outputs: dict[str, str]
    summary: str
    warnings: list[str]
    seconds: float


class Layer:
    """A GitHub that spoils one kind of request, and jobs that come to their end before it."""

    def __init__(self, github: FakeGitHub, folder: Path) -> None:
        self.github, self.folder = github, folder

    def pull_request(self, call: Call, kind: str, times: int, head_repo: str | None = "") -> PullRequest:
        """A new pull request, and what goes wrong with that call of it."""
        self.github.state.left.clear()
        pull = self.github.pull_request(head_repo)
        method, path = call
        self.github.front.faults[:] = [Fault(method, path, times=times, **KINDS[kind])]
        return pull

    def job(
        self, pull: PullRequest, kind: str, name: str, payload: dict[str, Any], profile: str = ""
    ) -> tuple[Job, list[str]]:
        folder = self.folder / pull.repository.replace("/", "-")
        folder.mkdir()
        (folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        environ = {
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_REPOSITORY": pull.repository,
            "GITHUB_API_URL": self.github.api_url,
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_RUN_ID": "9",
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "INPUT_PUBLISH_TIMEOUT": "0.25" if kind in ENDLESS else "20",
            "INPUT_GITHUB_TOKEN": self.github.token_like(profile or PROFILE.get(name, "documented")),
        }
        commands: list[str] = []
        outside = Outside(environ, Progress(), quickly, commands.append, lambda _: None)
        return Job(Settings.from_environ(environ), GitHubJob.from_environ(environ), outside), commands

    def ended(self, job: Job, commands: list[str], start: Coroutine[None, None, int]) -> Ended:
        before = time.monotonic()
        try:
            code = asyncio.run(start)
        except TidegateError as error:
            code = error.exit_code
        seconds = time.monotonic() - before
        assert job.runner.output
        assert job.runner.step_summary
        outputs = read_key_values(job.runner.output.read_text(encoding="utf-8"))
        return Ended(code, outputs, job.runner.step_summary.read_text(encoding="utf-8"), commands, seconds)

    def conclude(self, pull: PullRequest, kind: str, result: Result, **changes: str) -> Ended:
        """The end of a pull request's job with this result."""
        payload = pull_request_payload(pull.repository, 1, HEAD_SHA, OLD, **changes)
        event = read_event("pull_request", payload)
        assert isinstance(event, PullRequestEvent)
        job, commands = self.job(pull, kind, "pull_request", payload)
        return self.ended(job, commands, conclude(event, result, Subject(1, HEAD_SHA, job.connect()), job))


def quickly(settings: Settings, runner: GitHubJob) -> GitHubRepository:
    """The product's way to GitHub, without pauses."""
    return connect(runner.api_url, settings.github_token or SecretStr(""), runner.repository, QUICK)


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layer]:
    """One server for all cases; each case has a repository of its own, as a thread left behind may still ask."""
    folder, front, blobs = tmp_path_factory.mktemp("workspace"), Front(), BlobHost()
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    yield Layer(FakeGitHub(front, blobs), folder)
    front.stop()
    blobs.stop()


def verdicts_of(pull: PullRequest, head: str = HEAD_SHA) -> list[str]:
    """What our comments say of the commit."""
    markers = [Marker.parse(comment.body) for comment in pull.bot_comments()]
    return [marker.verdict for marker in markers if marker and marker.head == head]


@pytest.mark.parametrize("result", [RED, GREEN], ids=["failing", "passing"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pull_request_ends_with_its_verdict(layer: Layer, kind: str, result: Result) -> None:
    calls = {**COMMENTING, **PRUNING, **CREATING}
    # The way to GitHub is the same for both results: with the passing one, the comment alone cannot be written.
    for call, times in itertools.product(calls, (1, 99)) if result is RED else (("update", 99), ("create", 99)):
        pull = layer.pull_request(calls[call], kind, times)
        standing = 2 if call in PRUNING else 0 if call in CREATING else 1
        for run in range(standing):  # an older commit was green
            older = Marker(instance="default", head=OLD, run=run, attempt=1, verdict="passed")
            pull.say(with_marker(older, "passed"), BOT)

        end = layer.conclude(pull, kind, result)

        case, verdict = (call, times, end), result.verdict.state
        assert (end.code, end.outputs["verdict"]) == (result.verdict.exit_code, verdict), case
        assert verdict in end.summary, case
        assert end.seconds < (4 if kind in ENDLESS else 25), case
        assert len(pull.bot_comments()) <= (2 if call in PRUNING else 1), case  # what GitHub does not delete stays
        assert set(verdicts_of(pull)) <= {verdict}, case
        if kind not in ENDLESS:  # a thread left behind may still write
            published = verdicts_of(pull) == [verdict]
            assert published != any("title=no comment" in command for command in end.warnings), case
            assert published or times == 99 or kind not in TRANSIENT, case


@pytest.mark.parametrize("kind", KINDS)
def test_an_acceptance_that_github_does_not_confirm_is_none(layer: Layer, kind: str) -> None:
    for call, times in itertools.product(ACCEPTING, (1, 99)):
        pull = layer.pull_request(ACCEPTING[call], kind, times)
        for fault in layer.github.front.faults:  # a thread left behind by the case before must not use it up
            fault.path = rf"/{pull.repository}\b.*{fault.path}"
        red = Marker(instance="default", head=HEAD_SHA, run=8, attempt=1, verdict="failed", reason="regression")
        red = red.model_copy(update={"red": tuple(map(short, RED.verdict.red))})
        pull.say(with_marker(red, "failed"), BOT)
        pull.label(LABEL)

        end = layer.conclude(pull, kind, RED, action="labeled", label=LABEL, sender="olivia")

        case, verdict = (call, times, end), "passed" if end.code == 0 else "failed"
        assert end.code in ((0, 1) if times == 1 else (1,)), case
        assert end.code == 0 or times == 99 or kind not in TRANSIENT, case
        assert end.code == 1 or kind not in ENDLESS, case
        assert (end.code == 1) == any(said in line for line in end.warnings for said in UNCONFIRMED), case
        assert end.outputs["verdict"] == verdict, case
        assert end.seconds < (4 if kind in ENDLESS else 25), case
        stale = ["failed"] if any("title=no comment" in command for command in end.warnings) else [verdict]
        assert verdicts_of(pull) in ([verdict], stale), case
        assert len(pull.bot_comments()) == 1, case


@pytest.mark.parametrize("kind", KINDS)
def test_an_upload_is_published_once_or_the_job_fails(layer: Layer, kind: str) -> None:
    for call, times in itertools.product(PUBLISHING, (1, 99)):
        pull = layer.pull_request(PUBLISHING[call], kind, times, "mallory/fork")
        pull.upload(7, "tidegate-result", packed(result_json(RED)))
        payload = workflow_run_payload(pull.repository, 7, HEAD_SHA, head_repo="mallory/fork")
        job, commands = layer.job(pull, kind, "workflow_run", payload)

        end = layer.ended(job, commands, act(job.outside))

        case = (call, times, end)
        assert end.code in (0, 4), case
        assert end.outputs["verdict"] == "not_run", case
        assert end.seconds < (4 if kind in ENDLESS else 25), case
        assert len(pull.bot_comments()) <= 1, case
        assert set(verdicts_of(pull)) <= {"failed"}, case
        assert end.code == 0 or "could not run" in end.summary, case
        assert end.code == 0 or times == 99 or kind not in TRANSIENT, case


def test_the_layer_can_fail(layer: Layer) -> None:
    """Two comments are seen, and a GitHub without faults gives one."""
    pull = layer.pull_request(("GET", "^/nothing$"), "500", 1)
    layer.conclude(pull, "500", RED)
    assert verdicts_of(pull) == ["failed"]

    pull.say(pull.bot_comments()[0].body, BOT)
    assert verdicts_of(pull) == ["failed", "failed"]
