"""Base fails although its history passes: what head leaves behind can be the reason, so that nothing is proven."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import NOTES, SUITE, VERSION, Ran, start
from tests.thorough.attempts.attempt import FILES, FORGETFUL
from tests.warm import run_tidegate

STEPS = "{type: scripted, deterministic: false, steps: {keep_notes: [notes add first, notes add second], version: []}}"


class Machine:
    """A repository whose tool, on base, fails while the file `lock` is in a folder outside of all trials."""

    def __init__(self, folder: Path, agent: str = "{type: doc-follower}") -> None:
        self.folder = folder
        self.left = folder / "left"
        self.left.mkdir()
        self.repo = Repository(folder / "repo")
        suite = (
            SUITE.replace("{type: doc-follower}", agent) + f"build: [sh build.sh]\nfiles: {{write: ['{self.left}']}}\n"
        )
        self.tool = NOTES.replace("  add) shift;", f"  add) shift; [ -e {self.left}/lock ] && exit 3;")
        self.repo.commit({**FILES, "tidegate.yaml": suite, "bin/notes": self.tool, "build.sh": "true\n"})
        self.spoils = {"build.sh": f"touch {self.left}/lock\n"}

    def record(self, *more: str) -> None:
        """Add trials of main to the history, as a nightly job does."""
        done = run_tidegate("run", "--rev", "main", "--history", *more, cwd=self.repo.root)
        assert done.returncode in (0, 1), done.stderr

    def pushed(self, files: dict[str, str] | None = None) -> Ran:
        """Commit files to the branch `pr`, and run the pull request."""
        if files is not None:
            known = self.repo.git("branch", "--list", "pr")
            self.repo.git("checkout", "--quiet", *(["pr"] if known else ["-b", "pr", "main"]))
            self.repo.commit(files)
        arguments = ("--base", "main", "--head", "pr", "--pause", "0")
        return start(self.folder / "out", "pr", *arguments, cwd=self.repo.root)


def ended(ran: Ran, agent: str = "docs") -> tuple[int, str, str]:
    row = ran.row("keep_notes", agent)
    return ran.code, row["state"], row["kind"]


UNPROVEN = (5, "baseline_changed", "base_fails")


@pytest.mark.attempt("has its build leave something behind that makes base's tool fail as well", "unproven", 5)
def test_a_build_that_makes_base_fail_hides_no_regression(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.record()

    ran = machine.pushed({**machine.spoils, "bin/notes": FORGETFUL})

    assert ended(ran) == UNPROVEN, ran.stderr
    reason = "base passes 0 of 2 trials in this run, but 1 of 1 in its history, and head passes 0 of 1"
    assert reason in ran.row("keep_notes")["reason"]
    assert "inconclusive · 1 of 2 scenarios failed on base, too, although its history passes" in ran.comment
    assert "tidegate run --rev BRANCH --history" in ran.comment

    # What base's failures in that run were does not become its history.
    assert ended(machine.pushed({"README.md": "again\n"})) == UNPROVEN

    # A run of main by itself does: base is known to fail.
    machine.record()
    known = machine.pushed()
    assert ended(known) == (0, "ok", "outcome"), known.stderr
    assert "passing on neither side" in known.result["verdict"]["summary"]


@pytest.mark.attempt("has its build make base's build fail, which runs at the same time", "failed: regressed")
def test_a_failed_build_of_base_is_repeated_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.record()
    lock = machine.left / "held"
    waits = f"for i in 1 2 3 4 5 6 7 8 9; do [ -e {lock} ] && exit 1; sleep 0.2; done\n"  # as for a port
    holds = f"touch {lock}; sleep 2; rm {lock}\n"
    machine.repo.commit({"build.sh": waits}, on="main")
    ran = machine.pushed({"build.sh": holds, "bin/notes": FORGETFUL})
    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed"), ran.stderr


@pytest.mark.attempt("pushes what makes base fail as well, to clear an earlier red", "failed: regressed")
def test_a_base_that_fails_clears_no_earlier_red(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.pushed({"bin/notes": FORGETFUL}).code == 1
    assert ended(machine.pushed(machine.spoils))[:2] == (1, "regressed")


@pytest.mark.attempt(
    "has its build make base's tool fail as well, where base has no history",
    "no_regression",
    0,
    why="whether base ever passed is not known: let a nightly job record base's history",
)
def test_without_a_history_a_base_that_fails_is_a_warning(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    ran = machine.pushed({**machine.spoils, "bin/notes": FORGETFUL})
    assert ended(ran) == (0, "ok", "outcome")
    assert any("passes on neither side" in warning for warning in ran.result["warnings"])


@pytest.mark.attempt(
    "has the prompt of another scenario make base fail as well, and breaks the tool with the next push", "unproven", 5
)
def test_a_prompt_that_makes_base_fail_hides_no_regression(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.record()
    prompt = f"task: |\n  ```sh\n  notes --version\n  touch {machine.left}/lock\n  ```"
    machine.pushed({"scenarios/version.yaml": VERSION.replace("task: Print the version.", prompt)})
    assert (machine.left / "lock").exists()
    assert ended(machine.pushed({"bin/notes": FORGETFUL})) == UNPROVEN


def test_where_head_passes_a_base_that_fails_does_no_harm(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.record()
    ran = machine.pushed({**machine.spoils, "bin/notes": NOTES})
    assert ended(ran) == (0, "improved", "outcome"), ran.stderr


@pytest.mark.attempt("has its build make base fail as well, where the agent is not deterministic", "unproven", 5)
def test_a_base_that_stops_passing_is_unproven_where_chance_has_a_part(tmp_path: Path) -> None:
    machine = Machine(tmp_path, STEPS)
    machine.record("--trials", "10")

    ran = machine.pushed({**machine.spoils, "bin/notes": FORGETFUL})

    assert ended(ran) == UNPROVEN, ran.stderr
    assert ran.row("keep_notes")["base"]["history"] == [10, 10]
    assert ended(machine.pushed({"bin/notes": FORGETFUL + "# again\n"})) == UNPROVEN
    machine.record("--trials", "5")
    known = machine.pushed()  # a re-run goes on with its test, unless base is known to fail since
    assert known.code == 0, known.stderr
