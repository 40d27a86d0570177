"""The image, really built and really run as a container action, with GitHub emulated (`make image`)."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from tests.clouds import clouds
from tests.conftest import Repository
from tests.gh.emulated.front import Front
from tests.gh.emulated.runner import Ran, Step, pull_request_payload, read_log
from tests.gh.fake.server import BlobHost, PullRequest
from tests.gh.fake.server import FakeGitHub as GitHub
from tests.journeys.conftest import FILES, NOTES
from tests.model_server import Step as Answer
from tests.model_server import serving
from tests.thorough.image.engine import AGENTS_IMAGE, IMAGE, ROOT, Engine, EngineMissingError, ready, require_equipment
from tests.unit.agents.providers.test_keyless import WAYS
from tidegate.authoring.demo_repository import make_repository
from tidegate.trial.sandbox.users import UIDS

REQUIRED = "TIDEGATE_IMAGE_TEST"  # set by `make image`; without it these tests, which take minutes, are skipped
RUNNER = (1001, 121)  # the user of GitHub's runners
HARMLESS, RENAMED = NOTES + "# a comment\n", NOTES.replace("  add)", "  append)")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """podman with our image, for us alone: another call of these tests would put its own image in the place of ours."""
    if not os.environ.get(REQUIRED):
        pytest.skip("takes minutes: make image")
    try:
        require_equipment()
    except EngineMissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the image cannot be built here: {missing}")
    cache = Path(os.environ.get("IMAGE_CACHE") or Path(tempfile.gettempdir()) / "tidegate-image")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield ready(cache, tmp_path_factory.mktemp("context"))


@pytest.fixture(scope="module")
def servers(engine: Engine) -> Iterator[tuple[Front, BlobHost]]:
    """Of the rule-enforcing GitHub, on the loopback that the container shares with us."""
    front, blobs = Front(), BlobHost()
    yield front, blobs
    front.stop()
    blobs.stop()


@pytest.fixture
def github(servers: tuple[Front, BlobHost]) -> Iterator[GitHub]:
    """For one test; every request of ours has to be one that GitHub's description allows."""
    front, blobs = servers
    front.reset()
    yield GitHub(front, blobs)
    assert front.violations == []


class Job:
    """A pull request, its repository, which is the runner's user's own, and the steps that ran in it."""

    def __init__(self, engine: Engine, github: GitHub, folder: Path, image: str = IMAGE) -> None:
        self.engine, self.github, self.folder, self.image = engine, github, folder, image
        self.pull: PullRequest = github.pull_request()
        self.workspace = folder / "workspace"
        self.runs = 0

    def start(self, branch: str, secrets: Mapping[str, str] | None = None) -> tuple[subprocess.Popen[str], Step, Path]:
        """Start the action on a branch's pull request to main."""
        self.runs += 1
        head, base = self._git("rev-parse", branch), self._git("rev-parse", "main")
        self.pull.push(head)
        self._git("checkout", "--quiet", "--detach", "main")
        self._git("merge", "--quiet", "--no-ff", "--message", "test merge", branch)
        payload = pull_request_payload(self.pull.repository, self.pull.number, head, base, head_ref=branch)
        folder = self.folder / f"{self.folder.name}-{self.runs}"
        step = Step(folder, self.workspace, self.github.api_url)
        environ = step.environ("pull_request", payload, {"github_token": self.github.token}, run=(self.runs, 1)) | dict(
            secrets or {}
        )
        for place in (folder, self.workspace):
            subprocess.run(["chown", "-R", f"{RUNNER[0]}:{RUNNER[1]}", str(place)], check=True)
        return self.engine.start(self.image, folder, self.workspace, environ), step, folder

    def run(self, branch: str, secrets: Mapping[str, str] | None = None) -> tuple[Ran, Step]:
        """The same to its end."""
        process, step, _ = self.start(branch, secrets)
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
    assert "isolation of trials: own user, files by Landlock, system calls filtered" in red.stdout
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


def test_a_broken_suite_ends_with_2(engine: Engine, github: GitHub, tmp_path: Path) -> None:
    job = Job(engine, github, tmp_path)
    repository = Repository(job.workspace)
    repository.commit(FILES)
    repository.branch("pr", {"tidegate.yaml": FILES["tidegate.yaml"] + "tirals: 3\n"})

    ran, step = job.run("pr")

    assert ran.exit_code == 2, ran.stdout + ran.stderr
    assert "did you mean `trials`" in ran.stderr
    assert "tirals" in step.summary()
    assert step.outputs()["verdict"] == "not_run"
    assert job.strangers() == []


