"""The pull request's diffs: the category of each file, and how much of it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import FILES
from tidegate.model.progress import Progress
from tidegate.model.result import FileChange
from tidegate.run.checkouts import RevisionPair, commits_of, two_sides
from tidegate.run.pull_request_job import (
    MOST_CHARACTERS,
    MOST_FILES,
    file_changes,
    load_pull_request,
)
from tidegate.run.run_job import Options
from tidegate.suite.load import load_suite
from tidegate.suite.plan import watched_files
from tidegate.vcs.revisions import changed_files, file_diffs, resolve

Make = Callable[..., Any]
Files = dict[str, str | None]


@pytest.fixture
def changes(make_repository: Make) -> Callable[[dict[str, str | None]], dict[str, FileChange]]:
    """The changes of a branch with these files, by path."""

    def made(files: dict[str, str | None]) -> dict[str, FileChange]:
        repo = make_repository()
        repo.commit(FILES)
        repo.branch("pr", files)
        root: Path = repo.root
        base, head = resolve(root, "main"), resolve(root, "pr")
        suite = load_suite(root, "tidegate.yaml", environ={})
        paths = changed_files(root, base, head, watched_files(suite))
        return {change.path: change for change in file_changes(root, base, head, paths, [suite])}

    return made


def test_the_suite_s_file_belongs_to_every_scenario(changes: Any) -> None:
    (change,) = changes({"tidegate.yaml": FILES["tidegate.yaml"] + "trials: {jobs: 2}\n"}).values()
    assert (change.role, change.scenarios) == ("definition", ())
    assert "+trials: {jobs: 2}" in change.diff


def test_definitions_come_first_with_their_scenarios(changes: Any) -> None:
    """By default, everything else is watched."""
    definition = FILES["scenarios/keep.yaml"].replace("Two notes", "Both notes")
    found = changes({"README.md": "x", "bin/notes": "#!/bin/sh\n", "scenarios/keep.yaml": definition})
    assert [(path, one.role, one.scenarios) for path, one in found.items()] == [
        ("scenarios/keep.yaml", "definition", ("keep_notes",)),
        ("README.md", "watched", ()),
        ("bin/notes", "watched", ()),
    ]
    assert "+description: Both notes are kept." in found["scenarios/keep.yaml"].diff


def test_guidance_is_the_subject_s(changes: Any) -> None:
    (change,) = changes({"AGENTS.md": "other words\n"}).values()
    assert change.role == "watched"


def test_a_file_that_is_gone_is_shown_as_gone(changes: Any) -> None:
    (change,) = changes({"bin/notes": None}).values()
    assert "deleted file" in change.diff


def test_a_long_diff_is_cut_and_says_so(changes: Any) -> None:
    (change,) = changes({"long.txt": "x" * 79 + "\n" + ("y" * 79 + "\n") * 500}).values()
    assert len(change.diff) < MOST_CHARACTERS + 100
    assert change.diff.endswith("characters left out")


def test_no_more_files_than_a_reader_looks_at(changes: Any) -> None:
    assert len(changes({f"{n:03d}.txt": "x\n" for n in range(MOST_FILES + 5)})) == MOST_FILES


def test_each_file_has_its_own_diff(make_repository: Make) -> None:
    """Names that git quotes, lines that look like its own, and a file that becomes a link, of which git makes two."""
    repo = make_repository()
    names = ["a", "b\tc", "d\ne", "g", "é f"]
    repo.commit(dict.fromkeys(names, "old\n"))
    repo.git("checkout", "--quiet", "-b", "pr")
    (repo.root / "a").unlink()
    (repo.root / "a").symlink_to("g")
    repo.commit({name: f"new {number}\ndiff --git a/g b/g\n" for number, name in enumerate(names) if number})

    found = file_diffs(repo.root, resolve(repo.root, "main"), resolve(repo.root, "pr"), names)

    assert list(found) == names
    assert found["a"].count("diff --git") == 2
    assert [f"+new {number}\n" in found[name] for number, name in enumerate(names)] == [False, *[True] * 4]


def test_more_files_are_compared_than_one_command_can_name(make_repository: Make) -> None:
    repo = make_repository()
    names = [f"{number:05d}{'-' * 240}" for number in range(9_000)]
    repo.commit({"a": "old\n"})
    repo.branch("pr", dict.fromkeys(names, "new\n"))
    found = file_diffs(repo.root, resolve(repo.root, "main"), resolve(repo.root, "pr"), names)
    assert list(found) == names


def test_no_attribute_of_a_commit_starts_a_program(make_repository: Make, tmp_path: Path) -> None:
    """A diff driver that the machine knows could be named by anyone's .gitattributes."""
    repo = make_repository()
    repo.commit({"a": "old\n"})
    repo.branch("pr", {"a": "new\n", ".gitattributes": "* diff=evil\n"})
    for key in ("command", "textconv"):
        repo.git("config", f"diff.evil.{key}", f"touch {tmp_path}/taken; true")

    found = file_diffs(repo.root, resolve(repo.root, "main"), resolve(repo.root, "pr"), ["a"])

    assert found["a"].endswith("-old\n+new")
    assert not (tmp_path / "taken").exists()


TEMPLATE = {"scenarios/keep/list.txt": "first\n"}
WHOLE, ONE_GATE = FILES | TEMPLATE, {"scenarios/keep.yaml": FILES["scenarios/keep.yaml"].rpartition("    - ")[0]}
NO_GATE = {"scenarios/keep.yaml": FILES["scenarios/keep.yaml"].partition("evaluation:")[0]}


