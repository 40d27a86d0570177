"""Coding agents from their check to their end, with small programs instead of the real ones."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.journeys.conftest import FILES
from tests.model_server import Fault, Step, serving
from tidegate.agents import AGENTS
from tidegate.agents.coding import CodingAgent
from tidegate.model.event import End
from tidegate.model.trial import Trial

Make = Callable[..., Any]
PROGRAMS = {one.program: (name, one) for name, one in AGENTS.members.items() if issubclass(one, CodingAgent)}
VERSIONS = {program: f"{program} {agent.tested}" for program, (_, agent) in PROGRAMS.items()}
TYPES = {program: name for program, (name, _) in PROGRAMS.items()}
MODELS = dict.fromkeys(PROGRAMS, "m") | {"opencode": "anthropic/m"}
KEYS = {program: agent.apis(MODELS[program])[0].key for program, (_, agent) in PROGRAMS.items()}
SECRETS = {name: f"dummy-{name.lower()}" for name in (*KEYS.values(), "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN")}
NO_KEYS = dict.fromkeys(KEYS.values(), "")
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "num_turns": 2,
    "total_cost_usd": 0.25,
    "modelUsage": {"m": {"inputTokens": 10, "outputTokens": 5}},
}


class Ran(NamedTuple):
    code: int
    stderr: str
    trial: Trial | None
    record: Path


@pytest.fixture
def run_fake(tmp_path: Path, make_repository: Make, tidegate: Make) -> Callable[..., Ran]:
    """Runs the scenario with a shell script as the agent's program."""

    def run(
        program: str, script: str, *, keys: str = "", env: dict[str, str] | None = None, version: str | None = None
    ) -> Ran:
        bin_ = tmp_path / "agents"
        bin_.mkdir(exist_ok=True)
        if script:
            said = VERSIONS[program] if version is None else version
            check = f'[ "$1" = --version ] && {{ echo "{said}"; exit 0; }}'
            (bin_ / program).write_text(f"#!/bin/sh\n{check}\n{script}\n")
            (bin_ / program).chmod(0o755)
        written = f"{{type: {TYPES[program]}, model: {MODELS[program]}{keys}}}"
        suite = f"version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nagents: {{a: {written}}}\n"
        repository = make_repository()
        repository.commit({**FILES, "tidegate.yaml": suite})
        out = tmp_path / "run"
        path = f"{bin_}:{os.environ['PATH']}" if script else "/usr/bin:/bin"
        ran = tidegate(
            *("run", "--trials", "1", "--out", str(out)),
            cwd=repository.root,
            env={**SECRETS, **(env or {}), "PATH": path},
        )
        records = list(out.rglob("trial.json"))
        trial = Trial.model_validate_json(records[0].read_text()) if records else None
        return Ran(ran.code, ran.stderr, trial, records[0].parent if records else out)

    return run


@pytest.mark.parametrize("program", VERSIONS)
def test_a_program_gets_its_own_key_and_no_other_secret(program: str, run_fake: Callable[..., Ran]) -> None:
    ran = run_fake(program, "env > environment.txt; printf '%s\\n' \"$@\" > arguments.txt")
    assert ran.trial
    assert (ran.trial.end, ran.trial.end_message) == ("crashed", "ended without an end event, exit 0")
    diff = (ran.record / "workspace.diff").read_text()
    seen = {name for name in SECRETS if f"+{name}=" in diff}
    assert seen == {KEYS[program]}
    assert "Add two notes as AGENTS.md says." in diff or program == "claude"


@pytest.mark.parametrize("program", VERSIONS)
def test_without_its_key_nothing_is_run(program: str, run_fake: Callable[..., Ran]) -> None:
    ran = run_fake(program, "exit 0", env=NO_KEYS)
    assert (ran.code, ran.trial) == (4, None)
    assert f"The agent {TYPES[program]} needs a key in {KEYS[program]}" in ran.stderr


@pytest.mark.parametrize("program", VERSIONS)
def test_without_its_program_nothing_is_run(program: str, run_fake: Callable[..., Ran]) -> None:
    ran = run_fake(program, "")
    assert (ran.code, ran.trial) == (4, None)
    assert f"needs the program `{program}` on PATH" in ran.stderr
    assert "npm install --global" in ran.stderr


