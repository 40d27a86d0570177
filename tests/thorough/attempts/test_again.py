"""A tool that fails by chance is not cleared by trying again: not at a re-run, and not at a push."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import NOTES, SUITE, Ran, start
from tests.thorough.attempts.attempt import FILES, keep

STEPS = "{keep_notes: [notes add first, notes add second], version: []}"
ALIKE = SUITE.replace("{type: doc-follower}", f"{{type: scripted, steps: {STEPS}}}")  # deterministic
CHANCE = ALIKE.replace("scripted,", "scripted, deterministic: false,")


def unsteady(folder: Path, outcomes: str) -> str:
    """The tool: its trials pass and fail in this order, which a file outside of the trials counts; then all pass."""
    counted = f"n=$(cat {folder}/count 2>/dev/null || echo 1); echo $((n + 1)) > {folder}/count"
    fails = f'[ "$(echo {outcomes} | cut -c $n)" = F ] && exit 1'
    return NOTES.replace("  add) shift;", f'  add) shift; [ "$1" = first ] && {{ {counted}; {fails}; }};')


@pytest.fixture
def pushed(tmp_path: Path) -> Callable[..., Ran]:
    """Push files to the pull request, and run it. Trials may use the folder `luck`, which is outside of them."""
    repo = Repository(tmp_path / "repo")
    (luck := tmp_path / "luck").mkdir()

    def push(files: dict[str, str], base: dict[str, str] | None = None) -> Ran:
        if not (repo.root / "tidegate.yaml").exists():
            suite = (base or {}).get("tidegate.yaml", ALIKE) + f"files: {{write: ['{luck}']}}\n"
            repo.commit({**FILES, **(base or {}), "tidegate.yaml": suite})
            repo.git("checkout", "--quiet", "-b", "pr")
        if files:
            repo.commit(files)
        return start(tmp_path / "out", "pr", "--base", "main", "--pause", "0", "--jobs", "1", cwd=repo.root)

    return push


def red(ran: Ran) -> bool:
    return (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed")


def heads(ran: Ran) -> int:
    return len([t for t in ran.result["trials"] if (t["side"], t["scenario"]) == ("head", "keep_notes")])


@pytest.mark.attempt(
    "has a tool that fails by chance, and runs the job again until a trial passes", "failed: regressed"
)
def test_a_re_run_that_passes_does_not_clear_a_deterministic_row(tmp_path: Path, pushed: Callable[..., Ran]) -> None:
    """It fails in 60 % of its trials."""
    assert red(pushed({"bin/notes": unsteady(tmp_path / "luck", "FFFPPFFPFPFFFPFPFFPFPFFPFFPFFF")}))
    assert red(again := pushed({})), again.row("keep_notes")["reason"]
    assert any("its repeats disagree" in warning for warning in again.result["warnings"])


@pytest.mark.attempt("has a tool that fails by chance, and pushes until a trial passes", "failed: regressed")
def test_a_push_that_passes_once_does_not_clear_a_deterministic_row(tmp_path: Path, pushed: Callable[..., Ran]) -> None:
    tool = unsteady(tmp_path / "luck", "FFFPPFFPFPFFFPFPFFPFPFFPFFPFFF")
    assert red(pushed({"bin/notes": tool}))
    assert red(again := pushed({"bin/notes": tool + "# repaired, it says\n"})), again.row("keep_notes")["reason"]


@pytest.mark.attempt(
    "has a tool that fails by chance, and changes the prompt until a trial passes", "failed: regressed"
)
@pytest.mark.parametrize("suite", [ALIKE, CHANCE], ids=["deterministic", "by chance"])
def test_a_new_prompt_does_not_clear_a_row(tmp_path: Path, pushed: Callable[..., Ran], suite: str) -> None:
    tool = unsteady(tmp_path / "luck", "F" * 30 + "PPPFFPFPFFFPFPFFPFPFFPFFPFFF")
    assert red(pushed({"bin/notes": tool}, {"tidegate.yaml": suite}))
    (tmp_path / "luck/count").write_text("31")
    assert red(again := pushed(keep("Add two", "Write two"))), again.row("keep_notes")["reason"]


@pytest.mark.attempt("has a health check that fails by chance, and pushes until trials begin", "failed: regressed")
def test_a_setup_that_passes_later_does_not_clear_a_row(tmp_path: Path, pushed: Callable[..., Ran]) -> None:
    flag, steady = tmp_path / "luck/broken", "PPPFFPFPFFFPFPFFPFPFFPFFPFFF"
    flag.touch()
    tool = unsteady(tmp_path / "luck", steady).replace("  --version)", f"  --version) [ -e {flag} ] && exit 1;")
    whole = CHANCE + "policy: {fail_fast: false}\n"  # the other scenario fails, too, and would end the run before
    assert red(pushed({"bin/notes": tool}, {"tidegate.yaml": whole}))
    flag.unlink()
    assert red(again := pushed({"bin/notes": tool + "# x\n"})), again.row("keep_notes")["reason"]


def test_a_repair_of_a_deterministic_row_takes_five_more_trials(tmp_path: Path, pushed: Callable[..., Ran]) -> None:
    assert red(pushed({"bin/notes": NOTES.replace("  add)", "  append)")}))
    repaired = pushed({"bin/notes": NOTES + "# repaired\n"})
    assert (repaired.code, repaired.row("keep_notes")["state"]) == (0, "ok"), repaired.row("keep_notes")["reason"]
    assert heads(repaired) == 6
    assert repaired.result["cost"]["trials"] == {"base": 2, "head": 7}, "the other scenario has one on each side"


def test_a_clean_pull_request_has_one_trial_of_a_deterministic_row(pushed: Callable[..., Ran]) -> None:
    for text in ("a", "b"):
        ran = pushed({"bin/notes": NOTES + f"# {text}\n"})
        assert ran.code == 0
        assert ran.result["cost"]["trials"] == {"base": 2, "head": 2}


@pytest.mark.attempt("has its build read the message of a commit that changes no file", "failed: regressed")
def test_a_commit_without_a_change_is_tested_anew(tmp_path: Path) -> None:
    repo = Repository(tmp_path / "repo")
    build = (
        "mkdir -p out; cp bin/notes out; if git log -1 --format=%s | grep -q break; then echo exit 1 > out/notes; fi"
    )
    suite = CHANCE.replace("path: [bin]", f"path: [out]\nbuild: ['{build}']")
    repo.commit({**FILES, "tidegate.yaml": suite})
    repo.branch("pr", {"bin/notes": NOTES + "# x\n"})
    pr = ("pr", "--base", "main", "--pause", "0")

    assert start(tmp_path / "out", *pr, cwd=repo.root).code == 0
    repo.commit({}, "break")
    assert start(tmp_path / "out", *pr, cwd=repo.root).code == 1
