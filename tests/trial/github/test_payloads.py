"""GitHub's examples of every event that can start Tidegate, run to the end; and forks, for which it has none."""

from __future__ import annotations

import asyncio
import copy
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import Repository
from tests.gh.fake.server import FakeGitHub, PullRequest
from tests.gh.job import MakeStep, connect_here
from tests.journeys.conftest import FILES
from tests.unit.github.test_payloads import ALL, EVERY, OURS, SUITE, Example, Payload
from tidegate.errors import TidegateError
from tidegate.github import Outside, act
from tidegate.model.progress import Progress


class Ended(NamedTuple):
    """How the job ended, and what it left."""

    code: int
    outputs: dict[str, str]
    summary: str
    comments: list[str]
    commands: list[str]


OTHERS = [example for example in EVERY if example.event not in OURS]
# One of each action, and strangers who open and close one: other examples differ in fields that nothing here reads.
KINDS = [
    example
    for name, example in {re.sub(r"\.\d+", "", example.name): example for example in ALL}.items()
    if " " not in name or "opened " in name or "closed " in name
]


def end(example: Example, pull: PullRequest, repo: Repository, make_step: MakeStep, **inputs: str) -> Ended:
    """The job that the payload starts; its numbers, names and commits are made those of the pull request."""
    payload = copy.deepcopy(example.payload)
    stranger = "from a" in example.name or "Dependabot" in example.name
    _fit(payload, pull, repo)
    step = make_step(repo.root, pull.github.api_url)
    token = pull.github.token_like("read-only" if stranger else "documented")
    environ = step.environ(example.event, payload, {"github_token": token, **inputs})
    commands: list[str] = []
    outside = Outside(environ, Progress(), connect_here, commands.append, lambda _: None)
    try:
        code = asyncio.run(act(outside))
    except TidegateError as error:
        code = error.exit_code
    return Ended(code, step.outputs(), step.summary(), [one.body for one in pull.bot_comments()], commands)


def _fit(payload: Payload, pull: PullRequest, repo: Repository) -> None:
    before = payload.get("repository", {}).get("full_name")
    payload["repository"] = {**payload.get("repository", {}), "full_name": pull.repository}
    if "number" in payload and "pull_request" in payload:
        payload["number"] = payload["pull_request"]["number"] = pull.number
        head, base = payload["pull_request"]["head"], payload["pull_request"]["base"]
        head["sha"], base["ref"] = repo.git("rev-parse", "pr"), "main"
        if head["repo"] and head["repo"]["full_name"] == before:
            head["repo"]["full_name"] = pull.repository
        pull.push(head["sha"])
    if "merge_group" in payload:
        payload["merge_group"] |= {"base_sha": repo.git("rev-parse", "main"), "head_sha": repo.git("rev-parse", "HEAD")}


@pytest.fixture(scope="module")
def repo(shared_path: Path) -> Repository:
    """A pull request that touches nothing that an agent could notice: what is looked at here is the event."""
    repo = Repository(shared_path / "repo")
    repo.commit({**FILES, "tidegate.yaml": SUITE})
    repo.branch("pr", {"LICENSE": "MIT\n"})
    return repo


@pytest.mark.parametrize("example", KINDS, ids=lambda example: example.name)
def test_every_payload_ends_as_the_table_says(
    example: Example, github: FakeGitHub, repo: Repository, make_step: MakeStep
) -> None:
    ended = end(example, github.pull_request(), repo, make_step)

    stranger = "from a" in example.name or "Dependabot" in example.name
    match example.event, example.payload.get("action"):
        case "pull_request", "closed":
            assert (ended.code, ended.outputs["verdict"], ended.comments) == (0, "not_run", [])
        case "pull_request", _:
            assert (ended.code, ended.outputs["verdict"], ended.outputs["reason"]) == (0, "passed", "nothing_to_do")
            assert len(ended.comments) == (0 if stranger else 1)
            assert any("title=no comment" in command for command in ended.commands) == stranger
        case "merge_group", _:
            assert (ended.code, ended.outputs["verdict"], ended.comments) == (0, "passed", [])
        case "workflow_run", _:  # none of the examples was started by a pull request
            assert (ended.code, ended.outputs["verdict"], ended.comments) == (0, "not_run", [])
        case _:  # workflow_dispatch: the examples have no inputs
            assert (ended.code, ended.outputs["verdict"], ended.comments) == (2, "not_run", [])
    assert "Tidegate" in ended.summary


def test_every_other_event_of_github_has_nothing_to_compare(
    github: FakeGitHub, repo: Repository, make_step: MakeStep
) -> None:
    """Also those that no workflow can be started by. No example of `push` is of a pull request here."""
    pull = github.pull_request()
    for example in OTHERS:
        ended = end(example, pull, repo, make_step)

        said = ended.code, ended.outputs["verdict"], ended.outputs["reason"]
        assert said == (0, "not_run", "nothing_to_do"), example.name
    assert github.front.writes() == []


@pytest.mark.parametrize("number", [5, 6, 7])
def test_a_draft_is_skipped_where_one_says_so(
    number: int, github: FakeGitHub, repo: Repository, make_step: MakeStep
) -> None:
    drafts = [example for example in ALL if example.name == f"pull_request.converted_to_draft.{number}"]
    if not drafts:
        pytest.skip("npm could not install the examples")

    ended = end(drafts[0], github.pull_request(), repo, make_step, drafts="skip")

    assert (ended.code, ended.outputs["reason"], ended.comments) == (0, "draft", [])