def test_the_probe_of_its_version_is_confined(run_fake: Callable[..., Ran], tmp_path: Path) -> None:
    ran = run_fake("claude", "exit 0", version=f"2.1.329 $(touch {tmp_path}/run-planted)")
    assert ran.trial, ran.stderr
    assert not (tmp_path / "run-planted").exists()


@pytest.mark.parametrize(
    ("keys", "version", "said"),
    [
        ("", "2.0.5", "`claude` 2.0.5 is too old; 2.1.197 or newer is needed"),
        (", version: 2.1.300", "2.1.329", "`claude` is 2.1.329; the suite pins 2.1.300"),
        ("", "no idea", "`claude --version` printed no version: no idea"),
    ],
)
def test_another_version_than_the_right_one(keys: str, version: str, said: str, run_fake: Callable[..., Ran]) -> None:
    ran = run_fake("claude", "exit 0", keys=keys, version=version)
    assert (ran.code, ran.trial) == (4, None)
    assert said in ran.stderr


def test_the_key_is_not_in_the_record_even_if_the_agent_prints_it(run_fake: Callable[..., Ran]) -> None:
    said = json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "it is KEY"}]}})
    ran = run_fake("claude", f"echo '{said}' | sed \"s/KEY/$ANTHROPIC_API_KEY/\"; echo $ANTHROPIC_API_KEY >&2")
    assert ran.trial
    assert "it is [ANTHROPIC_API_KEY]" in str(ran.trial.events)
    assert not [file for file in ran.record.rglob("*.*") if SECRETS["ANTHROPIC_API_KEY"] in file.read_text()]


def test_at_its_timeout_an_agent_can_still_say_what_it_has_cost(run_fake: Callable[..., Ran]) -> None:
    script = f"trap 'echo \"$said\"; exit 0' INT\nsaid='{json.dumps(RESULT)}'\nwhile :; do sleep 0.1; done"
    ran = run_fake("claude", script, keys=", timeout_secs: 2")
    assert ran.trial
    end = ran.trial.events[-1]
    assert end.type == "end"
    assert (end.end, end.message, end.cost_usd, end.turns) == ("timeout", "the agent was stopped after 2 s", 0.25, 2)


# Asks its model once, by the address and the key that it was given, and says nothing about what came of it.
ASK = """python3 - <<'END'
import os, urllib.error, urllib.request
address = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
key = {"x-api-key": os.environ["ANTHROPIC_API_KEY"]}
request = urllib.request.Request(address, b'{"model": "m", "messages": []}', key)
try:
    urllib.request.urlopen(request).read()
except urllib.error.HTTPError as error:
    error.close()
END
"""


# Sends one request line as it stands, which no library would.
RAW = """python3 - <<'END'
import os, socket, urllib.parse
place = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
with socket.create_connection((place.hostname, place.port)) as connection:
    key = os.environ["ANTHROPIC_API_KEY"]
    connection.sendall(f"GET PATH HTTP/1.1\\r\\nHost: x\\r\\nx-api-key: {key}\\r\\n\\r\\n".encode())
    assert connection.recv(100).startswith(b"HTTP/1.1 400")
END
"""


def test_a_refused_key_ends_the_run_at_once(run_fake: Callable[..., Ran]) -> None:
    retry = json.dumps(
        {"type": "system", "subtype": "api_retry", "error": "authentication_failed", "error_status": 401}
    )
    with serving([], [Fault(401)]) as server:
        env = {"ANTHROPIC_BASE_URL": server.url}
        ran = run_fake("claude", f"{ASK}echo '{retry}'; sleep 100", env=env)
    assert ran.code == 4
    assert "The agent a was refused by its model's provider" in ran.stderr


@pytest.mark.parametrize(
    ("then", "end", "cause"), [("exec sleep 100", "timeout", None), ("exit 1", "outage", "reported_outage")]
)
def test_an_outage_that_only_the_agents_log_reports_is_not_the_providers(
    then: str, end: str, cause: str | None, run_fake: Callable[..., Ran]
) -> None:
    """Every program of a trial can write into that log. The model proxy has seen no request at all."""
    retry = json.dumps({"type": "system", "subtype": "api_retry", "error": "overloaded", "error_status": 529})
    ran = run_fake("claude", f"echo '{retry}'; {then}", keys=", timeout_secs: 2")
    assert ran.trial
    assert (ran.trial.end, ran.trial.not_measured) == (end, cause)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_the_provider_refuses_is_no_outage(status: int, run_fake: Callable[..., Ran]) -> None:
    """As one with a tool's schema that the provider does not take; the agent reports it as an outage."""
    retry = json.dumps({"type": "system", "subtype": "api_retry", "error": "overloaded", "error_status": 529})
    with serving([], [Fault(status)]) as server:
        env = {"ANTHROPIC_BASE_URL": server.url}
        ran = run_fake("claude", f"{ASK}echo '{retry}'; exit 1", env=env)
    assert ran.trial
    assert ran.trial.not_measured == "refused_request"
    assert f"the model's provider answered {status}" in ran.trial.reason


