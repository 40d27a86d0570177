"""After an outage of the judge, or a kill during judging, a re-run only judges; it runs no agent again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES, Ran, start
from tests.model_server import Fault, ModelServer, Step, serving

Make = Callable[..., Any]
OUT = Fault(529, "overloaded_error", {"retry-after-ms": "1"})
BY_RUBRIC = """\
name: by_rubric
description: A gate decides; a judge warns.
target: {binary: notes}
task: Add a note.
evaluation:
  gates: [{type: file_exists, path: notes.txt}]
  judge: {rubric: rubric.yaml}
"""
BY_CHECKS = """\
name: by_checks
description: Nobody but a judge looks.
target: {binary: notes}
task: Add a note.
evaluation:
  evaluators:
    - type: composite
      aggregator: {type: llm_judge}
      evaluators:
        - {type: rubrics, rubrics: [It is short.]}
        - {type: code_judge, script: test -s "$TIDEGATE_FIXTURE_DIR/notes.txt"}
"""
# Each trial leaves words of its own: a trial that is run again is another question to the judge.
STEPS = '[notes add "$(od -An -N8 -tx8 /dev/urandom)", cat notes.txt, {run: notes count, probability: 0.5}]'
# Of either scenario's trials. The checks' results read the same in all of them; base's and head's trials of the same
# number share the answer that puts them together.
TIMES_ASKED = [1] * (6 + 6) + [3]
QUESTIONS = sum(TIMES_ASKED)
REPOSITORY = {
    "bin/notes": FILES["bin/notes"],
    "AGENTS.md": FILES["AGENTS.md"],
    "scenarios/by_rubric.yaml": BY_RUBRIC,
    "scenarios/by_checks.yaml": BY_CHECKS,
    "scenarios/rubric.yaml": "criteria: [{id: kept, weight: 1, description: The note is kept.}]\n",
    "tidegate.yaml": f"""\
