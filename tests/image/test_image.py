"""The image, really built and really run as a container action, with GitHub emulated (`make image`)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.e2e.conftest import FILES, NOTES
from tests.gh.emulated.node import EquipmentMissingError
from tests.gh.emulated.runner import Ran, Step, pull_request_payload, read_log
from tests.gh.emulated.server import GitHub, PullRequest
from tests.image.engine import IMAGE, Engine, EngineMissingError, ready, require_equipment
from tidegate.demo import make_repository

REQUIRED = "TIDEGATE_IMAGE_TEST"  # set by `make image`; without it these tests, which take minutes, are skipped
RUNNER = (1001, 121)  # the user of GitHub's runners
HARMLESS, RENAMED = NOTES + "# a comment\n", NOTES.replace("  add)", "  append)")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """podman with our image."""
    if not os.environ.get(REQUIRED):
        pytest.skip("takes minutes: make image")
    try:
        require_equipment()
    except EngineMissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the image cannot be built here: {missing}")
    cache = Path(os.environ.get("IMAGE_CACHE") or Path(tempfile.gettempdir()) / "tidegate-image")
    return ready(cache, tmp_path_factory.mktemp("context"))


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[GitHub]:
    """The emulated GitHub, on the loopback that the container shares with us."""
    try:
        server = GitHub(tmp_path_factory.mktemp("github"))
    except EquipmentMissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the emulated GitHub cannot be started: {missing}")
    yield server
    server.stop()


class Job:
    """A pull request, its repository, which is the runner's user's own, and the steps that ran in it."""

    def __init__(self, engine: Engine, github: GitHub, folder: Path, image: str = IMAGE) -> None:
        self.engine, self.github, self.folder, self.image = engine, github, folder, image
        self.pull: PullRequest = github.pull_request()
        self.workspace = folder / "workspace"
        self.runs = 0

    def start(self, branch: str) -> tuple[subprocess.Popen[str], Step, Path]:
        """Start the action on a branch's pull request to main."""
        self.runs += 1
        head, base = self._git("rev-parse", branch), self._git("rev-parse", "main")
        self._git("checkout", "--quiet", "--detach", "main")
        self._git("merge", "--quiet", "--no-ff", "--message", "test merge", branch)
        payload = pull_request_payload(self.pull.repository, self.pull.number, head, base, head_ref=branch)
        folder = self.folder / f"{self.folder.name}-{self.runs}"
        step = Step(folder, self.workspace, self.github.api_url)
        environ = step.environ("pull_request", payload, {"github_token": self.github.token}, run=(self.runs, 1))
        for place in (folder, self.workspace):
            subprocess.run(["chown", "-R", f"{RUNNER[0]}:{RUNNER[1]}", str(place)], check=True)
        return self.engine.start(self.image, folder, self.workspace, environ), step, folder

    def run(self, branch: str) -> tuple[Ran, Step]:
        """The same to its end."""
        process, step, _ = self.start(branch)
        stdout, stderr = process.communicate(timeout=300)
        return Ran(process.returncode, read_log(stdout + stderr), stdout, stderr), step

    def strangers(self) -> list[Path]:
        """Files of the workspace that are not its owner's."""
        return [path for path in self.workspace.rglob("*") if path.lstat().st_uid != RUNNER[0]]

    def _git(self, *arguments: str) -> str:
        who = ("-c", "safe.directory=*", "-c", "user.name=t", "-c", "user.email=t@example.org")
        done = subprocess.run(["git", *who, *arguments], cwd=self.workspace, check=True, capture_output=True, text=True)
        return done.stdout.strip()


def test_the_main_job_red_then_green_in_one_comment(engine: Engine, github: GitHub, tmp_path: Path) -> None:
    job = Job(engine, github, tmp_path)
    make_repository(job.workspace)

    red, step = job.run("shorter-flag")

    assert red.exit_code == 1, red.stdout + red.stderr
    assert "every trial runs as a user of its own" in red.stdout
    (comment,) = job.pull.bot_comments()
    assert "regressed" in comment.body
    assert (step.outputs()["verdict"], step.outputs()["comment_url"]) == ("failed", comment.url)
    assert "regressed" in step.summary()
    assert step.variables() == {}
    result = json.loads((job.workspace / step.outputs()["result_path"]).read_text(encoding="utf-8"))
    assert "own user" in result["confinement"]
    assert job.strangers() == []

    green, step = job.run("next-number")

    (same,) = job.pull.bot_comments()
    assert (green.exit_code, same.id) == (0, comment.id), green.stdout + green.stderr
    assert step.outputs()["verdict"] == "passed"
    assert job.strangers() == []
    assert github.front.violations == []


def test_a_broken_suite_ends_with_2(engine: Engine, github: GitHub, tmp_path: Path) -> None:
    job = Job(engine, github, tmp_path)
    repository = Repository(job.workspace)
    repository.commit(FILES)
    repository.branch("pr", {"tidegate.yaml": FILES["tidegate.yaml"] + "tirals: 3\n"})

    ran, step = job.run("pr")

    assert ran.exit_code == 2, ran.stdout + ran.stderr
    assert "did you mean `trials`" in ran.stderr
    assert "tirals" in step.summary()
    assert job.strangers() == []


