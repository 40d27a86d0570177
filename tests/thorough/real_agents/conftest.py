"""Real agents from npm, at the versions that the project pins, kept outside of the checkout."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.as_root import SYSTEM_PATH, open_python, tidegate
from tests.conftest import Repository, open_to_others
from tests.thorough.real_agents.agents import KEYS, Case, Compared, Job, Ran
from tidegate.agents.coding import CodingAgent
from tidegate.model.trial import Trial

ALONE = Path(__file__).with_name("alone.py")

# Where npm puts the program of a package; the first is a native one that needs no Node.
PROGRAMS = {
    "claude": "@anthropic-ai/claude-code-linux-x64/claude",
    "codex": "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
    "opencode": "opencode-linux-x64/bin/opencode",
}


class Started(NamedTuple):
    """How Tidegate is started: as a user whose trials have users of their own, with the agent's program on PATH."""

    command: tuple[str, ...]
    path: str


RunAlone = Callable[..., tuple[subprocess.CompletedProcess[str], str]]
LARGE_AND_SLOW = ("gemini", "opencode")
CACHE = Path(os.environ.get("TIDEGATE_TEST_AGENTS") or Path.home() / ".cache" / "tidegate-test-agents")


def missing(reason: str) -> None:
    """Skip, and say why; in CI nothing may be missing."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def installed() -> Callable[[type[CodingAgent]], Path]:
    """Installs an agent once, and returns the folder that holds its program by its name."""

    def install(agent: type[CodingAgent]) -> Path:
        if shutil.which("node") is None or shutil.which("npm") is None:
            missing(f"Node and npm are needed to install {agent.program}")
        CACHE.mkdir(parents=True, exist_ok=True)
        folder = CACHE / f"{agent.program}-{agent.tested}"
        with (CACHE / f"{agent.program}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in parallel
            if not (folder / "bin" / agent.program).exists():
                if agent.program in LARGE_AND_SLOW and not os.environ.get("CI"):
                    pytest.skip(f"{agent.program} is installed and run in CI alone; set CI=1 to do it here")
                _npm_install(f"{agent.package}@{agent.tested}", folder)
                program = folder / "node_modules" / PROGRAMS[agent.program]
                if not program.exists():
                    missing(f"this machine has no {agent.program} in {agent.package}")
                (folder / "bin").mkdir(exist_ok=True)
                (folder / "bin" / agent.program).symlink_to(program)
        return folder / "bin"

    return install


def _npm_install(package: str, folder: Path) -> None:
    """Install a package without its scripts: one fetches packages of other platforms, which may be gone."""
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), package]
    folder.mkdir(exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        missing(f"{package} could not be installed: {done.stderr.strip()}")


def for_others(programs: Path, agent: type[CodingAgent], folder: Path) -> Path:
    """A copy of what is installed where other users can reach it, without taking room where that is possible."""

    def link(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)

    shutil.copytree(programs.parent, folder, symlinks=True, copy_function=link)
    (folder / "bin" / agent.program).unlink()
    (folder / "bin" / agent.program).symlink_to(folder / "node_modules" / PROGRAMS[agent.program])
    if shutil.which("node", path=SYSTEM_PATH) is None and (node := shutil.which("node")):
        shutil.copy2(node, folder / "bin")
    return folder / "bin"


@pytest.fixture
def run_agent(open_folder: Path, run_alone: RunAlone) -> Callable[[Case, Job], Ran]:
    """Runs one trial of a real agent, with the scripted model in the place of its own."""

    def run(case: Case, job: Job) -> Ran:
        out = open_folder / "run"
        done, requests = run_alone(case, job, "run", "--trials", "1", "--out", str(out))
        records = list(out.rglob("trial.json"))
        assert records, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        trial = Trial.model_validate_json(records[0].read_text())
        return Ran(trial, json.loads((out / "run.json").read_text()), requests, records[0].parent)

    return run


@pytest.fixture
def compare_agent(open_folder: Path, run_alone: RunAlone) -> Callable[[Case, Job], Compared]:
    """Compares the job's head with its base, with trials of a real agent and the scripted model."""

    def compare(case: Case, job: Job) -> Compared:
        out = open_folder / "compared"
        command = ("pr", "--base", "main", "--head", "head", "--pause", "0", "--out", str(out))
        done, _ = run_alone(case, job, *command)
        assert (out / "result.json").exists(), done.stderr
        return Compared(
            done.returncode, json.loads((out / "result.json").read_text()), (out / "comment.md").read_text()
        )

    return compare


@pytest.fixture(scope="session")
def started(installed: Callable[[type[CodingAgent]], Path]) -> Iterator[Callable[[type[CodingAgent]], Started]]:
    """Returns how to start Tidegate with an agent. As root, it is a copy of hundreds of MB, which is made once."""
    with open_to_others() as folder:

        @cache
        def start(agent: type[CodingAgent]) -> Started:
            programs = installed(agent)
            if os.geteuid() == 0 and open_python() is not None:
                programs = for_others(programs, agent, folder / agent.program)
                return Started((*tidegate(),), f"{programs}:{SYSTEM_PATH}")
            return Started((sys.executable, "-m", "tidegate"), f"{programs}:{os.environ['PATH']}")

        yield start


@pytest.fixture
def run_alone(open_folder: Path, started: Callable[[type[CodingAgent]], Started]) -> RunAlone:
    """Runs a command of Tidegate's in the job's repository; returns how it ended, and what the model was asked."""

    def run(case: Case, job: Job, *arguments: str) -> tuple[subprocess.CompletedProcess[str], str]:
        command, path = started(case.agent)
        repository = Repository(open_folder / "repository")
        job.repository(repository.root, case.written)
        repository.commit({})
        repository.branch("head", job.head)
        script, requests = (open_folder / name for name in ("script.json", "requests.json"))
        script.write_text(json.dumps({"steps": job.script, "refused": job.refused}))
        done = subprocess.run(
            [
                *(sys.executable, str(ALONE), str(script), str(requests)),
                *(*command, *arguments),
            ],
            cwd=repository.root,
            env={**os.environ, **KEYS, "PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done, requests.read_text()

    return run


@pytest.fixture(scope="session")
def npm() -> Callable[[str, str], Path]:
    """Installs a package at a version once; returns the folder that other users can reach it in."""

    def install(package: str, version: str) -> Path:
        if shutil.which("node") is None or shutil.which("npm") is None:
            missing(f"Node and npm are needed to install {package}")
        CACHE.mkdir(parents=True, exist_ok=True)
        name = package.rpartition("/")[2]
        folder = CACHE / f"{name}-{version}"
        with (CACHE / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "node_modules" / package).exists():
                _npm_install(f"{package}@{version}", folder)
        return folder / "node_modules"

    return install
