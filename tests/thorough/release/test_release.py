"""The release scripts, with a real repository, and a program that records its calls instead of the container engine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.conftest import Repository

ROOT = Path(__file__).parents[3]
DIGEST, AGENTS_DIGEST = "sha256:" + "a" * 64, "sha256:" + "b" * 64
IMAGE = "registry.example/acme/tidegate"
SOURCE = "https://github.com/acme/tidegate"
PYPROJECT = f'[project]\nname = "tidegate"\nversion = "{{version}}"\nurls = {{{{Source = "{SOURCE}"}}}}\n'
CHANGELOG = """\
# Changelog

## [Unreleased]

## [{version}] - 2026-11-21

### Added

- All of it.

## [0.0.1]

- Old.
"""
# Answers what buildx would; its calls are kept, one per line.
ENGINE = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in *inspect*) printf '"%s"' "$ANSWER" ;; esac
"""


class Release:
    """A repository as that of a release, with the scripts in it and a remote."""

    def __init__(self, folder: Path, make_repository: Callable[..., Repository]) -> None:
        self.repo = make_repository("project")
        self.remote = folder / "remote.git"
        subprocess.run(["git", "init", "--quiet", "--bare", str(self.remote)], check=True)
        self.repo.git("remote", "add", "origin", str(self.remote))
        self.calls = folder / "calls"
        self.calls.touch()
        (folder / "bin").mkdir()
        (folder / "bin/docker").write_text(ENGINE)
        (folder / "bin/docker").chmod(0o755)
        self.path = f"{folder / 'bin'}:{os.environ['PATH']}"
        scripts = {f"release/{path.name}": path.read_text() for path in (ROOT / "release").iterdir() if path.is_file()}
        self.repo.commit({**scripts, "action.yml": (ROOT / "action.yml").read_text()})

    def version(self, version: str) -> None:
        """Make it this version's."""
        self.repo.commit(
            {"pyproject.toml": PYPROJECT.format(version=version), "CHANGELOG.md": CHANGELOG.format(version=version)}
        )

    def run(self, *command: str, answer: str = DIGEST) -> subprocess.CompletedProcess[str]:
        """One script, in the repository."""
        environ = {
            "PATH": self.path,
            "HOME": str(self.remote.parent),
            "CALLS": str(self.calls),
            "ANSWER": answer,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "acme/tidegate",
        }
        return subprocess.run(command, cwd=self.repo.root, env=environ, capture_output=True, text=True, check=False)

    def tag(self, version: str) -> subprocess.CompletedProcess[str]:
        """Release it, from the branch's commit as the job would check it out."""
        self.repo.git("checkout", "--quiet", "main")
        self.version(version)
        self.repo.git("checkout", "--quiet", "--detach")
        return self.run("release/tag.sh", version, IMAGE, DIGEST, AGENTS_DIGEST)

    def tagged(self, tag: str, file: str = "pyproject.toml") -> str:
        """A file as the remote's tag has it."""
        shown = ["git", "--git-dir", str(self.remote), "show", f"{tag}:{file}"]
        return subprocess.run(shown, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def release(tmp_path: Path, make_repository: Callable[..., Repository]) -> Release:
    """Version 1.2.3."""
    made = Release(tmp_path, make_repository)
    made.version("1.2.3")
    return made


def test_a_version_that_is_ready_has_its_notes(release: Release) -> None:
    done = release.run("python3", "release/check.py", "1.2.3", "notes.md")

    assert done.returncode == 0, done.stderr
    assert (release.repo.root / "notes.md").read_text() == "### Added\n\n- All of it.\n"


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("1.2", "no version of the form"),
        ("1.2.3; echo", "no version of the form"),
        ("1.2.4", "pyproject.toml says 1.2.3"),
    ],
)
def test_a_version_that_is_not_the_projects_is_refused(release: Release, version: str, why: str) -> None:
    done = release.run("python3", "release/check.py", version, "notes.md")

    assert done.returncode == 1
    assert why in done.stderr
    assert not (release.repo.root / "notes.md").exists()


@pytest.mark.parametrize("urls", ["", 'urls = {Source = "https://github.com/other/tidegate"}\n'])
def test_a_wheel_that_does_not_name_its_repository_is_refused(release: Release, urls: str) -> None:
    """`tidegate init` writes it into workflows."""
    release.repo.commit({"pyproject.toml": f'[project]\nname = "tidegate"\nversion = "1.2.3"\n{urls}'})
    done = release.run("python3", "release/check.py", "1.2.3", "notes.md")

    assert done.returncode == 1
    assert f'urls = {{Source = "{SOURCE}"}}' in done.stderr


def test_a_version_without_notes_is_refused(release: Release) -> None:
    release.repo.commit({"CHANGELOG.md": "# Changelog\n\n## [1.2.3]\n\n## [0.0.1]\n\n- Old.\n"})
    assert "says nothing" in release.run("python3", "release/check.py", "1.2.3", "notes.md").stderr


def test_a_version_is_released_once(release: Release) -> None:
    assert release.tag("1.2.3").returncode == 0
    release.repo.commit({"more": "x"}, on="main")
    assert "there already" in release.run("python3", "release/check.py", "1.2.3", "notes.md").stderr