def test_a_control_character_and_then_a_hang_is_no_outage(run_fake: Callable[..., Ran]) -> None:
    with serving([Step("Well.")]) as server:
        raw = RAW.replace("PATH", "/v1/models?\\001")
        ran = run_fake(
            "claude", f"{raw}exec sleep 60", keys=", timeout_secs: 3", env={"ANTHROPIC_BASE_URL": server.url}
        )
    assert ran.trial
    assert (ran.trial.end, ran.trial.not_measured) == ("timeout", None)
    assert "answered" not in ran.trial.end_message
    assert server.requests == []


def test_a_shell_in_which_the_recorder_is_passed_by_is_not_measured(
    tmp_path: Path, run_fake: Callable[..., Ran]
) -> None:
    reset = tmp_path / "agents/reset.sh"
    reset.parent.mkdir(exist_ok=True)
    reset.write_text("PATH=/usr/bin:/bin\n")
    ran = run_fake("codex", "echo never", keys=f", env: {{BASH_ENV: {reset}}}")
    assert ran.trial
    assert ran.trial.not_measured == "agent_error"
    assert "notes does not lead to the recorder" in ran.trial.reason


@pytest.mark.parametrize("then", ["exit 1", "exec sleep 60"])
def test_an_agent_that_is_silent_about_its_providers_failure_is_not_measured(
    then: str, run_fake: Callable[..., Ran]
) -> None:
    """As Gemini CLI and opencode are: the model proxy has seen what they do not tell."""
    with serving([], [Fault(503)] * 3) as server:
        ran = run_fake("claude", ASK + then, keys=", timeout_secs: 3", env={"ANTHROPIC_BASE_URL": server.url})
    assert ran.trial
    assert (ran.trial.end, ran.trial.not_measured) == ("outage", "outage")
    assert "the model's provider answered 503" in ran.trial.end_message
    assert len(server.requests) == 3, "the trial was tried again"
    assert server.requests[0][2]["x-api-key"] == SECRETS["ANTHROPIC_API_KEY"]


def test_tokens_that_an_agent_does_not_tell_are_the_relays(run_fake: Callable[..., Ran]) -> None:
    with serving([Step("Well.")]) as server:
        ran = run_fake("claude", ASK, env={"ANTHROPIC_BASE_URL": server.url})
    assert ran.trial
    end = ran.trial.events[-1]
    assert isinstance(end, End)
    assert (end.end, end.tokens_in, end.tokens_out) == ("crashed", 150, 20)


def test_a_shell_that_never_finds_the_target_is_not_measured(run_fake: Callable[..., Ran]) -> None:
    """The agent resets PATH for its commands alone, where no check before its start can see it."""
    use = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "notes list"}}
    called = {"type": "assistant", "message": {"id": "m", "content": [use]}}
    came = {"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": "Exit code 127"}
    lines = [called, {"type": "user", "message": {"content": [came]}}, RESULT]
    ran = run_fake("claude", "\n".join(f"printf '%s\\n' '{json.dumps(line)}'" for line in lines))
    assert ran.trial
    assert (ran.trial.not_measured, ran.trial.end) == ("record_lost", "completed")
    assert ran.trial.reason.startswith("the agent's shell does not find notes: it resets PATH, or ")


def test_the_raw_output_and_when_each_line_came_are_kept(run_fake: Callable[..., Ran]) -> None:
    ran = run_fake("claude", f"echo 'no json'; echo '{json.dumps(RESULT)}'; echo oops >&2")
    assert ran.trial
    assert ran.trial.end == "completed"
    output = ran.record
    assert len((output / "agent.stdout").read_text().splitlines()) == 2
    assert len((output / "agent.arrivals").read_text().splitlines()) == 2
    assert (output / "agent.stderr").read_text() == "oops\n"
