"""The guidance files that the agent finds, and those that everything else finds."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.make import scenario
from tidegate.trial.directories import Folders
from tidegate.trial.guidance_swap import guidance_for_agent
from tidegate.trial.workspace import Prepared, copy_workspace, prepare

Files = Mapping[str, str]
Act = Callable[[Path], object]
LONG_AGO = (946_684_800, 946_684_800)


def write_files(folder: Path, files: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for path in sorted(folder.rglob("*"), reverse=True):
        os.utime(path, LONG_AGO)
    return folder


def state(folder: Path) -> dict[str, tuple[str, int, float]]:
    """What is in each file and link, and the rights and time of all."""
    found = {}
    for path in folder.rglob("*"):
        about, text = path.lstat(), "/"
        if path.is_symlink():
            text = f"to {path.readlink()}"
        elif path.is_file():
            text = path.read_text()
        found[path.relative_to(folder).as_posix()] = (text, about.st_mode, about.st_mtime)
    return found


def nothing(_: Path) -> None: ...


class Seen:
    """A workspace as base has it and `setup` leaves it, then with head's guidance, then after the agent did `act`."""

    def __init__(self, tmp_path: Path, base: Files, head: Files, setup: Act = nothing, act: Act = nothing) -> None:
        folders = Folders(record=tmp_path / "record", scratch=tmp_path / "scratch")
        folders.scratch.mkdir(parents=True)
        sides = [write_files(tmp_path / name, files) for name, files in (("base", base), ("head", head))]
        prepared, of_agent = Prepared(sides[0], tuple(base)), Prepared(sides[1], tuple(head))
        setup(write_files(folders.workspace, base))
        self.before = state(folders.workspace)
        with guidance_for_agent(prepared, of_agent, folders, None) as self.written:
            self.by_agent = state(folders.workspace)
            act(folders.workspace)
        self.after = state(folders.workspace)

    @property
    def texts_by_agent(self) -> dict[str, str]:
        """What the agent finds in files."""
        return {name: text for name, (text, _, _) in self.by_agent.items() if text != "/"}

    @property
    def texts_after(self) -> dict[str, str]:
        """What checks find in files."""
        return {name: text for name, (text, _, _) in self.after.items() if text != "/"}


SIDES = [
    pytest.param({"AGENTS.md": "old"}, {"AGENTS.md": "new"}, id="changed"),
    pytest.param({"x": "same"}, {"x": "same", "docs/deep/new.md": "new"}, id="added"),
    pytest.param({"x": "same", "docs/deep/old.md": "old"}, {"x": "same"}, id="removed"),
    pytest.param({"docs/a": "old"}, {"docs/a/b.md": "new"}, id="file to folder"),
    pytest.param({"docs/a/b.md": "old", "docs/c": "same"}, {"docs/a": "new", "docs/c": "same"}, id="folder to file"),
    pytest.param({"a/b": "same", "a/c": "old"}, {"a/b": "same", "a/c": "new"}, id="beside another"),
    pytest.param({"AGENTS.md": "same", "d/x": "y"}, {"AGENTS.md": "same", "d/x": "y"}, id="the same"),
]


@pytest.mark.parametrize(("base", "head"), SIDES)
def test_the_agent_finds_the_files_of_the_side(tmp_path: Path, base: Files, head: Files) -> None:
    seen = Seen(tmp_path, base, head)
    assert {name: what for name, (what, *_) in seen.by_agent.items()} == {
        name: what for name, (what, *_) in state(tmp_path / "head").items()
    }


@pytest.mark.parametrize(("base", "head"), SIDES)
def test_afterwards_all_is_as_before_with_rights_and_times(tmp_path: Path, base: Files, head: Files) -> None:
    seen = Seen(tmp_path, base, head)
    assert seen.after == seen.before


def run(command: str) -> Act:
    def act(workspace: Path) -> None:
        assert os.system(f"cd {workspace} && {command}") == 0

    return act


@pytest.mark.parametrize(
    "setup",
    [
        "echo more >> AGENTS.md; echo made > docs/new.md",
        "rm AGENTS.md; rm -r docs",
        "chmod 400 AGENTS.md; touch docs/new.md",
        "rm AGENTS.md && mkdir AGENTS.md && touch AGENTS.md/x; mkdir docs/new.md",
        "rm AGENTS.md && ln -s other AGENTS.md; mv docs other && ln -s other docs",
    ],
)
def test_what_the_setup_has_left_is_there_for_the_agent_in_place_of_the_side_s_own(tmp_path: Path, setup: str) -> None:
    base, head = {"AGENTS.md": "old", "docs/x": "same"}, {"AGENTS.md": "new", "docs/x": "same", "docs/new.md": "new"}
    seen = Seen(tmp_path, base, head, run(setup))
    assert seen.by_agent == seen.after == seen.before


def test_a_folder_that_the_setup_uses_stays(tmp_path: Path) -> None:
    seen = Seen(tmp_path, {"docs/old.md": "old"}, {"AGENTS.md": "new"}, run("touch docs/of-setup"))
    assert seen.texts_by_agent == {"AGENTS.md": "new", "docs/of-setup": ""}
    assert seen.after == seen.before