version: 1
scenarios: [scenarios/by_*.yaml]
path: [bin]
watch: [AGENTS.md]
agents: {{fake: {{type: scripted, seed: 1, steps: {{by_rubric: {STEPS}, by_checks: {STEPS}}}}}}}
judge: {{type: anthropic, model: claude-sonnet-4-6, jobs: 1}}
prices: {{claude-sonnet-4-6: {{input: 3, output: 15}}}}
""",
}


class Model:
    """Answers every form well, but what `spoilt` says of the question instead; counts what it has answered."""

    def __init__(self, spoilt: Callable[[int], Fault | None] = lambda _: None) -> None:
        self._spoilt = spoilt
        self.answered: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Step | Fault:
        fault = self._spoilt(sum(self.answered.values()))
        if fault is not None:
            return fault
        prompt = body["messages"][0]["content"]
        self.answered[prompt] += 1
        form = body["output_config"]["format"]["schema"]["properties"]
        ids = re.findall(r"^- `(.*?)`: ", prompt, re.MULTILINE)
        return Step(json.dumps({name: _said(name, ids) for name in form}))


def _said(name: str, ids: list[str]) -> object:
    match name:
        case "scores":
            return [{"id": one, "reason": "It is there.", "score": 0.9} for one in ids]
        case "checks":
            return [{"id": one, "reasoning": "It is.", "satisfied": True} for one in ids]
        case "score":
            return 0.9
        case "hits" | "misses" | "issues" | "highlights":
            return []
        case _:
            return 0.8 if name == "confidence" else "Good."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving([]) as made:
        yield made


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repo")
    made.commit(REPOSITORY)
    made.branch("pr", {"AGENTS.md": "# Notes\n"})
    return made


def keys(server: ModelServer) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": server.url}


def pr(repo: Repository, server: ModelServer, out: Path) -> Ran:
    return start(out, "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root, env=keys(server))


def told(ran: Ran) -> dict[str, Any]:
    """What a run says, but for time, cost, and where its trials come from.

    Every metric's q is adjusted for those of the others, so time has a part in all of them.
    """
    result = ran.result
    for row in result["rows"]:
        row.pop("replay")
    for metrics in (result["suite"]["metrics"], *(row["metrics"] for row in result["rows"])):
        metrics.pop("duration_s", None)
        for change in metrics.values():
            change.pop("q")
    trials = sorted(
        (t["id"], t["phase"], t["outcome"], t["decides"], t["not_measured"], t["reason"], t["judge"], t["evaluators"])
        for t in result["trials"]
    )
    judge = {name: result["judge"][name] for name in ("judged", "not_judged", "agreement")}
    return {"rows": result["rows"], "verdict": result["verdict"], "suite": result["suite"], "trials": trials} | judge


def history(repo: Repository) -> int:
    """Trials of base that later pull requests are compared with."""
    return sum(len(path.read_text().splitlines()) for path in repo.root.glob(".tidegate/store/history/*.jsonl"))


def calm(server: ModelServer, repo: Repository, out: Path) -> dict[str, Any]:
    """What a run says that nothing has disturbed, on the same commits but with a store of its own."""
    server.judge = Model()
    twin = Repository.__new__(Repository)
    twin.root = repo.root.with_name("twin")
    subprocess.run(["git", "clone", "--quiet", str(repo.root), str(twin.root)], check=True)
    subprocess.run(["git", "branch", "--quiet", "main", "origin/main"], cwd=twin.root, check=True)
    ran = pr(twin, server, out)
    assert ran.code == 0, ran.stderr
    return told(ran)


def test_what_an_outage_left_unjudged_is_judged_by_the_next_run(
    repo: Repository, server: ModelServer, tmp_path: Path
) -> None:
    server.judge = Model(lambda _: OUT)
    lost = pr(repo, server, tmp_path / "lost")
    assert (lost.code, lost.result["verdict"]["state"]) == (0, "inconclusive"), lost.stderr
    assert lost.row("by_checks", "fake")["not_measured"] == "judge"
    assert lost.row("by_rubric", "fake")["judge"]["head"]["not_judged"] == 3
    assert "🟡" in lost.comment
    assert history(repo) == 3  # of the row that a gate decides

    server.judge = model = Model()
    again = pr(repo, server, tmp_path / "again")

    assert again.code == 0, again.stderr
    assert again.result["cost"]["trials"] == {"base": 0, "head": 0}  # no agent was run
    for trial in (trial for trial in again.result["trials"] if trial["scenario"] == "by_checks"):
        assert trial["evaluators"][0]["metrics"] == {"rubrics": 1, "code_judge": 1}
    assert sorted(model.answered.values()) == TIMES_ASKED
    assert again.result["judge"]["calls"] == sum(model.answered.values()) == QUESTIONS
    assert again.result["judge"]["usd"] > 0
    assert history(repo) == 6  # those that were decided now are there too, and the others not twice

    third = pr(repo, server, tmp_path / "third")
    assert (third.result["judge"]["calls"], third.result["judge"]["usd"]) == (0, None)
    assert told(third) == told(again) == calm(server, repo, tmp_path / "calm")


def test_a_run_that_is_killed_while_the_judge_thinks_goes_on_with_the_judging(
    repo: Repository, server: ModelServer, tmp_path: Path
) -> None:
    """The first trial of each row and side was over; three of them were judged, and the fourth was before the judge."""
    killed, let_go = threading.Event(), threading.Event()

    def spoilt(answered: int) -> Fault | None:
        if answered < 3 or killed.is_set():
            return None
        let_go.wait(120)
        return OUT  # nobody is there to hear it

    server.judge = model = Model(spoilt)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "tidegate", "pr", "--base", "main", "--head", "pr", "--out", str(out)]
    environ = os.environ | keys(server)
    running = subprocess.Popen(
        command, cwd=repo.root, env=environ, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    store = repo.root / ".tidegate/store"
    try:
        _wait(lambda: len(list(store.glob("judge/*/*.json"))) == 3, running)
        _wait(lambda: len(list(store.glob("tests/*/*/trials/*/*/*/result.json"))) == 4, running)
    finally:
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        killed.set()
        let_go.set()

    again = pr(repo, server, out)

    assert again.code == 0, again.stderr
    assert again.result["cost"]["trials"] == {"base": 3 * 2 - 2, "head": 3 * 2 - 2}
    assert sorted(model.answered.values()) == TIMES_ASKED  # nothing was asked twice, before or after
    assert sum(model.answered.values()) == QUESTIONS
    assert again.result["judge"]["calls"] == QUESTIONS - 3
    assert history(repo) == 6  # with what the killed run had measured of base
    assert told(again) == calm(server, repo, tmp_path / "calm")


def _wait(until: Callable[[], bool], running: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + 120
    while not until():
        assert running.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < give_up
        time.sleep(0.02)
