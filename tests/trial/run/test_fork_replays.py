"""A fork's pull request has no key: base's recorded sessions are replayed instead of running its agents."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES
from tests.warm import run_tidegate
from tidegate.history.fingerprint import fingerprint_at
from tidegate.history.known_results import open_history
from tidegate.model.measurement import PastTrial
from tidegate.model.progress import Progress
from tidegate.model.trial import SessionRecord
from tidegate.run.checkouts import RevisionPair, commits_of
from tidegate.run.pipeline import pull_request
from tidegate.run.run_job import Options
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan

HEAD = FILES["tidegate.yaml"].partition("agents:")[0]
STEPS = "[notes add first, notes add second, notes list]"
SCRIPTED = f"agents: {{one: {{type: scripted, deterministic: false, steps: {{keep_notes: {STEPS}}}}}}}\n"
KEYED = "agents: {docs: {type: doc-follower}, one: {type: anthropic, model: some-model}}\n"


def as_of_an_agent_with_a_key(repo: Repository) -> None:
    """Store the sessions of the scripted agent as those of an agent that asks a model."""
    lines = next((repo.root / ".tidegate/store/history").glob("*.sessions")).read_text().splitlines()
    sessions = [SessionRecord.model_validate_json(line) for line in lines]
    repo.commit({"tidegate.yaml": HEAD + KEYED})
    suite = load_suite(repo.root, "tidegate.yaml", environ={})
    row = next(row for row in make_plan(suite).rows if row.key.agent == "one")
    history = open_history(repo.root, suite)
    assert history is not None
    stored = {row.key: fingerprint_at(repo.root, row, suite, None)}
    history.sessions.add(stored, sessions)
    sha = repo.git("rev-parse", "HEAD")
    past = PastTrial(scenario=row.key.scenario, agent="one", decides="pass", at=time.time(), sha=sha, shapes=("add",))
    history.add(stored, [past.model_copy(update={"at": past.at - number}) for number in range(4)])


@pytest.fixture
def compared(tmp_path: Path) -> Callable[..., dict[str, tuple[str, str]]]:
    """Compares a fork's branch that has this tool, and returns each row's state and reason."""

    def compare(tool: str, *, recorded: bool = True) -> dict[str, tuple[str, str]]:
        repo = Repository(tmp_path / "repo")
        repo.commit({**FILES, "tidegate.yaml": HEAD + (SCRIPTED if recorded else KEYED)})
        if recorded:
            fed = run_tidegate("run", "--rev", "main", "--history", "--trials", "4", cwd=repo.root)
            assert fed.returncode == 0, fed.stderr
            as_of_an_agent_with_a_key(repo)
        repo.branch("pr", {"bin/notes": tool})
        options = Options(environ={"PATH": "/usr/bin:/bin"}, progress=Progress(), lenient_keys=True)
        work: Any = pull_request(
            repo.root, commits_of(repo.root, RevisionPair("main", "pr")), tmp_path / "out", options
        )
        return {row.agent: (row.state, row.reason) for row in asyncio.run(work).rows}

    return compare


def test_a_row_whose_sessions_replay_alike_is_unchanged(compared: Callable[..., dict[str, tuple[str, str]]]) -> None:
    found = compared(FILES["bin/notes"].replace("# notes:", "# The notes tool:"))

    assert (found["docs"][0], found["one"][0]) == ("ok", "unchanged"), found


def test_a_row_whose_sessions_differ_needs_an_agent(compared: Callable[..., dict[str, tuple[str, str]]]) -> None:
    state, reason = compared(FILES["bin/notes"].replace("  list)", "  show)"))["one"]

    assert state == "unconfirmed", reason
    assert "4 of 4 recorded sessions differ on head, first at `$ notes list`" in reason


def test_a_row_without_sessions_is_left_out_as_before(compared: Callable[..., dict[str, tuple[str, str]]]) -> None:
    assert list(compared(FILES["bin/notes"].replace("# notes:", "#"), recorded=False)) == ["docs"]
