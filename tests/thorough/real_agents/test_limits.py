"""Limits of cost and turns bind real agents while they work."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.thorough.real_agents.agents import CASES, Case, Job, Ran, Script, example
from tidegate.model.event import End

CLAUDE, CODEX = CASES[:2]
SCRIPT: Script = [*((f"Look {number}.", ["taskmgr list"]) for number in range(8)), ("Done.", [])]


def limited(more: str, extra: str = "") -> Callable[[Path, str], None]:
    def make(folder: Path, agent: str) -> None:
        example(folder, agent.replace("}", f"{extra}}}"))
        suite = folder / "tidegate.yaml"
        suite.write_text(suite.read_text() + more)

    return make


def model_requests(ran: Ran) -> int:
    asked = [body for path, body, _ in json.loads(ran.requests) if path.endswith(("/messages", "/responses"))]
    return sum("tools" in body for body in asked)


def test_claude_code_is_stopped_by_a_budget_in_dollars_without_prices(
    run_agent: Callable[[Case, Job], Ran],
) -> None:
    """The first answer costs $0.0002625 at the built-in price, the others $0.000205: three are over $0.0006."""
    ran = run_agent(CLAUDE, Job(limited("budget: {usd: 0.0006}\n"), SCRIPT))
    assert (ran.trial.end, ran.trial.not_measured) == ("budget", "budget")
    assert ran.trial.reason == "the run's $0.0006 were used up"
    assert model_requests(ran) == 3


def test_codex_is_stopped_by_a_budget_in_dollars_without_prices(run_agent: Callable[[Case, Job], Ran]) -> None:
    """Each answer has 90 new tokens at $5, 10 cached ones at $0.50 and 20 of output at $30 per million: $0.001055."""
    ran = run_agent(CODEX, Job(limited("budget: {usd: 0.003}\n"), SCRIPT))
    assert (ran.trial.end, ran.trial.not_measured) == ("budget", "budget")
    assert model_requests(ran) == 3


def test_the_turns_of_codex_are_limited_by_the_proxy(run_agent: Callable[[Case, Job], Ran]) -> None:
    ran = run_agent(CODEX, Job(limited("", ", max_turns: 3"), SCRIPT))
    assert ran.trial.end == "max_turns"
    assert model_requests(ran) == 3
    end = ran.trial.events[-1]
    assert isinstance(end, End)
    assert (end.tokens_in, end.tokens_out) == (300, 60)