class Link(str):
    """A file that is a symbolic link with this target."""


@pytest.fixture
def definitions(make_repository: Make, tmp_path: Path) -> Callable[..., list[tuple[str, str]]]:
    """What a pull request changes in definitions: its effects and details."""

    def found(base: Mapping[str, str], head: Files) -> list[tuple[str, str]]:
        repo = make_repository()
        for name, target in base.items():
            (repo.root / name).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(target, Link):
                (repo.root / name).symlink_to(target)
        repo.commit({name: text for name, text in base.items() if not isinstance(text, Link)})
        repo.branch("pr", head)
        commits = commits_of(repo.root, RevisionPair("main", "pr"))
        with two_sides(repo.root, commits, tmp_path, tmp_path / "out") as sides:
            options = Options(environ={}, progress=Progress())
            loaded = load_pull_request(repo.root, commits.target, sides, tmp_path, options)
        return [(change.effect, change.detail) for change in loaded.definitions]

    return found


TASK = FILES["scenarios/keep.yaml"].partition("evaluation:")[0]
JUDGE = "judge: {type: command, model: mine, command: COMMAND}\n"


def evaluated(script: str) -> dict[str, str]:
    one = f"{{type: code_judge, name: j, script: {script}}}"
    return FILES | {"scenarios/keep.yaml": TASK + f"evaluation:\n  evaluators: [{one}]\n"}


def judged(command: str) -> dict[str, str]:
    return FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + JUDGE.replace("COMMAND", command)}


@pytest.mark.parametrize(
    ("base", "head", "found"),
    [
        (judged("python3 -m judge") | {"judge/__main__.py": "1"}, {"judge/__main__.py": "2"}, "judge/__main__.py"),
        (judged("python3 judge.py") | {"judge.py": "1", "lib.py": "1"}, {"judge.py": "2"}, "judge.py"),
        (judged("python3 judge.py") | {"judge.py": "1", "lib.py": "1"}, {"lib.py": "2", "bin/notes": ""}, ""),
    ],
)
def test_the_files_and_packages_that_a_judges_command_names_are_the_judge(
    definitions: Any, base: Mapping[str, str], head: Files, found: str
) -> None:
    assert definitions(base, head) == ([("less", f"judge: {found}")] if found else [])


PACKAGE = {"scenarios/checks/__main__.py": "1", "lib/real.py": "1"}


@pytest.mark.parametrize(
    ("base", "head", "found"),
    [
        (PACKAGE | {"scenarios/checks/lib.py": Link("../../lib/real.py")}, {"lib/real.py": "2"}, "lib/real.py"),
        (PACKAGE | {"scenarios/checks/sub": Link("../../lib")}, {"lib/new.py": "2"}, "lib/new.py"),
        (PACKAGE, {"lib/real.py": "2"}, ""),
    ],
)
def test_links_of_a_script_s_package_lead_to_files_of_it(
    definitions: Any, base: Mapping[str, str], head: Files, found: str
) -> None:
    assert definitions({**evaluated("python3 checks"), **base}, head) == (
        [("less", f"files: {found}")] if found else []
    )


SH = "#!/bin/sh\n"


@pytest.mark.parametrize(
    ("base", "head", "found"),
    [
        ({}, {"bin/grep": SH}, "grep"),
        ({"bin/check": SH + "false"}, {"bin/check": SH}, "check"),
        ({"bin/check": SH}, {"bin/check": None}, "check"),
        ({"bin/check": Link("../lib/check"), "lib/check": SH + "false"}, {"lib/check": SH}, "check"),
        ({"tools/grep": SH}, {"tidegate.yaml": FILES["tidegate.yaml"].replace("[bin]", "[tools, bin]")}, "grep"),
        ({}, {"bin/notes": SH, "bin/lib.txt": "x", "tools/grep": SH}, ""),
    ],
)
def test_programs_of_path_other_than_the_tool_are_what_checks_find(
    definitions: Any, base: Mapping[str, str], head: Files, found: str
) -> None:
    assert definitions({**FILES, **base}, head) == ([("other", f"programs of path: {found}")] if found else [])


@pytest.mark.parametrize(
    ("base", "tip", "head", "effects", "is_added"),
    [
        ({"bin/notes": FILES["bin/notes"]}, WHOLE, WHOLE, [], False),
        ({"bin/notes": FILES["bin/notes"]}, WHOLE, WHOLE | {"scenarios/keep/list.txt": "x"}, ["less"], True),
        (WHOLE, ONE_GATE, ONE_GATE, [], True),
        (WHOLE, ONE_GATE, NO_GATE, ["less"], True),
        (WHOLE, {"other": ""}, ONE_GATE, ["less"], True),
    ],
)
def test_what_the_target_branch_has_by_now_is_no_change_of_a_branch_stacked_on_a_squashed_one(
    make_repository: Make, tmp_path: Path, base: Files, tip: Files, head: Files, effects: list[str], is_added: bool
) -> None:
    repo = make_repository()
    repo.commit(base)
    repo.branch("pr", head)
    repo.git("checkout", "--quiet", "main")
    repo.commit(tip)
    commits = commits_of(repo.root, RevisionPair("main", "pr"))
    with two_sides(repo.root, commits, tmp_path, tmp_path / "out") as sides:
        options = Options(environ={}, progress=Progress())
        loaded = load_pull_request(repo.root, commits.target, sides, tmp_path, options)
    assert [change.effect for change in loaded.definitions] == effects
    assert ("added" in {row.presence for row in loaded.job.plan.rows}) is is_added