HOSTILE = """\
for path in /github/workflow/event.json /github/file_commands/set_output /github/runner_temp /github/workspace \\
    /proc/1/environ /proc/*/environ /var/run/docker.sock; do
    if ls "$path"/ >/dev/null 2>&1 || head -c 1 "$path" 2>/dev/null | grep -q .; then
        echo "READ $path of $(stat -c %u "$path")" >> seen
    fi
done
echo verdict=passed >> /github/file_commands/set_output && echo "WROTE the outputs" >> seen
tr '\\0' '\\n' < /proc/self/environ | grep -E 'TOKEN|INPUT_|GITHUB_' >> seen
id -u >> seen
"""


def test_a_pull_requests_tool_reaches_neither_token_nor_the_runners_files(
    engine: Engine, github: GitHub, tmp_path: Path
) -> None:
    job = Job(engine, github, tmp_path)
    repository = Repository(job.workspace)
    repository.commit(FILES)
    repository.branch("pr", {"bin/notes": NOTES.replace("\n", f"\n{HOSTILE}", 1)})

    ran, step = job.run("pr")

    (diff, *_) = (job.workspace / ".tidegate/pr/runs/head").glob("trials/*/*/1/record/workspace.diff")
    added = [line[1:] for line in diff.read_text().splitlines() if line.startswith("+") and line[1:2] != "+"]
    told = [line for line in added if line.startswith(("READ", "WROTE")) or "TOKEN" in line or line.isdigit()]
    (uid,) = {line for line in told if line.isdigit()}
    assert uid != "0", ran.stdout
    assert [line for line in told if line != uid and not line.endswith(f"/environ of {uid}")] == []  # its own processes
    assert step.outputs()["verdict"] in ("passed", "failed")


def test_sigterm_in_the_middle_ends_in_good_order(engine: Engine, github: GitHub, tmp_path: Path) -> None:
    job = Job(engine, github, tmp_path)
    repository = Repository(job.workspace)
    repository.commit(FILES)
    slow = "\ntrap '' TERM INT HUP\ntouch /tmp/started\nsleep 300\n"
    repository.branch("pr", {"bin/notes": NOTES.replace("\n", slow, 1)})

    process, _, folder = job.start("pr")
    while engine.podman("exec", folder.name, "test", "-e", "/tmp/started", check=False).returncode != 0:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    asked = time.monotonic()
    engine.podman("kill", "--signal=TERM", folder.name)
    stdout, stderr = process.communicate(timeout=60)

    print(f"gone {time.monotonic() - asked:.1f} s after SIGTERM")
    assert process.returncode == 130, stdout + stderr
    assert "interrupted" in stderr
    assert not (job.workspace / ".git/worktrees").exists() or not list((job.workspace / ".git/worktrees").iterdir())
    assert job.strangers() == []


LOCAL = """\
FROM localhost/tidegate:test
RUN echo 'a tool of our own' > /usr/local/share/toolchain
"""


def test_a_local_action_adds_its_own_tools(engine: Engine, github: GitHub, tmp_path: Path) -> None:
    """The recipe of docs/install.md."""
    (tmp_path / "action").mkdir()
    (tmp_path / "action/Dockerfile").write_text(LOCAL)
    engine.build(tmp_path / "action", "localhost/tidegate-local:test")
    job = Job(engine, github, tmp_path, "localhost/tidegate-local:test")
    repository = Repository(job.workspace)
    repository.commit(FILES)
    repository.branch("pr", {"bin/notes": HARMLESS.replace("\n", "\ncat /usr/local/share/toolchain >&2\n", 1)})

    ran, step = job.run("pr")

    assert ran.exit_code == 0, ran.stdout + ran.stderr
    assert step.outputs()["verdict"] == "passed"


def test_the_first_line_comes_soon(engine: Engine, tmp_path: Path) -> None:
    """Measured, and only bounded so far that an import of something heavy would show."""
    started = time.monotonic()
    engine.podman("run", "--rm", "--pull=never", "--entrypoint", "tidegate", IMAGE, "--help")
    print(f"tidegate --help in a container: {time.monotonic() - started:.2f} s")
    lazy = "import sys; from tidegate.cli import parse\ntry: parse(['--help'])\nexcept SystemExit: pass\n"
    lazy += "assert not {'anthropic', 'github', 'jinja2', 'pydantic'} & set(sys.modules)"
    engine.podman("run", "--rm", "--pull=never", "--entrypoint", "python", IMAGE, "-c", lazy)


def test_everything_in_the_image_is_compiled(engine: Engine) -> None:
    look = "import sysconfig, pathlib, sys\n"
    look += "for name in ('stdlib', 'purelib'):\n"
    look += "    for path in pathlib.Path(sysconfig.get_path(name)).rglob('*.py'):\n"
    look += "        compiled = path.parent / '__pycache__' / f'{path.stem}.{sys.implementation.cache_tag}.pyc'\n"
    look += "        if 'tests' not in path.parts and 'tidegate' in path.parts and not compiled.exists(): print(path)\n"
    listed = engine.podman("run", "--rm", "--pull=never", "--entrypoint", "python", IMAGE, "-c", look).stdout

    assert [line for line in listed.splitlines() if "/examples/" not in line] == []
