"""The built-in loop through a whole run, with the scripted model: the cases that the real agents' programs pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.model_server import Step, serving
from tests.thorough.real_agents.agents import KEYS, MASK, example
from tidegate.model.event import End, ToolCall, ToolResult
from tidegate.model.trial import Trial

AGENT = "{type: anthropic, model: m}"
SCRIPT = [Step(text, tuple(commands)) for text, commands in MASK]


@pytest.fixture
def run(tmp_path: Path, make_repository: Callable[..., Repository], tidegate: Callable[..., Any]) -> Callable[..., Any]:
    """Runs the example's first scenario with the loop; returns how `tidegate` ended, and the folder of the run."""

    def run(url: str) -> Any:
        repository = make_repository("taskmgr")
        example(repository.root, AGENT)
        with (repository.root / "tidegate.yaml").open("a") as suite:
            suite.write("prices: {m: {input: 1, output: 5, cache_read: 0.1, cache_write: 1.25}}\n")
        repository.commit({})
        out = tmp_path / "run"
        env = {**KEYS, "ANTHROPIC_BASE_URL": url}
        return tidegate("run", "--trials", "1", "--out", str(out), cwd=repository.root, env=env), out

    return run


def test_it_is_recorded_exactly_and_its_shell_sees_no_secret(run: Callable[..., Any]) -> None:
    with serving(SCRIPT) as server:
        _, out = run(server.url)
    trial = Trial.model_validate_json(next(out.rglob("trial.json")).read_text())
    statuses = [call.status for call in trial.invocations]
    assert (trial.end, len(statuses), statuses.count("error")) == ("completed", 8, 5)
    shell = [event for event in trial.events if isinstance(event, ToolCall)]
    results = {event.id: event for event in trial.events if isinstance(event, ToolResult)}
    assert {results[call.id].exit_code for call in shell} == {0}
    names = {line.partition("=")[0] for line in results[shell[-2].id].output.splitlines()}
    assert "PATH" in names
    assert not names & KEYS.keys()
    kept = [file for file in out.rglob("*") if file.is_file() and b"dummy-key" in file.read_bytes()]
    assert kept == []
    (result,) = json.loads((out / "run.json").read_text())["trials"]
    end = trial.events[-1]
    assert isinstance(end, End)
    turns = len(SCRIPT)
    expected = (turns * (100 + 20 * 5) + 50 * 1.25 + (turns - 1) * 50 * 0.1) / 1e6
    assert (end.turns, result["metrics"]["cost_usd"]) == (turns, pytest.approx(expected))
