"""Budgets bind while an agent works: the model proxy counts what its requests cost, and passes no more of them on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.journeys.conftest import FILES
from tests.model_server import Fault, Step, serving
from tidegate.model.event import End
from tidegate.model.trial import Trial

Make = Callable[..., Any]
# Each answer of the scripted model: 100 new tokens, 50 written to the cache, 20 of output. For claude-haiku-4-5 that is
# 100 · $1 + 50 · $1.25 + 20 · $5 per million: $0.0002625.
ASKED = 10
ASK_AND_ASK = f"""\
#!/bin/sh
[ "$1" = --version ] && {{ echo "2.1.329 (Claude Code)"; echo "codex-cli 0.169.0"; exit 0; }}
python3 - "$@" <<'END'
import json, os, sys, urllib.error, urllib.request
address, key = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", {{"x-api-key": os.environ["ANTHROPIC_API_KEY"]}}
model = dict(zip(sys.argv, sys.argv[1:])).get("--model", "m")
body = json.dumps({{"model": model, "messages": []}}).encode()
for _ in range({ASKED}):
    try:
        urllib.request.urlopen(urllib.request.Request(address, body, key)).read()
    except urllib.error.HTTPError as error:
        print(json.dumps({{"type": "note", "text": error.read().decode()}}))
END
THEN
"""
RESULT = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1}


class Ran(NamedTuple):
    code: int
    stderr: str
    trial: Trial
    result: dict[str, Any]
    requests: int

    @property
    def end(self) -> End:
        end = self.trial.events[-1]
        assert isinstance(end, End)
        return end


@pytest.fixture
def run(tmp_path: Path, make_repository: Make, tidegate: Make) -> Callable[..., Ran]:
    def one(suite: str, *, model: str = "claude-haiku-4-5", then: str = "", faults: list[Fault] | None = None) -> Ran:
        programs = tmp_path / "agents"
        programs.mkdir()
        (programs / "claude").write_text(ASK_AND_ASK.replace("THEN", then))
        (programs / "claude").chmod(0o755)
        agent = f"agents: {{a: {{type: claude-code, model: {model}}}}}\n"
        written = f"version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\n{agent}"
        repository = make_repository()
        repository.commit({**FILES, "tidegate.yaml": written + suite})
        out = tmp_path / "run"
        with serving([Step("Well.")], faults) as server:
            env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
            env["PATH"] = f"{programs}:{os.environ['PATH']}"
            ran = tidegate("run", "--trials", "1", "--out", str(out), cwd=repository.root, env=env)
            requests = len(server.requests)
        trial = Trial.model_validate_json(next(out.rglob("trial.json")).read_text())
        (result,) = json.loads((out / "run.json").read_text())["trials"]
        return Ran(ran.code, ran.stderr, trial, result, requests)

    return one


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-haiku-4-5-20251001"])
def test_dollars_bind_at_the_built_in_price(model: str, run: Callable[..., Ran]) -> None:
    """Three answers are 0.0007875, the first sum that is not below 0.0006."""
    ran = run("budget: {usd: 0.0006}\n", model=model)
    assert ran.requests == 3
    assert (ran.trial.end, ran.trial.not_measured) == ("budget", "budget")
    assert ran.trial.reason == "the run's $0.0006 were used up"
    assert (ran.end.tokens_in, ran.end.tokens_out) == (3 * 150, 3 * 20)


def test_a_price_of_the_suite_s_own_comes_first(run: Callable[..., Ran]) -> None:
    """At $100 per million tokens of output and nothing else, an answer is 0.002."""
    ran = run("budget: {usd: 0.0039}\nprices: {claude-haiku-4-5: {output: 100}}\n")
    assert ran.requests == 2


def test_tokens_bind_for_a_model_without_a_price_and_dollars_are_said_not_to(run: Callable[..., Ran]) -> None:
    ran = run("budget: {usd: 0.0006, tokens: 600}\n", model="a-new-model")
    assert ran.requests == 4  # of 170 tokens each
    assert ran.trial.reason == "the run's 600 tokens were used up"
    assert "the budget in dollars cannot bind a: no price is known for a-new-model" in ran.stderr


def test_what_was_asked_for_again_is_in_the_sum(run: Callable[..., Ran]) -> None:
    """The agent reports one answer of the ten that it got."""
    usage = {"m": {"inputTokens": 150, "outputTokens": 20}}
    ran = run("", then=f"echo '{json.dumps(RESULT | {'modelUsage': usage})}'")
    assert (ran.requests, ran.trial.end) == (ASKED, "completed")
    assert (ran.result["metrics"]["tokens_in"], ran.result["metrics"]["tokens_out"]) == (ASKED * 150, ASKED * 20)


def test_the_proxy_limits_the_turns_of_an_agent_that_has_no_limit(
    tmp_path: Path, make_repository: Make, tidegate: Make
) -> None:
    programs = tmp_path / "agents"
    programs.mkdir()
    script = ASK_AND_ASK.replace("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL").replace("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    script = script.replace("/v1/messages", "/responses").replace("THEN", "")
    (programs / "codex").write_text(script)
    (programs / "codex").chmod(0o755)
    repository = make_repository()
    suite = "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nagents: {a: {type: codex, max_turns: 4}}\n"
    repository.commit({**FILES, "tidegate.yaml": suite})
    with serving([Step("Well.")]) as server:
        env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{server.url}/v1", "PATH": f"{programs}:{os.environ['PATH']}"}
        tidegate("run", "--trials", "1", "--out", str(tmp_path / "run"), cwd=repository.root, env=env)
        assert len(server.requests) == 4
    trial = Trial.model_validate_json(next((tmp_path / "run").rglob("trial.json")).read_text())
    assert (trial.end, trial.not_measured) == ("max_turns", None)
    assert trial.end_message == "the model has answered 4 requests (max_turns)"
