"""A release from a clean clone, on a local index and registry, to what its users do with it (`make release-check`)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.thorough.image.engine import Engine, EngineMissingError, must, ready, require_equipment

ROOT = Path(__file__).parents[3]
REQUIRED = "TIDEGATE_RELEASE_TEST"  # set by `make release-check`; without it these tests are skipped
VERSION = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)[0]
SOURCE = "https://github.com/acme/tidegate"
MACHINES = {"x86_64": 62, "aarch64": 183}  # e_machine of ELF

pytestmark = pytest.mark.skipif(not os.environ.get(REQUIRED), reason="takes minutes: make release-check")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(command: list[str], port: int, environ: Mapping[str, str] | None = None) -> Iterator[None]:
    """A server, from its first answer to the end of the block."""
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, command
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commit, and nothing else of this checkout, with the address that release/README.md asks for."""
    folder = tmp_path_factory.mktemp("rehearsal") / "clone"
    must(["git", "clone", "--quiet", "--no-local", str(ROOT), str(folder)])
    project = folder / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    if "[project.urls]" not in text and "\nurls = " not in text:
        project.write_text(text.replace("\nkeywords = ", f'\nurls = {{Source = "{SOURCE}"}}\nkeywords = ', 1))
        identity = ["-c", "user.name=release", "-c", "user.email=release@localhost"]
        must(["git", *identity, "commit", "--quiet", "--all", "--message", "urls"], cwd=folder)
    return folder


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The locked programs of a release; beside them the servers and the programs of users."""
    folder = tmp_path_factory.mktemp("tools") / "venv"
    must([sys.executable, "-m", "venv", str(folder)])
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    must([*pip, "--require-hashes", "-r", str(ROOT / "release/requirements.lock")])
    must([*pip, "pypiserver>=2.4,<3", "pipx>=1.7,<2"])
    return folder / "bin"


@pytest.fixture(scope="module")
def dist(clone: Path, tools: Path) -> Path:
    """The wheels for both machines, and the source distribution."""
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("gcc-aarch64-linux-gnu is not installed (a package of Debian)")
    for machine in MACHINES:
        must(["release/wheel.sh", str(tools), "dist", machine], cwd=clone)
    return clone / "dist"


def test_the_commit_may_be_released(clone: Path) -> None:
    address = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/tidegate"}

    must([sys.executable, "release/check.py", VERSION, "notes.md"], {**os.environ, **address}, clone)

    assert (clone / "notes.md").read_text(encoding="utf-8").strip()


def test_there_are_wheels_for_both_machines_with_programs_that_need_no_library(dist: Path) -> None:
    names = sorted(path.name for path in dist.iterdir())

    assert names[-1] == f"tidegate-{VERSION}.tar.gz"
    assert [re.findall(r"manylinux_2_17_(\w+?)\.", name) for name in names[:-1]] == [["aarch64"], ["x86_64"]]
    for name, machine in zip(names, sorted(MACHINES), strict=False):
        with zipfile.ZipFile(dist / name) as wheel:
            programs = [wheel.read(one) for one in wheel.namelist() if one.endswith("-program")]
            assert "tidegate/examples/workflows/pull-request.yml" in wheel.namelist()
        assert len(programs) == 2
        assert {int.from_bytes(program[18:20], "little") for program in programs} == {MACHINES[machine]}


@pytest.mark.skipif(shutil.which("qemu-aarch64-static") is None, reason="qemu-user-static is not installed")
def test_the_programs_for_arm_run(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("*aarch64*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    for program in tmp_path.rglob("*-program"):
        program.chmod(0o755)
        done = subprocess.run(["qemu-aarch64-static", program], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode in range(1, 128), (
            program,
            done,
        )  # without arguments it refuses; a signal would be negative


def test_the_same_commit_makes_the_same_wheel(clone: Path, tools: Path, dist: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    must(["git", "clone", "--quiet", "--no-local", str(clone), str(again)])

    must(["release/wheel.sh", str(tools), "dist", "x86_64"], cwd=again)

    for path in (again / "dist").iterdir():
        digests = [hashlib.sha256((folder / path.name).read_bytes()).hexdigest() for folder in (dist, again / "dist")]
        assert digests[0] == digests[1], path.name


def test_what_was_published_is_installed_by_pipx_and_runs(tools: Path, dist: Path, tmp_path: Path) -> None:
    port, packages = free_port(), tmp_path / "packages"
    packages.mkdir()
    index = f"http://127.0.0.1:{port}"
    anybody = ["-P", ".", "-a", ".", "--disable-fallback"]
    home = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    home["PIPX_DEFAULT_BACKEND"] = "pip"  # with the certificates and the index that pip is configured with
    with serving(
        [str(tools / "pypi-server"), "run", "-i", "127.0.0.1", "-p", str(port), *anybody, str(packages)], port
    ):
        files = [str(path) for path in dist.iterdir()]
        upload = [str(tools / "uv"), "publish", "--publish-url", index, "--username", "a", "--password", "b"]
        must([*upload, *files])
        must([*upload, "--check-url", f"{index}/simple/", *files])  # started again: what is there stays
        given = f"--extra-index-url {index}/simple/"
        must([str(tools / "pipx"), "install", f"tidegate=={VERSION}", "--pip-args", given], home, tmp_path)
    program = tmp_path / "home/.local/bin/tidegate"

    assert must([str(program), "--version"], home, tmp_path).stdout.split() == ["tidegate", VERSION]
    (installed,) = (tmp_path / "home").rglob("recorder-program")
    with zipfile.ZipFile(next(dist.glob("*x86_64*.whl"))) as wheel:
        assert installed.read_bytes() == wheel.read("tidegate/trial/recorder-program")
    assert "regressed" in must([str(program), "demo"], home, tmp_path).stdout


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry that anybody can read and write, as a public package is to read."""
    if shutil.which("docker-registry") is None:
        pytest.skip("docker-registry is not installed (a package of Debian)")
    port, folder = free_port(), tmp_path_factory.mktemp("registry")
    config = folder / "config.yml"
    storage = f"storage: {{filesystem: {{rootdirectory: {folder}}}}}"
    config.write_text(f"version: 0.1\n{storage}\nhttp: {{addr: '127.0.0.1:{port}'}}\n")
    with serving(["docker-registry", "serve", str(config)], port):
        yield f"127.0.0.1:{port}/acme/tidegate"


def test_what_was_pushed_is_pulled_by_anybody_and_runs(
    clone: Path, registry: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        require_equipment()
    except EngineMissingError as missing:
        pytest.skip(f"the image cannot be built here: {missing}")
    ours = ready(tmp_path_factory.mktemp("engine"), tmp_path_factory.mktemp("context"))
    ours.build(clone, f"{registry}:{VERSION}")
    ours.podman("push", "--tls-verify=false", f"{registry}:{VERSION}")
    users = Engine(tmp_path_factory.mktemp("users"), clone)  # a storage of its own, and no login

    users.podman("pull", "--quiet", "--tls-verify=false", f"{registry}:{VERSION}")

    (digest,) = re.findall(
        r"sha256:[0-9a-f]{64}", users.podman("inspect", "--format", "{{.Digest}}", registry + f":{VERSION}").stdout
    )
    run = ["run", "--rm", "--pull=never", "--entrypoint", "tidegate", f"{registry}@{digest}"]
    assert users.podman(*run, "--version").stdout.split() == ["tidegate", VERSION]
    assert "regressed" in users.podman(*run, "demo").stdout
