"""The executor `ray`, on a cluster of two nodes on this machine. It takes half a minute, most of it Ray's own start.

Ray is an optional dependency: without it, this is skipped. CI installs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES

pytestmark = pytest.mark.skipif(
    util.find_spec("ray") is None, reason="Ray is not installed: pip install 'tidegate[ray]'"
)

# The first call waits until its node is gone; all others work.
WAITING = 'add) shift; mkdir "$MARK" 2>/dev/null && sleep 100;'


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster whose head runs no tasks; a test adds the nodes."""
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of the nodes, too
    utils = import_module("ray.cluster_utils")
    made = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield made
    finally:
        made.shutdown()


def test_a_run_ends_alike_if_a_node_is_killed_in_the_middle(cluster: Any, tmp_path: Path) -> None:
    nodes = [cluster.add_node(num_cpus=1, include_dashboard=False) for _ in range(2)]
    mark, out = tmp_path / "marks/mark", tmp_path / "out"
    mark.parent.mkdir()
    repo = Repository(tmp_path / "repo")
    tool = FILES["bin/notes"].replace("add) shift;", WAITING.replace("$MARK", str(mark)))
    engine = f"executor: {{type: ray, address: '{cluster.address}', parallel: 1}}\n"
    engine += f"files: {{write: [{mark.parent}]}}\n"
    repo.commit(FILES | {"bin/notes": tool, "tidegate.yaml": FILES["tidegate.yaml"] + engine})
    repo.branch("pr", {"bin/notes": tool.replace("list) ", "list) exit 3;")})

    command = [sys.executable, "-m", "tidegate", "pr", "--base", "main", "--head", "pr", "--out", str(out)]
    with (tmp_path / "log").open("w") as log:
        running = subprocess.Popen(command, cwd=repo.root, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            _until(mark.exists, running, tmp_path / "log")
            busy = next(node for node in nodes if _runs_a_worker(node))
            cluster.remove_node(busy, allow_graceful=False)
            code = running.wait(timeout=120)
        finally:
            running.kill()

    text = (tmp_path / "log").read_text()
    assert code == 1, text
    row = json.loads((out / "result.json").read_text())["rows"][0]
    assert (row["state"], row["base"]["passes"], row["head"]["passes"]) == ("regressed", 2, 0)
    assert "trials are lost: the Ray task was lost" in text


def _until(happened: Any, running: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + 120
    while not happened():
        assert running.poll() is None, log.read_text()
        assert time.monotonic() < ends, log.read_text()
        time.sleep(0.1)


def _runs_a_worker(node: Any) -> bool:
    """Return True if `tidegate trials run` is below this node's raylet."""
    raylet = node.all_processes["raylet"][0].process.pid
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    for pid in parents:
        try:
            words = Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"trials" in words:
            while pid in parents and pid != raylet:
                pid = parents[pid]
            if pid == raylet:
                return True
    return False
