"""Makers that several tests share: real git repositories in temporary folders."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from tests.warm import end_warm
from tidegate.model.result import Result

# No deadline: a busy machine is no defect. In CI many examples, the same every time; elsewhere new ones, a few per run.
CI = bool(os.environ.get("CI"))
settings.register_profile("tidegate", deadline=None, derandomize=CI, max_examples=100 if CI else 20)
settings.load_profile("tidegate")

# Under nohup and in the background of a script some signals are ignored, and would be by every program that a test
# starts. What is handled by us has its default there.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


# Rewritten assertions of 480 modules take ten seconds of each worker, unless they are kept.
sys.dont_write_bytecode = False

# `python3` of the tools under test is the interpreter itself: a version manager's shim takes 60 ms more per start.
os.environ["PATH"] = f"{Path(sys.executable).resolve().parent}{os.pathsep}{os.environ['PATH']}"

# Builds of base are not kept on the machine, except where a test names a folder for them.
os.environ["XDG_CACHE_HOME"] = os.devnull


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: much of the time, a test waits for what it has started."""
    return max(2, len(os.sched_getaffinity(0)) * 3 // 2)


QUICK = ("-c", "maintenance.auto=false", "-c", "core.fsync=none")  # no process after each commit, no waiting for disks


class Repository:
    """A git repository that a test makes, commit by commit; or, of a template, a copy."""

    def __init__(self, root: Path, template: Path | None = None) -> None:
        self.root = root
        self.environ: dict[str, str] = {}
        if template is not None:
            shutil.copytree(template, root, symlinks=True)
            return
        root.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        """Run git in it, with an identity of its own and nobody's configuration."""
        environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "t",
            "GIT_AUTHOR_EMAIL": "t@example.org",
            "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@example.org",
            **self.environ,
        }
        done = subprocess.run(
            ["git", *QUICK, *arguments], cwd=self.root, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write files (None deletes); those that start with `#!` become executable."""
        for name, text in files.items():
            path = self.root / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                path.chmod(0o755)

    def commit(self, files: Mapping[str, str | None], message: str = "change", *, on: str | None = None) -> str:
        """Write files and commit everything, on another branch if it is named; returns the new commit."""
        if on is not None:
            self.git("checkout", "--quiet", on)
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, files: Mapping[str, str | None], start: str = "main") -> str:
        """A new branch from `start` with one commit."""
        self.git("checkout", "--quiet", "-b", name, start)
        return self.commit(files, name)


@pytest.fixture(scope="session", autouse=True)
def _nothing_stays_warm() -> Iterator[None]:
    yield
    end_warm()


@pytest.fixture(autouse=True)
def _every_result_is_valid(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each result.json that a test left in its folder has our fields, with values of their kinds."""
    yield
    folder = getattr(request.node, "funcargs", {}).get("tmp_path")
    if folder is not None:
        _validate_results(folder)


@pytest.fixture(scope="module")
def shared_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of all tests of a module; its results are looked at as those in `tmp_path` are, after them."""
    folder = tmp_path_factory.mktemp("shared")
    yield folder
    _validate_results(folder)


def _validate_results(folder: Path) -> None:
    for path in folder.rglob("result.json"):
        text = path.read_text(encoding="utf-8")
        if "verdict" in json.loads(text):  # a stored trial has a file of this name too
            Result.model_validate_json(text, strict=True, extra="forbid")


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[..., Repository]:
    """Makes empty repositories, by name."""

    def make(name: str = "repo") -> Repository:
        return Repository(tmp_path / name)

    return make


@contextmanager
def open_to_others() -> Iterator[Path]:
    """A folder that other users can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can reach."""
    with open_to_others() as folder:
        yield folder
