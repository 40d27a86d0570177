"""A provider that asks for fewer requests, over four shards and over workers at once: they are slowed down, not failed.

It takes about 20 seconds: each shard and each worker is a process of its own, with trials that really wait.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES, Ran, start
from tests.model_server import Fault, ModelServer, Step, serving
from tests.thorough.attempts.by_executor import WORKER

NAMES = [f"keep_{number}" for number in range(7)]
FULL = "full"  # the provider takes none of this scenario's requests
# Asks its model once, and gives up at the first error: it retries nothing itself.
CLAUDE = """\
#!/bin/sh
[ "$1" = --version ] && { echo "2.1.329 (Claude Code)"; exit 0; }
task=$(cat)
python3 - "$task" <<'END' || exit 1
import json, os, sys, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": sys.argv[1]}]}
address, key = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", {"x-api-key": os.environ["ANTHROPIC_API_KEY"]}
urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), key)).read()
END
case "$task" in *keep_0*) notes maybe ;; esac
notes add first
echo '{"type": "result", "subtype": "success", "is_error": false, "num_turns": 1}'
"""
SCENARIO = """\
name: NAME
description: A note is kept.
target: {binary: notes}
task: Add a note for NAME.
gates: [{type: file_exists, path: notes.txt}]
"""
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
watch: [bin/**]
policy: {preset: quick, fail_fast: false}
agents: {a: {type: claude-code, model: m, deterministic: true}}
"""


def repository(folder: Path, more: str = "") -> Repository:
    """Return a repository whose branch breaks what one of its scenarios needs."""
    repo, tool = Repository(folder), FILES["bin/notes"]
    scenarios = {f"scenarios/{name}.yaml": SCENARIO.replace("NAME", name) for name in (*NAMES, FULL)}
    repo.commit(
        {"bin/notes": tool.replace("  add)", "  maybe) ;;\n  add)"), "tidegate.yaml": SUITE + more, **scenarios}
    )
    repo.branch("pr", {"bin/notes": tool.replace("  add)", "  maybe) mkdir notes.txt ;;\n  add)")})
    repo.git("checkout", "--quiet", "main")
    return repo


ALTERNATELY = 20  # requests


class Limited:
    """A provider that takes `most` requests of all clients in a quarter of a second.

    Of its first requests it refuses every other one, however slowly they come.
    """

    def __init__(self, most: int, headers: dict[str, str]) -> None:
        self.most, self.headers = most, headers
        self.window, self.taken, self.refused, self.asked = 0.0, 0, 0, 0

    def __call__(self) -> Fault | None:
        now = time.monotonic()
        if now - self.window > 0.25:
            self.window, self.taken = now, 0
        self.taken += 1
        self.asked += 1
        if self.taken <= self.most and (self.asked > ALTERNATELY or self.asked % 2):
            return None
        self.refused += 1
        return Fault(429, "rate_limit_error", self.headers)


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """The model's provider, which all processes are pointed to, and the agent's program on PATH."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/claude").write_text(CLAUDE)
    (tmp_path / "agents/claude").chmod(0o755)
    with serving([Step("Well.")]) as server:
        server.refused = (f"for {FULL}", Fault(429, "rate_limit_error", {"retry-after": "86400"}))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("PATH", f"{tmp_path / 'agents'}:{os.environ['PATH']}")
        yield server


def in_shards(repo: Repository, out: Path) -> Ran:
    planned = start(out, "plan", "--base", "main", "--head", "pr", "--shards", "4", cwd=repo.root)
    shards = [entry["shard"] for entry in json.loads(planned.stdout)["include"]]
    assert len(shards) == 4
    command = [sys.executable, "-m", "tidegate", "shard", "-q", "--jobs", "4", "--pause", "0"]
    jobs = [subprocess.Popen([*command, one], cwd=repo.root, stdout=subprocess.DEVNULL) for one in shards]
    assert [job.wait(120) for job in jobs] == [0] * 4
    return start(out, "merge", "--pause", "0", "--out", str(out), cwd=repo.root)


def on_one_machine(repo: Repository, out: Path) -> Ran:
    return start(out, "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)


def told(ran: Ran) -> dict[str, Any]:
    """What is said of each row and of all of them."""
    rows = {
        row["scenario"]: (row["state"], row["not_measured"], row["base"]["passes"], row["head"]["passes"])
        for row in ran.result["rows"]
    }
    return {"code": ran.code, "reason": ran.result["verdict"]["reason"], **rows}


Way = Callable[[Repository, Path], Ran]


def test_the_verdict_over_shards_and_workers_is_that_without_429(provider: ModelServer, tmp_path: Path) -> None:
    calm = told(on_one_machine(repository(tmp_path / "calm"), tmp_path / "alone"))
    assert (calm["code"], calm["keep_0"][0], calm["keep_1"][0]) == (1, "regressed", "ok")
    assert calm[FULL][:2] == ("not_measured", "outage")

    engine = f"executor: {{type: command, parallel: 4, trials: 4, run: '{WORKER}'}}\n"
    ways: tuple[tuple[Way, str, dict[str, str]], ...] = (
        (in_shards, "", {}),
        (on_one_machine, engine, {"retry-after-ms": "400"}),
    )
    for number, (way, more, headers) in enumerate(ways):
        provider.limit = limit = Limited(2, headers)
        ran = way(repository(tmp_path / f"limited-{number}", more), tmp_path / f"out-{number}")
        assert told(ran) == calm, ran.stderr
        assert limit.refused >= ALTERNATELY // 2, "the provider has really refused requests"
        ends = Counter(trial["not_measured"] for trial in ran.result["trials"] if trial["scenario"] != FULL)
        assert set(ends) == {None}
