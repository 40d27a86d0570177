"""What images and releases are made of is pinned, and one script updates all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.thorough.release.test_release import DIGEST, ENGINE, Release
from tests.thorough.release.test_release import release as release

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
DAY = "20261121T000000Z"


@pytest.fixture
def project(release: Release) -> Release:
    """The project with its Dockerfile."""
    release.repo.commit({"Dockerfile": DOCKERFILE})
    return release


def test_base_and_packages_are_filled_in_and_filled_in_again(project: Release) -> None:
    for digest, day in (("sha256:" + "c" * 64, "20260101T000000Z"), (DIGEST, DAY)):
        done = project.run("python3", "release/refresh.py", digest, day)
        assert done.returncode == 0, done.stderr

    text = (project.repo.root / "Dockerfile").read_text(encoding="utf-8")
    assert f"ARG BASE=python:3.12-slim-bookworm@{DIGEST}\nARG SNAPSHOT={DAY}\n" in text
    assert len(text.splitlines()) == len(DOCKERFILE.splitlines())


@pytest.mark.parametrize(("digest", "day"), [("latest", DAY), (DIGEST, "yesterday"), (DIGEST + "\nRUN x", DAY)])
def test_what_is_no_digest_or_day_is_refused(project: Release, digest: str, day: str) -> None:
    done = project.run("python3", "release/refresh.py", digest, day)

    assert done.returncode != 0
    assert "not a digest and a day" in done.stderr
    assert project.repo.git("status", "--porcelain") == ""


def test_the_base_is_named_by_digest() -> None:
    assert re.search(r"^ARG BASE=python:3\.12-slim-bookworm@sha256:[0-9a-f]{64}$", DOCKERFILE, re.M)


def test_packages_come_from_one_day_of_debians_archive() -> None:
    assert re.search(r"^ARG SNAPSHOT=20\d{6}T\d{6}Z$", DOCKERFILE, re.M)


def test_every_stage_comes_from_the_base_or_from_nothing() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\w+))?", DOCKERFILE, re.M)

    assert stages[0] == ("${BASE}", "base")
    assert {name for name, _ in stages[1:]} == {"base", "scratch"}


@pytest.fixture
def tools(project: Release) -> None:
    """Programs in the place of gh and make."""
    for name, program in (("gh", ENGINE), ("make", "#!/bin/sh\nexit 0\n")):
        path = project.calls.parent / "bin" / name
        path.write_text(program)
        path.chmod(0o755)


@pytest.mark.usefixtures("tools")
def test_what_has_changed_is_proposed_by_a_job_that_runs_nothing_of_others(project: Release) -> None:
    done = project.run("release/refresh.sh", "refresh.patch", answer=DIGEST)
    assert done.returncode == 0, done.stderr
    project.repo.git("checkout", "--quiet", "Dockerfile")

    done = project.run("release/propose.sh", "refresh.patch")

    assert done.returncode == 0, done.stderr
    inspected, proposed = project.calls.read_text().splitlines()[:2]
    assert inspected.startswith("buildx imagetools inspect python:3.12-slim-bookworm ")
    assert proposed.startswith("pr create --head refresh/20")
    pushed = project.repo.git("ls-remote", "--heads", "origin").split()[-1]
    assert f"python:3.12-slim-bookworm@{DIGEST}" in project.repo.git(
        "show", f"{pushed.removeprefix('refs/heads/')}:Dockerfile"
    )


def test_an_answer_that_is_no_digest_changes_nothing(project: Release) -> None:
    assert project.run("release/refresh.sh", "refresh.patch", answer="null").returncode != 0
    assert not (project.repo.root / "refresh.patch").exists()


@pytest.mark.usefixtures("tools")
def test_a_patch_of_other_files_is_refused(project: Release) -> None:
    action = project.repo.root / "action.yml"
    action.write_text(action.read_text() + "# more\n")
    (project.repo.root / "refresh.patch").write_text(project.repo.git("diff") + "\n")
    project.repo.git("checkout", "--quiet", "action.yml")

    done = project.run("release/propose.sh", "refresh.patch")

    assert done.returncode == 1
    assert "the patch changes action.yml" in done.stderr
    assert project.repo.git("ls-remote", "--heads", "origin") == ""


@pytest.mark.usefixtures("tools")
def test_nothing_is_proposed_if_nothing_has_changed(project: Release) -> None:
    (project.repo.root / "refresh.patch").touch()

    assert project.run("release/propose.sh", "refresh.patch").returncode == 0
    assert project.repo.git("ls-remote", "--heads", "origin") == ""


def test_a_job_with_a_token_that_writes_runs_nothing_of_others() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/refresh.yml").read_text(encoding="utf-8"))
    update, propose = workflow["jobs"]["update"], workflow["jobs"]["propose"]

    assert update["permissions"] == {"contents": "read"}
    assert not [step for step in propose["steps"] if "make" in step.get("run", "") or "pip" in step.get("run", "")]


@pytest.mark.parametrize("place", ["requirements.lock", "images/agents/requirements.lock", "release/requirements.lock"])
def test_every_release_in_a_lock_file_has_hashes(place: str) -> None:
    text = (ROOT / place).read_text(encoding="utf-8").replace("\\\n", " ")
    releases = [line for line in text.splitlines() if not line.startswith("#")]

    assert releases
    assert all("==" in line and "--hash=sha256:" in line for line in releases)


def test_the_wheel_is_built_and_published_by_locked_programs() -> None:
    steps = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")

    assert "--require-hashes -r release/requirements.lock" in steps
    assert "release/wheel.sh .release/bin dist" in steps
    assert "--no-build-isolation" in (ROOT / "release/wheel.sh").read_text(encoding="utf-8")