def test_the_command_run_gives_its_trials_users_of_their_own_too(
    engine: Engine, github: GitHub, tmp_path: Path
) -> None:
    job = Job(engine, github, tmp_path)
    repository = Repository(job.workspace)
    repository.commit(FILES)
    repository.branch("pr", {"bin/notes": HARMLESS})

    ran, _ = job.run("pr", {"INPUT_COMMAND": "run", "INPUT_ARGS": "--trials 1 --out .tidegate/one"})

    assert ran.exit_code == 0, ran.stdout + ran.stderr
    run = json.loads((job.workspace / ".tidegate/one/run.json").read_text(encoding="utf-8"))
    assert "own user" in run["confinement"]
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

    (diff, *_) = (job.workspace / ".tidegate/pr/runs/head").glob("trials/*/*/1/workspace.diff")
    added = [line[1:] for line in diff.read_text().splitlines() if line.startswith("+") and line[1:2] != "+"]
    told = [line for line in added if line.startswith(("READ", "WROTE")) or "TOKEN" in line or line.isdigit()]
    (uid,) = {line for line in told if line.isdigit()}
    assert uid != "0", ran.stdout
    assert [line for line in told if line != uid and not line.endswith(f"/environ of {uid}")] == []  # its own processes
    assert step.outputs()["verdict"] in ("passed", "failed")


@pytest.mark.parametrize("number", ["INT", "TERM"])
def test_a_signal_in_the_middle_ends_it_in_good_order(
    engine: Engine, github: GitHub, tmp_path: Path, number: str
) -> None:
    """Within the seconds that the runner gives: 7.5 after SIGINT, 2.5 after SIGTERM."""
    job = Job(engine, github, tmp_path)
    repository = Repository(job.workspace)
    repository.commit(FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + "files: {write: [/tmp]}\n"})
    slow = "\ntrap '' TERM INT HUP\ntouch /tmp/started\nsleep 300\n"
    repository.branch("pr", {"bin/notes": NOTES.replace("\n", slow, 1)})

    process, step, folder = job.start("pr")
    while engine.podman("exec", folder.name, "test", "-e", "/tmp/started", check=False).returncode != 0:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    inside = processes_of(engine, folder.name)
    asked = time.monotonic()
    engine.podman("kill", f"--signal={number}", folder.name)
    stdout, stderr = process.communicate(timeout=60)
    print(f"gone {time.monotonic() - asked:.1f} s after SIG{number}")

    assert process.returncode == 130, stdout + stderr
    assert "interrupted" in stderr
    (comment,) = job.pull.bot_comments()
    assert "cancelled" in comment.body
    assert "cancelled" in step.summary()
    assert (step.outputs()["verdict"], step.outputs()["reason"]) == ("not_run", "cancelled")
    assert len(inside) > 3
    assert [pid for pid in inside if Path(f"/proc/{pid}").exists()] == []
    assert not (job.workspace / ".git/worktrees").exists() or not list((job.workspace / ".git/worktrees").iterdir())
    assert job.strangers() == []


def processes_of(engine: Engine, name: str) -> list[int]:
    """The ids, on this machine, of all that runs in a container."""
    first = engine.podman("inspect", "--format", "{{.State.Pid}}", name).stdout.strip()
    namespace = Path(f"/proc/{first}/ns/pid").readlink()
    found = []
    for entry in Path("/proc").glob("[0-9]*/ns/pid"):
        with suppress(OSError):
            if entry.readlink() == namespace:
                found.append(int(entry.parts[2]))
    return found