def test_a_release_that_failed_after_its_tag_is_started_again(release: Release) -> None:
    """From the same commit and with the same images; with others it ends."""
    assert release.tag("1.2.3").returncode == 0
    before = release.tagged("v1.2.3", "action.yml")
    release.repo.git("tag", "--delete", "v1.2.3", "v1")
    release.repo.git("checkout", "--quiet", "--detach", "main")

    checked = release.run("python3", "release/check.py", "1.2.3", "notes.md")
    again = release.run("release/tag.sh", "1.2.3", IMAGE, DIGEST, AGENTS_DIGEST)
    release.repo.git("checkout", "--quiet", "--detach", "main")
    others = release.run("release/tag.sh", "1.2.3", IMAGE, AGENTS_DIGEST, DIGEST)

    assert (checked.returncode, again.returncode, others.returncode) == (0, 0, 1), again.stderr
    assert "with other images" in others.stderr
    assert release.tagged("v1.2.3", "action.yml") == before


def test_both_images_are_built_for_the_architecture_with_provenance_and_sbom(release: Release) -> None:
    done = release.run("release/build.sh", IMAGE, "1.2.3", "arm64")

    assert done.returncode == 0, done.stderr
    _, first, second = release.calls.read_text().splitlines()
    for call in (first, second):
        assert "--push --platform linux/arm64 --provenance=mode=max --sbom=true" in call
        assert f"org.opencontainers.image.revision={release.repo.git('rev-parse', 'HEAD')}" in call
        assert "org.opencontainers.image.source=https://github.com/acme/tidegate" in call
    assert first.endswith(f"--tag {IMAGE}:1.2.3-arm64 .")
    assert second.endswith(f"--tag {IMAGE}-agents:1.2.3-arm64 --build-arg IMAGE={IMAGE}:1.2.3-arm64 images/agents")


def test_both_architectures_are_one_image_whose_digest_is_told(release: Release) -> None:
    done = release.run("release/join.sh", IMAGE, "1.2.3")

    assert (done.returncode, done.stdout) == (0, DIGEST + "\n")
    created, _ = release.calls.read_text().splitlines()
    assert created == f"buildx imagetools create --tag {IMAGE}:1.2.3 {IMAGE}:1.2.3-amd64 {IMAGE}:1.2.3-arm64"


def test_an_answer_that_is_no_digest_ends_the_release(release: Release) -> None:
    done = release.run("release/join.sh", IMAGE, "1.2.3", answer="null")
    assert (done.returncode, done.stdout) == (1, "")


def test_the_tags_actions_start_the_images_by_digest_and_no_branch_has_them(release: Release) -> None:
    before = release.repo.git("rev-parse", "main")
    done = release.tag("1.2.3")

    assert done.returncode == 0, done.stderr
    ours = yaml.safe_load((ROOT / "action.yml").read_text())
    for file, image in (("action.yml", f"{IMAGE}@{DIGEST}"), ("agents/action.yml", f"{IMAGE}-agents@{AGENTS_DIGEST}")):
        action = yaml.safe_load(release.tagged("v1.2.3", file))
        assert action["runs"] == {"using": "docker", "image": f"docker://{image}"}
        assert (action["inputs"], action["outputs"]) == (ours["inputs"], ours["outputs"])
        assert release.tagged("v1", file) == release.tagged("v1.2.3", file)
    assert release.repo.git("ls-remote", "--heads", "origin") == ""
    assert release.repo.git("rev-parse", "main~1") == before


def test_the_major_versions_tag_follows_forwards_only(release: Release) -> None:
    for version in ("1.2.3", "1.10.0", "2.0.0", "1.2.4"):
        done = release.tag(version)
        assert done.returncode == 0, done.stderr

    assert 'version = "1.10.0"' in release.tagged("v1")
    assert 'version = "2.0.0"' in release.tagged("v2")
    assert 'version = "1.2.4"' in release.tagged("v1.2.4")


def test_what_is_no_digest_is_not_written(release: Release) -> None:
    release.repo.git("checkout", "--quiet", "--detach")
    done = release.run("release/tag.sh", "1.2.3", IMAGE, "latest", AGENTS_DIGEST)

    assert done.returncode != 0
    assert release.repo.git("ls-remote", "--tags", "origin") == ""


def test_the_workflow_gives_each_job_what_it_needs_and_no_more() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    permissions = {name: set(job["permissions"].items()) - {("contents", "read")} for name, job in jobs.items()}

    assert workflow["permissions"] == {}
    assert "images" in jobs["public"]["needs"]
    assert "public" in jobs["publish"]["needs"]
    assert "publish" in jobs["tag"]["needs"]
    assert not [step for step in jobs["publish"]["steps"] if "build" in step.get("run", "")]
    assert permissions == {
        "check": set(),
        "build": {("packages", "write")},
        "images": {("packages", "write"), ("id-token", "write"), ("attestations", "write")},
        "public": set(),
        "wheel": set(),
        "publish": {("id-token", "write"), ("attestations", "write")},
        "tag": {("contents", "write")},
    }
    assert "inputs.version" not in "".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
