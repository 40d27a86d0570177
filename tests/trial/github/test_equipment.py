"""The stand-ins themselves: they refuse what GitHub and its runner refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.gh.emulated.runner import MalformedFileError, Step, pull_request_payload, read_key_values, read_log
from tests.gh.emulated.server import GitHub


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("PATCH", "/repos/acme/x/issues/1", {"title": "x"}, "Path not found"),
        ("POST", "/repos/acme/x/issues/1/comments", {"bdy": "x"}, "'body' is a required property"),
        ("GET", "/repos/acme/x/issues/1/comments?per_page=many", None, "per_page"),
    ],
)
def test_a_request_that_github_does_not_describe_is_noticed(
    emulated: GitHub, method: str, path: str, body: Any, said: str
) -> None:
    requests.request(method, emulated.api_url + path, json=body, timeout=10)

    (violation,) = emulated.front.violations
    assert said in violation
    emulated.front.violations.clear()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=b=c\n\n", {"a": "b=c"}),
        ("a=x<<y\n", {"a": "x<<y"}),
        ("a<<E\none\n\ntwo=2\nE\nb=\n", {"a": "one\n\ntwo=2", "b": ""}),
    ],
)
def test_outputs_are_read_as_the_runner_reads_them(text: str, values: dict[str, str]) -> None:
    assert read_key_values(text) == values


@pytest.mark.parametrize("text", ["nonsense\n", "a<<E\nendless\n", "=b\n", "a<<\nx\n"])
def test_a_malformed_file_fails_the_step(text: str) -> None:
    with pytest.raises(MalformedFileError):
        read_key_values(text)


def test_commands_are_read_as_the_runner_reads_them() -> None:
    log = read_log(
        "hello\n::error file=a%2Cb.py,line=3::bad%0Athing %2525\n::unknown::x\n ##[warning]old\n"
        "::stop-commands::T0\n::error::quoted\n##[error]quoted\n::T0::\n::notice::after\n"
    )

    assert [(command.name, command.message) for command in log.annotations()] == [
        ("error", "bad\nthing %25"),
        ("warning", "old"),
        ("notice", "after"),
    ]
    assert log.commands[0].properties == {"file": "a,b.py", "line": "3"}
    assert "::error::quoted" in log.shown


def test_of_each_level_ten_annotations_are_shown() -> None:
    assert len(read_log("::error::x\n" * 11 + "::notice::y\n").annotations()) == 11


def test_a_step_runs_a_program_with_the_runner_s_variables_and_nothing_else(
    make_step: Callable[..., Step], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    step = make_step(tmp_path)
    payload = pull_request_payload("acme/x", 7, head_sha="1" * 40, base_sha="2" * 40)
    environ = step.environ("pull_request", payload, {"github_token": "t"}, run=(5, 2))

    ran = step.run(
        environ, ["sh", "-c", 'env; echo "a=1" >> "$GITHUB_OUTPUT"; echo "# x" >> "$GITHUB_STEP_SUMMARY"; exit 3']
    )

    assert (ran.exit_code, step.outputs(), step.summary(), step.variables()) == (3, {"a": "1"}, "# x\n", {})
    assert {"INPUT_GITHUB_TOKEN=t", "GITHUB_RUN_ATTEMPT=2", "GITHUB_REPOSITORY=acme/x"} <= set(ran.log.shown)
    assert "secret" not in ran.stdout
