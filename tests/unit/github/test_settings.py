"""The action's inputs and the runner's variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.errors import ConfigurationError
from tidegate.github.settings import GitHubJob, Settings

JOB = {
    "GITHUB_EVENT_NAME": "pull_request",
    "GITHUB_EVENT_PATH": "/github/workflow/event.json",
    "GITHUB_REPOSITORY": "acme/tool",
    "GITHUB_WORKSPACE": "/github/workspace",
}


@pytest.mark.parametrize("environ", [{"HOME": "/root"}, {"INPUT_COMMENT": " ", "INPUT_GITHUB_TOKEN": ""}])
def test_an_input_that_is_absent_or_blank_has_its_default(environ: dict[str, str]) -> None:
    assert Settings.from_environ(environ) == Settings()


def test_every_input_is_read() -> None:
    settings = Settings.from_environ(
        {
            "INPUT_GITHUB_TOKEN": "ghs_x",
            "INPUT_CONFIG": "app/tidegate.yaml",
            "INPUT_PATH": "sub/tool",
            "INPUT_INSTANCE": "app",
            "INPUT_COMMAND": "run",
            "INPUT_ARGS": "--jobs 2",
            "INPUT_COMMENT": "on-regression",
            "INPUT_DRAFTS": "skip",
            "INPUT_FORK_WITHOUT_KEY": "fail",
            "INPUT_ACCEPT_LABEL": "fine",
            "INPUT_PUBLISH_TIMEOUT": "5",
        }
    )

    assert settings.github_token is not None
    assert settings.github_token.get_secret_value() == "ghs_x"
    assert settings.model_dump(exclude={"github_token"}) == {
        "config": "app/tidegate.yaml",
        "path": "sub/tool",
        "instance": "app",
        "command": "run",
        "args": "--jobs 2",
        "comment": "on-regression",
        "drafts": "skip",
        "fork_without_key": "fail",
        "accept_label": "fine",
        "publish_timeout": 5.0,
    }


def test_the_token_is_never_shown() -> None:
    assert "ghs_x" not in repr(Settings.from_environ({"INPUT_GITHUB_TOKEN": "ghs_x"}))


def test_all_wrong_inputs_are_named_at_once_with_what_they_may_be() -> None:
    with pytest.raises(ConfigurationError) as refused:
        Settings.from_environ({"INPUT_COMMENT": "sometimes", "INPUT_DRAFTS": "Run"})

    assert sorted(refused.value.message.splitlines()) == [
        "input `comment`: `sometimes`: input should be 'always', 'on-regression' or 'off'",
        "input `drafts`: `Run`: input should be 'run' or 'skip'",
    ]


def test_the_runner_s_variables() -> None:
    runner = GitHubJob.from_environ(
        {**JOB, "GITHUB_RUN_ID": "12", "GITHUB_RUN_ATTEMPT": "3", "GITHUB_OUTPUT": "/github/file_commands/out"}
    )

    assert (runner.repository, runner.run_id, runner.run_attempt) == ("acme/tool", 12, 3)
    assert (runner.output, runner.step_summary) == (Path("/github/file_commands/out"), None)
    assert runner.api_url == "https://api.github.com"
    assert runner.run_url == "https://github.com/acme/tool/actions/runs/12"


def test_an_enterprise_server_is_honoured() -> None:
    runner = GitHubJob.from_environ({**JOB, "GITHUB_API_URL": "https://ghe.example/api/v3"})

    assert runner.api_url == "https://ghe.example/api/v3"


def test_outside_of_github_the_missing_variables_are_named() -> None:
    with pytest.raises(ConfigurationError) as refused:
        GitHubJob.from_environ({"GITHUB_REPOSITORY": "tool", "GITHUB_RUN_ID": "x"})

    assert {line.split(":")[0] for line in refused.value.message.splitlines()} == {
        *("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_WORKSPACE"),
        *("GITHUB_REPOSITORY", "GITHUB_RUN_ID"),
    }
    assert "tidegate pr" in refused.value.advice
