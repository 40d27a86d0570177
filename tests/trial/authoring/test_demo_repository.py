"""The demo's repository, and the demo itself from end to end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.demo import Demo, demo_of_the_session, run_demo
from tidegate.authoring.demo_repository import PULL_REQUESTS, PullRequest, make_repository
from tidegate.cli.demo import NAMES

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "taskmgr"
    assert make_repository(folder) == PULL_REQUESTS
    return folder


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=repository, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def named(name: str) -> PullRequest:
    (found,) = (each for each in PULL_REQUESTS if each.name == name)
    return found


def changed(repository: Path, name: str) -> list[str]:
    pull_request = named(name)
    return git(repository, "diff", "--name-only", f"{pull_request.base}...{pull_request.head}").splitlines()


def test_the_repository_is_clean_and_at_main(repository: Path) -> None:
    assert git(repository, "status", "--porcelain", "--branch") == "## main"
    assert git(repository, "branch", "--format=%(refname:short)").splitlines() == [
        "fix-office-guide",
        "main",
        "next-number",
        "shorter-flag",
    ]


def test_main_is_the_example_as_it_is_shipped(repository: Path) -> None:
    example = ROOT / "examples" / "taskmgr"
    tracked = git(repository, "ls-files").splitlines()

    assert {name: (repository / name).read_bytes() for name in tracked} == {
        path.relative_to(example).as_posix(): path.read_bytes()
        for path in example.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_each_pull_request_is_one_commit_on_its_base(repository: Path) -> None:
    for pull_request in PULL_REQUESTS:
        log = git(repository, "log", "--format=%an: %s", f"{pull_request.base}..{pull_request.head}")

        assert log == f"Tidegate demo: {pull_request.title}"


def test_each_pull_request_changes_what_it_says_and_no_scenario(repository: Path) -> None:
    assert changed(repository, "harmless") == ["taskmgr/store.py"]
    assert changed(repository, "regression") == ["README.md", "taskmgr/cli.py"]
    assert changed(repository, "improvement") == ["scenarios/report/AGENTS.md"]


def test_the_guides_keep_the_flag_that_the_regression_renames(repository: Path) -> None:
    head = named("regression").head
    users = git(repository, "grep", "--name-only", "-e", "--priority", head, "--", "*AGENTS.md").splitlines()

    assert users == [f"{head}:scenarios/create_and_link/AGENTS.md", f"{head}:scenarios/prioritise/AGENTS.md"]


def test_nobodys_git_configuration_reaches_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No identity, a default branch of another name, a hook that forbids commits and an outer GIT_DIR."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[init]\ndefaultBranch = trunk\n[core]\nhooksPath = {hooks}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))

    make_repository(tmp_path / "taskmgr")

    monkeypatch.delenv("GIT_DIR")
    assert git(tmp_path / "taskmgr", "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert not (tmp_path / "elsewhere").exists()


def test_two_demos_make_the_same_commits(repository: Path, tmp_path: Path) -> None:
    make_repository(tmp_path / "taskmgr")

    assert git(tmp_path / "taskmgr", "rev-parse", "--branches") == git(repository, "rev-parse", "--branches")


def test_an_edit_whose_text_is_gone_is_an_error(tmp_path: Path) -> None:
    from tidegate.authoring.demo_repository import _apply, _Edit

    (tmp_path / "page.md").write_text("twice twice")

    for old, times in (("twice", 2), ("never", 0)):
        with pytest.raises(ValueError, match=f"'{old}' {times} times"):
            _apply(tmp_path, _Edit("page.md", old, "new"))
    assert (tmp_path / "page.md").read_text() == "twice twice"


def test_the_tool_can_be_run_from_the_repository(repository: Path, tmp_path: Path) -> None:
    assert os.access(repository / "bin" / "taskmgr", os.X_OK)
    done = subprocess.run(
        [repository / "bin" / "taskmgr", "list"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


# From end to end


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return demo_of_the_session(tmp_path_factory)


def test_the_three_verdicts_are_as_they_have_to_be(demo: Demo) -> None:
    assert (demo.code, demo.stderr) == (0, "")
    assert {name: demo.result(name).verdict.state for name in NAMES} == {
        "harmless": "passed",
        "regression": "failed",
        "improvement": "passed",
    }


def test_harmless_changes_no_row(demo: Demo) -> None:
    assert demo.states("harmless") == {
        "create_and_link": "ok",
        "create_tasks": "ok",
        "prioritise": "ok",
        "report": "ok",
    }
    assert all(trial.outcome == "pass" for trial in demo.result("harmless").trials)


def test_exactly_the_scenarios_that_use_the_renamed_flag_regress(demo: Demo) -> None:
    assert demo.states("regression") == {
        "create_and_link": "regressed",
        "create_tasks": "ok",
        "prioritise": "regressed",
        "report": "ok",
    }


def test_the_red_comment_shows_the_command_and_the_reason(demo: Demo) -> None:
    comment = demo.comment("regression")

    assert "$ taskmgr add --priority high 'Design the schema'" in comment
    assert "taskmgr: unrecognized arguments: --priority Design the schema" in comment


def test_the_mended_guide_is_an_improvement(demo: Demo) -> None:
    assert demo.states("improvement") == {
        "create_and_link": "ok",
        "create_tasks": "ok",
        "prioritise": "ok",
        "report": "improved",
    }


def test_no_pull_request_of_the_demo_changes_a_definition_or_warns(demo: Demo) -> None:
    assert [(demo.result(name).definitions, demo.result(name).warnings) for name in NAMES] == [((), ())] * 3


def test_every_comment_is_printed_with_its_files(demo: Demo) -> None:
    for pull_request in PULL_REQUESTS:
        folder = demo.out / pull_request.name

        assert f"{pull_request.name}: {pull_request.title}" in demo.stdout
        assert f"comment: {folder / 'comment.md'}\n" in demo.stdout
        assert sorted(entry.name for entry in (folder / "runs").iterdir()) == ["base", "head"]


def test_the_comment_in_the_readme_is_the_demos_own(demo: Demo) -> None:
    """It is a picture: if this fails, run `python docs/comment_picture.py`, and look at what it draws."""
    drawn = (ROOT / "docs/pictures/comment.txt").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(drawn.splitlines()) > 20
    assert demo.comment("regression").startswith(drawn)
    for said in ("2 of 4 scenarios regressed", "taskmgr/cli.py:77", "2 of 2 trials pass on base, 0 of 3 on head"):
        assert said in readme


def test_a_demo_replaces_an_earlier_one_and_nothing_else(demo: Demo) -> None:
    assert sorted(entry.name for entry in demo.out.iterdir()) == [".made-by-tidegate-demo", *sorted(NAMES), "taskmgr"]
    assert (demo.out.parent / "pr").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.md").write_text("years of work")

    done = run_demo(tmp_path, "--out", "mine")

    assert done.code == 2
    assert "mine already exists" in done.stderr
    assert [entry.name for entry in (tmp_path / "mine").iterdir()] == ["thesis.md"]


def test_the_command_knows_the_names_of_all_pull_requests() -> None:
    assert tuple(each.name for each in PULL_REQUESTS) == NAMES