@pytest.mark.parametrize(
    ("head", "act", "after"),
    [
        ({"AGENTS.md": "new"}, "echo more >> AGENTS.md", {"AGENTS.md": "newmore\n"}),
        ({"AGENTS.md": "new"}, "rm AGENTS.md", {}),
        ({}, "echo made > AGENTS.md", {"AGENTS.md": "made\n"}),
        ({"AGENTS.md": "old", "docs/a.md": "new"}, "touch docs/b", {"AGENTS.md": "old", "docs/b": ""}),
        ({"AGENTS.md/a": "new"}, "touch AGENTS.md/b", {"AGENTS.md/b": ""}),
        ({"AGENTS.md/a": "new"}, "rm -r AGENTS.md", {}),
        ({"AGENTS.md": "new"}, "rm AGENTS.md && ln -s x AGENTS.md", {"AGENTS.md": "to x"}),
        ({"AGENTS.md": "new"}, "chmod 777 AGENTS.md", {"AGENTS.md": "new"}),
        ({"AGENTS.md": "new"}, "printf new > AGENTS.md", {"AGENTS.md": "new"}),
        ({"AGENTS.md": "new"}, "cp -p AGENTS.md x && mv x AGENTS.md", {"AGENTS.md": "new"}),
    ],
)
def test_what_the_trial_has_changed_is_part_of_its_outcome(tmp_path: Path, head: Files, act: str, after: Files) -> None:
    assert Seen(tmp_path, {"AGENTS.md": "old"}, head, act=run(act)).texts_after == after


def test_what_is_written_is_told_whatever_its_text_is(tmp_path: Path) -> None:
    names = {"AGENTS.md": "same", "CLAUDE.md": "same", "GEMINI.md": "same"}
    told = [
        Seen(
            tmp_path / name, names, {**names, **more}, act=run("printf same > AGENTS.md; cat *.md; rm GEMINI.md")
        ).written
        for name, more in (("base", {}), ("head", {"docs/new.md": "new"}))
    ]
    assert told == [{"AGENTS.md", "GEMINI.md"}] * 2


def test_nothing_is_written_through_a_link_that_the_trial_has_made(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"a.md": "new"})
    seen = Seen(tmp_path, {"d/a.md": "old"}, {"d/a.md": "new"}, act=run(f"rm -r d && ln -s {outside} d"))
    assert seen.texts_after == {"d": f"to {outside}"}
    assert (outside / "a.md").read_text() == "new"


def test_a_workspace_that_the_trial_has_removed_stays_away(tmp_path: Path) -> None:
    seen = Seen(tmp_path, {"a.md": "old"}, {"a.md": "new"}, act=run("rm -r ../workspace"))
    assert seen.after == {}


GUIDANCE = ("AGENTS.md", "docs/*.md")


def with_git(tmp_path: Path, head: Files, act: str, setup: str = ":") -> tuple[str, str]:
    """Return what the command prints in the agent's place, and what git finds changed afterwards."""
    files = {"t/in.txt": "x", "AGENTS.md": "old", "docs/a.md": "old"}
    base, side = write_files(tmp_path / "base", files), write_files(tmp_path / "head", head)
    prepared = prepare(scenario(template="t"), base, base, GUIDANCE, tmp_path / "of base")
    of_agent = prepare(scenario(template="t"), base, side, GUIDANCE, tmp_path / "of head", of_base=prepared)
    folders = Folders(record=tmp_path / "record", scratch=tmp_path / "scratch")
    folders.scratch.mkdir(parents=True)
    copy_workspace(prepared, folders.workspace)

    def printed(command: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-ec", command], cwd=folders.workspace, stdout=subprocess.PIPE, check=True, text=True
        )
        return done.stdout

    printed(setup)
    with guidance_for_agent(prepared, of_agent, folders, None):
        told = printed(act)
    return told, printed("git status --short")


COMMIT = "git -c user.name=n -c user.email=e commit --quiet --allow-empty --message=x"
HEADS = [
    pytest.param({"AGENTS.md": "longer", "docs/a.md": "new"}, id="changed"),
    pytest.param({"AGENTS.md": "old"}, id="removed"),
    pytest.param({"AGENTS.md": "old", "docs/a.md": "old", "docs/b.md": "new"}, id="added"),
]


@pytest.mark.parametrize("setup", [":", "git status", COMMIT, "git switch --quiet --create x", "git gc --quiet"])
@pytest.mark.parametrize("head", HEADS)
def test_for_git_the_guidance_of_the_side_is_no_change_whatever_the_setup_did(
    tmp_path: Path, head: Files, setup: str
) -> None:
    assert with_git(tmp_path, head, "git status --short", setup) == ("", "")


@pytest.mark.parametrize("head", HEADS)
def test_a_commit_of_all_that_changed_has_what_the_trial_has_written_alone(tmp_path: Path, head: Files) -> None:
    act = f"echo y > in.txt; git add --all; {COMMIT}; git show --name-only --format="
    assert with_git(tmp_path, head, act) == ("in.txt\n", "")


@pytest.mark.parametrize("remove", ["git rm --quiet", "git rm --quiet --cached", "rm -f"])
def test_guidance_that_differs_can_be_removed(tmp_path: Path, remove: str) -> None:
    told, _ = with_git(tmp_path, {"AGENTS.md": "longer"}, f"{remove} AGENTS.md; git status --short -- AGENTS.md")
    assert told.split()[:2] == ["D", "AGENTS.md"]


def test_git_finds_what_is_written_to_guidance_that_differs(tmp_path: Path) -> None:
    told, after = with_git(tmp_path, {"AGENTS.md": "new", "docs/a.md": "old"}, "printf own > AGENTS.md; git status -s")
    assert told == after == " M AGENTS.md\n"
