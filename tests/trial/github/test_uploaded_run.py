"""`tidegate view URL`: what is fetched of a workflow run, and what is said if nothing is."""

from __future__ import annotations

import pytest

from tests.gh.fake.server import FakeGitHub, PullRequest
from tests.gh.fixtures import make_result
from tests.unit.github.test_artifact import packed
from tidegate.errors import CannotRunError, ConfigurationError, TidegateError
from tidegate.github.uploaded_run import uploaded_result
from tidegate.model.result import Result
from tidegate.reports.result_json import result_json

RED = make_result(add="regressed")
NAME = "tidegate-result"


@pytest.fixture
def pull(github: FakeGitHub) -> PullRequest:
    return github.pull_request()


def fetched(pull: PullRequest, instance: str = "default", **environ: str) -> Result:
    url = f"https://github.com/{pull.repository}/actions/runs/77/attempts/2"
    token = {"GH_TOKEN": pull.github.token_with({"actions": "read", "metadata": "read"})}
    return uploaded_result(url, instance, {"GITHUB_API_URL": pull.github.api_url, **token, **environ})


def refused(pull: PullRequest, **more: str) -> TidegateError:
    with pytest.raises((ConfigurationError, CannotRunError)) as raised:
        fetched(pull, **more)
    return raised.value


def test_the_newest_result_of_the_run_is_fetched(pull: PullRequest) -> None:
    pull.upload(77, NAME, packed(result_json(make_result(add="ok"))))
    pull.upload(77, NAME, packed(result_json(RED)))
    pull.upload(78, NAME, packed(result_json(make_result(add="ok"))))
    assert [row.state for row in fetched(pull).rows] == ["regressed"]


def test_each_suite_has_a_result_of_its_own(pull: PullRequest) -> None:
    pull.upload(77, f"{NAME}-web", packed(result_json(make_result(instance="web", add="ok"))))
    assert fetched(pull, instance="web").instance == "web"
    assert "`--instance NAME`" in refused(pull).advice


def test_a_poisoned_or_expired_artifact_is_not_shown(pull: PullRequest) -> None:
    pull.upload(77, NAME, packed(result_json(RED)), expired=True)
    assert f"has no artifact `{NAME}`" in refused(pull).message
    pull.upload(77, NAME, packed("{}"))
    assert "is not shown: result.json does not have the form of one" in refused(pull).message


def test_without_a_token_it_says_how_to_get_one(pull: PullRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert refused(pull, GH_TOKEN="").advice.startswith("Run `gh auth login`, or set GH_TOKEN")


def test_another_address_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="is not the address of a workflow run"):
        uploaded_result("https://github.com/o/r/pull/3", "default", {})


@pytest.mark.parametrize(("fork", "shown"), [("", "passed"), ("mallory/fork", "failed")])
def test_a_fork_cannot_say_that_it_was_accepted(github: FakeGitHub, fork: str, shown: str) -> None:
    pull = github.pull_request(fork)
    pull.upload(77, NAME, packed(result_json(RED.model_copy(update={"verdict": RED.verdict.accepted("olivia")}))))
    assert fetched(pull).verdict.state == shown
