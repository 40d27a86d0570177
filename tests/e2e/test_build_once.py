"""A pull request over several jobs whose sides are built once: `tidegate plan --build-once`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import FILES

Make = Callable[..., Any]
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
watch: [src/**]
files: {write: [COUNTER]}
policy: {fail_fast: false}
build: ["echo built >> COUNTER/builds", "mkdir bin && cp src/notes bin/notesEXTRA"]
agents: {docs: {type: doc-follower}}
"""


class Jobs:
    """The jobs of one pull request, each of which is a process in the same repository."""

    def __init__(self, tidegate: Make, repo: Any, counter: Path) -> None:
        self.tidegate, self.repo, self.counter = tidegate, repo, counter
        self.shards = Path(repo.root) / ".tidegate/shards"

    def run(self, *command: str, code: int = 0) -> Any:
        ran = self.tidegate(*command, cwd=self.repo.root)
        assert ran.code == code, ran.stdout + ran.stderr
        return ran

    def begin(self) -> list[str]:
        """Plan two shards, and build both sides; return what was said of the builds."""
        self.run("plan", "--base", "main", "--head", "pr", "--shards", "2", "--build-once")
        return [self.run("shard", "--build", side).stdout for side in ("base", "head")]

    def end(self, code: int) -> Any:
        """Run both shards and merge."""
        for number in (1, 2):
            self.run("shard", f"{number}/2")
        out = self.shards.parent / "out"
        merged = self.run("merge", "--pause", "0", "--out", str(out), code=code)
        merged.out = out
        return merged

    @property
    def builds(self) -> int:
        """How many builds have run."""
        return len((self.counter / "builds").read_text().splitlines())


@pytest.fixture
def jobs(make_repository: Make, tidegate: Make, tmp_path: Path) -> Callable[..., Jobs]:
    """The jobs of a pull request that breaks the tool, with four scenarios."""

    def make(
        extra: str = "",
        head: dict[str, str] | None = None,
        base: dict[str, str] | None = None,
        head_extra: str | None = None,
    ) -> Jobs:
        counter = tmp_path / "counter"
        counter.mkdir()
        counter.chmod(0o777)
        repo, scenario = make_repository("once"), FILES["scenarios/keep.yaml"]
        of_both = SUITE.replace("COUNTER", str(counter))
        suite = of_both.replace("EXTRA", extra)
        names = [f"keep_{number}" for number in range(4)]
        scenarios = {f"scenarios/{name}.yaml": scenario.replace("keep_notes", name) for name in names}
        files = {
            "src/notes": FILES["bin/notes"],
            "AGENTS.md": FILES["AGENTS.md"],
            "tidegate.yaml": suite,
            **scenarios,
            **(base or {}),
        }
        repo.commit(files)
        repo.git("update-index", "--chmod=+x", "src/notes")
        repo.git("commit", "--quiet", "--amend", "--no-edit")
        if head_extra is not None:
            head = {"tidegate.yaml": of_both.replace("EXTRA", head_extra)}
        repo.branch("pr", head or {"src/notes": FILES["bin/notes"].replace("list)", "lost)")})
        repo.git("checkout", "--quiet", "--force", "main")
        return Jobs(tidegate, repo, counter)

    return make


def states(merged: Any) -> set[str]:
    return {row["state"] for row in merged.result["rows"]}


def test_each_side_is_built_once_and_a_damaged_or_foreign_build_is_no_measurement(jobs: Callable[..., Jobs]) -> None:
    pull = jobs()
    said = pull.begin()
    assert ["base is built for all shards" in said[0], "head is built for all shards" in said[1]] == [True, True]
    kept = Path(shutil.copytree(pull.shards / "build", pull.repo.root.parent / "kept"))

    merged = pull.end(code=1)

    assert pull.builds == 2
    assert states(merged) == {"regressed"}
    assert {row["kind"] for row in merged.result["rows"]} == {"outcome"}

    # head's build in base's folder: it states what it is
    shutil.copy(kept / "head/build.tar", pull.shards / "build/base/build.tar")
    assert "the build of base cannot be used" in pull.run("shard", "1/2", code=4).stderr
    shutil.copy(kept / "base/build.tar", pull.shards / "build/base/build.tar")
    # half-written
    whole = (kept / "head/build.tar").read_bytes()
    (pull.shards / "build/head/build.tar").write_bytes(whole[: len(whole) // 2])
    assert "was cut off or changed" in pull.run("shard", "1/2", code=4).stderr
    # another build of head than the one that the shards used: their trials do not count
    pull.run("shard", "--build", "head")
    merged = pull.run("merge", "--pause", "0", "--out", str(merged.out), code=4)  # nothing is measured
    merged.out = pull.shards.parent / "out"
    assert states(merged) == {"not_measured"}
    assert "it used another build of head than this job" in merged.comment


def test_a_build_that_names_its_folder_is_made_by_each_job(jobs: Callable[..., Jobs]) -> None:
    pull = jobs(" && pwd > bin/where")
    said = pull.begin()
    assert all("cannot be moved, so each job makes it itself: bin/where contains the path" in text for text in said)
    assert states(pull.end(code=1)) == {"regressed"}
    assert pull.builds == 2 + 3 * 2  # two shards and the merge


def test_a_failed_build_of_head_is_known_to_all_jobs(jobs: Callable[..., Jobs]) -> None:
    pull = jobs(head={"src/notes": "", "tidegate.yaml": ""})
    suite = (pull.repo.root / "tidegate.yaml").read_text()
    pull.repo.git("checkout", "--quiet", "pr")
    (pull.repo.root / "tidegate.yaml").write_text(suite.replace("cp src/notes", "false; cp no-such-file"))
    pull.repo.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    pull.repo.git("checkout", "--quiet", "main")
    said = pull.begin()
    assert "the build of head failed, and all shards count it as failed: build on head" in said[1]
    merged = pull.end(code=1)
    assert {(row["state"], row["kind"]) for row in merged.result["rows"]} == {("regressed", "setup")}
    assert pull.builds == 1 + 3  # a failed build is tried three times
    plan = json.loads((pull.shards / "plan.json").read_text())
    assert plan["build_once"] is True


def test_a_template_that_head_s_build_replaces_by_a_link_is_a_weakened_check(jobs: Callable[..., Jobs]) -> None:
    here, elsewhere = "scenarios/keep_0/", "lax/"
    seeds = {f"{here}readme": "x\n", f"{elsewhere}readme": "x\n", f"{elsewhere}more": "x\n"}
    pull = jobs(base=seeds, head_extra=f" && rm -r {here} && ln -s ../{elsewhere} {here[:-1]}")
    pull.begin()
    merged = pull.end(code=1)
    assert "files that a build has made in its template: scenarios/keep_0" in merged.comment