def test_a_local_action_adds_its_own_tools(engine: Engine, github: GitHub, tmp_path: Path) -> None:
    """The Dockerfile of docs/start.md, with what it installs replaced by something that needs no network."""
    page = (ROOT / "docs/start.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"```dockerfile\n(.*?)```", page, re.S)
    name, command = re.findall(r"^(?:FROM|RUN) (.*)$", recipe, re.M)
    (tmp_path / "action").mkdir()
    (tmp_path / "action/Dockerfile").write_text(
        recipe.replace(name, IMAGE).replace(command, "echo 'a tool of our own' > /usr/local/share/toolchain")
    )
    engine.build(tmp_path / "action", "localhost/tidegate-local:test")
    job = Job(engine, github, tmp_path, "localhost/tidegate-local:test")
    repository = Repository(job.workspace)
    repository.commit(FILES)
    needed = "\ngrep -q 'tool of our own' /usr/local/share/toolchain || exit 9\n"
    repository.branch("pr", {"bin/notes": HARMLESS.replace("\n", needed, 1)})

    ran, step = job.run("pr")

    assert ran.exit_code == 0, ran.stdout + ran.stderr
    assert (step.outputs()["verdict"], step.outputs()["regressions"]) == ("passed", "0")


def test_the_image_with_agents_has_a_real_one_do_a_trial_as_a_user_of_its_own(
    engine: Engine, github: GitHub, tmp_path: Path
) -> None:
    """Claude Code, with a scripted model in the place of its own and nothing else in reach."""
    try:
        engine.build(engine.context / "images/agents", AGENTS_IMAGE, IMAGE=IMAGE)
    except RuntimeError as error:
        if re.search(r"npm error (code E|network)", str(error)) and not os.environ.get("CI"):
            pytest.skip(f"npm's packages cannot be had here: {str(error)[-300:]}")
        raise
    job = Job(engine, github, tmp_path, AGENTS_IMAGE)
    repository = Repository(job.workspace)
    agents = "agents: {claude: {type: claude-code, deterministic: true}}\nnetwork: {agent: false, gates: false}\n"
    suite = FILES["tidegate.yaml"].partition("agents:")[0] + agents
    repository.commit({**FILES, "tidegate.yaml": suite})
    repository.branch("pr", {"bin/notes": HARMLESS})

    with serving([Answer("both", ("notes add first", "notes add second; id -u > who")), Answer("done")]) as model:
        ran, step = job.run("pr", {"ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": model.url})

    assert ran.exit_code == 0, ran.stdout + ran.stderr
    assert step.outputs()["verdict"] == "passed"
    (diff,) = (job.workspace / ".tidegate/pr/runs/head").glob("trials/*/*/1/workspace.diff")
    (uid,) = re.findall(r"^\+(\d+)$", diff.read_text(), re.M)
    assert int(uid) in UIDS
    result = json.loads((job.workspace / step.outputs()["result_path"]).read_text(encoding="utf-8"))
    assert "network by Landlock and seccomp" in result["confinement"]


def test_the_first_line_comes_soon(engine: Engine, tmp_path: Path) -> None:
    """Measured, and only bounded so far that an import of something heavy would show."""
    started = time.monotonic()
    engine.podman("run", "--rm", "--pull=never", "--entrypoint", "tidegate", IMAGE, "--help")
    print(f"tidegate --help in a container: {time.monotonic() - started:.2f} s")
    lazy = "import sys; from tidegate.cli import parse\ntry: parse(['--help'])\nexcept SystemExit: pass\n"
    lazy += "assert not {'anthropic', 'github', 'jinja2', 'pydantic'} & set(sys.modules)"
    engine.podman("run", "--rm", "--pull=never", "--entrypoint", "python", IMAGE, "-c", lazy)


@pytest.mark.parametrize("terminal", [False, True], ids=["log", "terminal"])
def test_the_demo_runs_in_the_image(engine: Engine, *, terminal: bool) -> None:
    """`docker run` as release/README.md has it; what prints to a terminal are other libraries."""
    command = [IMAGE, "demo", "--only", "regression"]
    options = ["--rm", "--pull=never", *(["--tty"] if terminal else []), "--entrypoint", "tidegate"]
    ran = engine.podman("run", *options, *command, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Likely cause: taskmgr add no longer accepts --priority" in re.sub(r"\x1b\[[\d;]*m|[*`]", "", ran.stdout)
    assert ("\x1b[1m" in ran.stdout) == terminal


def test_the_doctor_says_what_holds_in_a_container_of_docker_s(engine: Engine) -> None:
    """No mounts and no namespaces, and so Landlock and filters of system calls, besides a user for each trial."""
    like_docker = ("--security-opt", f"seccomp={engine.folder / 'seccomp.json'}")
    ran = engine.podman("run", "--rm", "--pull=never", *like_docker, "--entrypoint", "tidegate", IMAGE, "doctor")

    found = {line[8:].partition(":")[0].strip(): line for line in ran.stdout.splitlines() if not line.startswith("  ")}
    assert found["users"].startswith("ok"), ran.stdout
    assert "trials are confined by Landlock: the system allows no mounts" in found["files"]
    assert "; system calls are filtered; small workspaces are on disk" in found["files"]
    assert "`network` is enforced by Landlock and seccomp" in found["network"]


def test_the_image_has_what_each_cloud_needs_and_is_small(engine: Engine, tmp_path: Path) -> None:
    """Each is asked with a credential for the job's OIDC token, by the image's own libraries."""
    (tmp_path / "ways.json").write_text(json.dumps(WAYS))
    with clouds(tmp_path, [Answer("Well.")]) as (_, environ):
        given = [word for name, value in environ.items() for word in ("-e", f"{name}={value}")]
        places = ["-v", f"{tmp_path}:{tmp_path}", "-v", f"{ROOT}/tests/asking.py:/asking.py:ro"]
        command = (*("--entrypoint", "python", IMAGE, "/asking.py"), str(tmp_path / "ways.json"))
        ran = engine.podman("run", "--rm", "--pull=never", *given, *places, *command)

    assert ran.stdout.splitlines() == [f"{name} [200]" for name in WAYS]
    size = int(engine.podman("image", "inspect", "--format", "{{.Size}}", IMAGE).stdout)
    assert size <= 250_000_000


def test_everything_in_the_image_is_compiled(engine: Engine) -> None:
    look = "import sysconfig, pathlib, sys\n"
    look += "for name in ('stdlib', 'purelib'):\n"
    look += "    for path in pathlib.Path(sysconfig.get_path(name)).rglob('*.py'):\n"
    look += "        compiled = path.parent / '__pycache__' / f'{path.stem}.{sys.implementation.cache_tag}.pyc'\n"
    look += "        if 'tests' not in path.parts and 'tidegate' in path.parts and not compiled.exists(): print(path)\n"
    listed = engine.podman("run", "--rm", "--pull=never", "--entrypoint", "python", IMAGE, "-c", look).stdout

    assert [line for line in listed.splitlines() if "/examples/" not in line] == []
