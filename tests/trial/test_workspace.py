"""The content of an agent's workspace, and what is read from it afterwards."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.make import scenario
from tidegate.errors import CannotRunError
from tidegate.history.fingerprint import scenario_files, template_files
from tidegate.suite.folders import matching_files as matching_scenarios
from tidegate.trial.safe_files import remove_trees
from tidegate.trial.workspace import TooSlowError, copy_workspace, matching_files, prepare, read_file
from tidegate.trial.workspace_diff import workspace_diff

GUIDANCE = ("AGENTS.md", ".claude/skills/**")
MOST_FILES_OF_GIT = 35  # each trial writes them
GIT_COMMIT = ["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--allow-empty"]


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    root.mkdir(exist_ok=True)
    return root


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def test_the_template_comes_from_the_definitions_and_the_guidance_from_the_side(tmp_path: Path) -> None:
    head = write(tmp_path / "head", {"t/in.txt": "head's", "AGENTS.md": "head's docs"})
    base = write(
        tmp_path / "base", {"t/in.txt": "base's", "AGENTS.md": "base's docs", ".claude/skills/x/S.md": "skill"}
    )

    made = prepare(scenario(template="t"), head, base, GUIDANCE, tmp_path / "made")

    assert contents(made.folder) == {"in.txt": "head's", "AGENTS.md": "base's docs", ".claude/skills/x/S.md": "skill"}
    assert made.guidance == ("AGENTS.md", ".claude/skills/x/S.md")


def test_files_have_the_same_dates_in_each_run_and_another_order_than_by_name(tmp_path: Path) -> None:
    """A tool that sorts by date would print another order otherwise, by the order in which git wrote the files."""
    side = write(tmp_path / "side", {"t/b.txt": "1", "t/a/c.txt": "2", "t/A.txt": "3"})
    made = prepare(scenario(template="t"), side, side, (), tmp_path / "made")
    copy_workspace(made, tmp_path / "copy")
    dates = {name: (tmp_path / "copy" / name).stat().st_mtime - 946_684_800 for name in ("A.txt", "a/c.txt", "b.txt")}
    assert dates == {"A.txt": 3, "a/c.txt": 1, "b.txt": 0}


def test_a_scenarios_own_guidance_replaces_the_suites(tmp_path: Path) -> None:
    side = write(tmp_path / "side", {"AGENTS.md": "a", "README.md": "r"})
    own = scenario(template=None).model_copy(update={"guidance": ("README.md",)})
    made = prepare(own, side, side, GUIDANCE, tmp_path / "made")
    assert contents(made.folder) == {"README.md": "r"}
    assert made.guidance == ("README.md",)


def test_guidance_inside_a_template_wins_and_is_the_sides_own(tmp_path: Path) -> None:
    head = write(tmp_path / "head", {"t/AGENTS.md": "head template", "AGENTS.md": "head root"})
    base = write(tmp_path / "base", {"t/AGENTS.md": "base template", "AGENTS.md": "base root"})

    made = prepare(scenario(template="t"), head, base, GUIDANCE, tmp_path / "made")

    assert contents(made.folder) == {"AGENTS.md": "base template"}


def test_an_initial_state_folder_becomes_the_workspaces_root(tmp_path: Path) -> None:
    head = write(tmp_path / "head", {"t/initial-state/a": "1", "t/README": "about the template"})

    made = prepare(scenario(template="t"), head, head, GUIDANCE, tmp_path / "made")

    assert contents(made.folder) == {"a": "1"}


def test_guidance_that_is_a_link_is_followed_inside_of_the_checkout_only(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside", {"secret": "s"})
    side = write(tmp_path / "side", {"docs/real.md": "text"})
    (side / "AGENTS.md").symlink_to("docs/real.md")
    (side / "CLAUDE.md").symlink_to(secret / "secret")

    made = prepare(scenario(template=None), side, side, ("AGENTS.md", "CLAUDE.md"), tmp_path / "made")

    assert contents(made.folder) == {"AGENTS.md": "text"}


def test_links_of_a_template_lead_no_guidance_out_of_the_workspace(tmp_path: Path) -> None:
    """A pull request's template may hold any link, and what makes the workspace may be root."""
    outside = write(tmp_path / "outside", {"skills/mine.md": "precious", "own.md": "precious"})
    side = write(tmp_path / "side", {".claude/skills/theirs.md": "hostile", "AGENTS.md": "hostile", "t/in.txt": ""})
    (side / "t" / ".claude").symlink_to(outside)
    (side / "t" / "AGENTS.md").symlink_to(outside / "not-there-yet")
    (side / "t" / "own.md").symlink_to(outside / "own.md")

    made = prepare(scenario(template="t"), side, side, (*GUIDANCE, "own.md"), tmp_path / "made")

    assert contents(outside) == {"own.md": "precious", "skills/mine.md": "precious"}
    assert made.guidance == ()


def test_a_link_of_a_template_that_leads_nowhere_in_trials_is_warned_of(tmp_path: Path) -> None:
    side = write(tmp_path / "d", {"data/exp": "1", "t/in": "1"})
    for name, target in (("out", "../data/exp"), ("inside", "in"), ("gone", "not-there"), ("system", "/dev/null")):
        (side / "t" / name).symlink_to(target)
    made = prepare(scenario(template="t"), side, side, (), tmp_path / "m")
    assert [one.partition(" is a link ")[0] for one in made.warnings] == ["out"]


def test_links_inside_of_a_template_are_served_as_they_are_meant(tmp_path: Path) -> None:
    head = write(tmp_path / "head", {"t/AGENTS.md": "head's", "t/skills/s.md": "head's"})
    base = write(tmp_path / "base", {"t/AGENTS.md": "base's", "t/skills/s.md": "base's"})
    for side in (head, base):
        (side / "t" / "CLAUDE.md").symlink_to("AGENTS.md")
        (side / "t" / ".claude").symlink_to(".")

    made = prepare(scenario(template="t"), head, base, (*GUIDANCE, "CLAUDE.md"), tmp_path / "made")

    assert contents(made.folder) == {"AGENTS.md": "base's", "CLAUDE.md": "base's", "skills/s.md": "base's"}


def test_repositories_that_a_build_left_in_a_template_are_none_in_the_workspace(tmp_path: Path) -> None:
    """Their configuration could start programs in git's commands here, which nothing confines."""
    side = write(tmp_path / "side", {"t/in.txt": "1", "t/sub/deep/f": "2", "t/sub/.gitignore": "f"})
    trap = f"touch {tmp_path}/owned"
    for place in (side / "t", side / "t/sub"):
        subprocess.run(["git", "init", "--quiet", place], check=True)
        subprocess.run(["git", "config", "core.fsmonitor", trap], cwd=place, check=True)
        subprocess.run([*GIT_COMMIT, "--message=x"], cwd=place, check=True)
    (tmp_path / "owned").unlink()
    (side / "t/sub/deep/.git").write_text(f"gitdir: {side}/t/sub/.git\n")

    made = prepare(scenario(template="t"), side, side, GUIDANCE, tmp_path / "made")
    copy_workspace(made, tmp_path / "w")
    write(tmp_path / "w", {"sub/deep/f": "3"})
    diff = workspace_diff(made, tmp_path / "w", tmp_path / "scratch").patch

    assert not (tmp_path / "owned").exists()
    assert b"-2" in diff
    assert b"+3" in diff


def test_folders_may_nest_deeper_than_python_does(tmp_path: Path) -> None:
    side = write(tmp_path / "side", {"t/in.txt": "1"})
    deep = str(side / "t")
    for _ in range(1200):
        deep += "/d"
        Path(deep).mkdir()
    try:
        made = prepare(scenario(template="t"), side, side, GUIDANCE, tmp_path / "made")
        assert (made.folder / "in.txt").read_text() == "1"
        assert template_files(side, scenario(template="t"), GUIDANCE) != ()
        with pytest.raises(ValueError, match=r"nest too deep|matches no file"):
            matching_scenarios(side, "**/*.yaml")
    finally:
        remove_trees(side / "t")
        remove_trees(tmp_path / "made")


def test_a_scenario_s_files_are_found_through_links_and_those_of_the_product_are_left_out(tmp_path: Path) -> None:
    guidance = ("CLAUDE.md", "docs/*.md")
    names = ("CLAUDE.md", "docs/a.md", "docs/data/b.md", "c.md")
    write(tmp_path, {"lib/judge.py": "1", "README.md": "1", **{f"real/initial-state/{name}": "1" for name in names}})
    (tmp_path / "t").symlink_to("real")
    (tmp_path / "judge.py").symlink_to("lib/judge.py")

    before = scenario_files(tmp_path, "t", ("python3", "judge.py"), guidance)
    assert {*before} == {"lib/judge.py", "t/initial-state/docs/data/b.md", "t/initial-state/c.md"}
    (tmp_path / "lib/judge.py").write_text("2")
    after = scenario_files(tmp_path, "t", ("python3", "judge.py"), guidance)
    assert {name for name in after if before[name] != after[name]} == {"lib/judge.py"}
    (tmp_path / "README.md").chmod(0o755)
    (tmp_path / "lib/link").symlink_to("/proc/kcore")
    assert {*scenario_files(tmp_path, None, ("lib",), ())} == {"lib/judge.py", "lib/link"}
    assert scenario_files(tmp_path, None, ("README.md",), ()) != {"README.md": before["lib/judge.py"]}
    assert scenario_files(tmp_path, None, (), guidance) == {}


@pytest.mark.parametrize("link", ["t", "t/initial-state"])
def test_a_template_that_has_become_a_link_out_of_the_checkout_is_not_copied(tmp_path: Path, link: str) -> None:
    """A side's build owns its checkout, and may put a link where the suite was checked to have a folder."""
    secret = write(tmp_path / "outside", {"secret": "s"})
    side = write(tmp_path / "side", {})
    (side / link).parent.mkdir(exist_ok=True)
    (side / link).symlink_to(secret)

    with pytest.raises(CannotRunError, match="leads out of the checkout"):
        prepare(scenario(template="t"), side, side, GUIDANCE, tmp_path / "made")


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("a.txt", "present"),
        ("nope", "missing"),
        ("nope/deeper", "missing"),
        ("dir", "not_a_file"),
        ("pipe", "not_a_file"),
        ("../outside", "escapes"),
        ("link-out", "escapes"),
        ("link-in", "present"),
        ("dir/../../outside", "escapes"),
        ("/etc/hostname", "escapes"),
        ("big", "too_large"),
    ],
)
def test_reading_stays_in_the_workspace_and_never_waits(tmp_path: Path, name: str, state: str) -> None:
    write(tmp_path, {"outside": "secret"})
    workspace = write(tmp_path / "w", {"a.txt": "hello", "dir/x": "", "big": "x" * 101})
    (workspace / "link-out").symlink_to(tmp_path / "outside")
    (workspace / "link-in").symlink_to("a.txt")
    os.mkfifo(workspace / "pipe")

    answer = read_file(workspace, name, 100)

    assert answer.state == state
    assert (answer.text is not None) == (state == "present")


@pytest.mark.parametrize(("place", "name"), [("a.txt", "a.txt"), ("dir/x", "dir/x"), ("dir", "dir/x")])
def test_what_its_owner_cannot_read_is_not_read_by_root_either(tmp_path: Path, place: str, name: str) -> None:
    workspace = write(tmp_path / "w", {"a.txt": "hello", "dir/x": "hello"})
    assert read_file(workspace, name, 100).state == "present"
    (workspace / place).chmod(0)
    assert read_file(workspace, name, 100).state == "unreadable"
    (workspace / place).chmod(0o700)


def test_a_pattern_ending_in_two_stars_means_everything_below(tmp_path: Path) -> None:
    write(tmp_path, {".claude/skills/a/SKILL.md": "", ".claude/skills/b.md": "", ".claude/other": ""})

    assert matching_files(tmp_path, GUIDANCE) == [".claude/skills/a/SKILL.md", ".claude/skills/b.md"]


def test_two_stars_also_go_into_links_to_folders_and_each_place_once(tmp_path: Path) -> None:
    write(tmp_path, {"outside/c.md": ""})
    root = write(tmp_path / "root", {"lib/notes/SKILL.md": "", "lib/notes/more/a.md": "", ".claude/skills/b.md": ""})
    skills = root / ".claude/skills"
    (skills / "notes").symlink_to("../../lib/notes")
    (skills / "out").symlink_to(tmp_path / "outside")
    (root / "lib/notes/loop").symlink_to("..")

    found = matching_files(root, GUIDANCE)

    assert [name for name in found if "loop" not in name] == [
        *(".claude/skills/b.md", ".claude/skills/notes/SKILL.md", ".claude/skills/notes/more/a.md")
    ]
    assert len(found) == 5


def test_a_huge_sparse_file_of_a_template_ends_in_time(tmp_path: Path) -> None:
    """git would compress all of it, and every trial would copy it."""
    side = write(tmp_path / "side", {"t/a": "x"})
    with (side / "t/huge").open("wb") as file:
        file.truncate(3 << 30)
    started = time.monotonic()

    with pytest.raises(TooSlowError, match="very large"):
        prepare(scenario(template="t"), side, side, GUIDANCE, tmp_path / "made", seconds=1)

    assert time.monotonic() - started < 60


def test_a_copy_ends_in_time(tmp_path: Path) -> None:
    made = prepare(scenario(template=None), tmp_path, tmp_path, (), tmp_path / "m")

    with pytest.raises(TooSlowError):
        copy_workspace(made, tmp_path / "w", 0)


def test_each_copy_is_a_repository_of_one_commit_in_few_files(tmp_path: Path) -> None:
    names = {"a", "a.b", "a-b/x", "ab/\xe9 y", "a0/deep/er/z", os.fsdecode(b"not \xff text"), *map(str, range(20))}
    side = write(tmp_path / "side", {f"t/{name}": name.encode("utf-8", "replace").decode() for name in names})
    write(side, {"t/.gitignore": "a\n", "t/run": "#!/bin/sh\n", "t/.gitattributes": "*.b -text\n"})
    (side / "t/run").chmod(0o755)
    (side / "t/link").symlink_to("nowhere/at/all")

    made = prepare(scenario(template="t"), side, side, (), tmp_path / "made")
    copy_workspace(made, tmp_path / "w")

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path / "w"), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("fsck", "--strict", "--full")
    assert git("status", "--porcelain", "--ignored") == ""
    assert len(git("ls-files").splitlines()) == len(names) + 4
    assert git("rev-list", "--count", "main") == "1"
    assert len(list((tmp_path / "w/.git").rglob("*"))) <= MOST_FILES_OF_GIT
    (tmp_path / "w/run").write_text("#!/bin/bash\n")
    subprocess.run([*GIT_COMMIT, "--all", "--message=more"], cwd=tmp_path / "w", check=True)
    assert git("diff", "--name-only", "HEAD~") == "run"


def test_the_same_files_make_the_same_commit(tmp_path: Path) -> None:
    side = write(tmp_path / "side", {"t/a": "1"})
    heads = set()
    for name in ("one", "two"):
        made = prepare(scenario(template="t"), side, side, (), tmp_path / name)
        heads.add((made.folder / ".git/packed-refs").read_text())
    assert len(heads) == 1


def test_folders_are_removed_without_following_links(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    (folder / "deep/er").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (folder / "deep/er/file").write_text("x")
    (folder / "link").symlink_to(outside)
    (tmp_path / "away").symlink_to(outside)
    remove_trees(folder, tmp_path / "away", tmp_path / "missing")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "secret").read_text() == "secret"


def test_guidance_may_have_a_name_that_is_no_text(tmp_path: Path) -> None:
    side = write(tmp_path / "side", {"docs/a.md": "x"})
    (side / os.fsdecode(b"docs/\xff.md")).write_text("y")
    made = prepare(scenario(template=None), side, side, ("docs/*",), tmp_path / "made")
    assert len(made.guidance_hash) == 64


def test_a_side_s_workspace_is_base_s_but_for_guidance_files(tmp_path: Path) -> None:
    base = write(tmp_path / "base", {"t/in.txt": "1", "AGENTS.md": "old", ".claude/skills/x/S.md": "gone"})
    head = write(tmp_path / "head", {"t/in.txt": "2", "AGENTS.md": "new", ".claude/skills/y z.md": "added"})
    asked = (scenario(template="t"), base)
    of_base = prepare(*asked, base, GUIDANCE, tmp_path / "of-base")
    made = prepare(*asked, head, GUIDANCE, tmp_path / "made", of_base=of_base)

    assert contents(made.folder) == {"in.txt": "1", "AGENTS.md": "new", ".claude/skills/y z.md": "added"}
    assert not (made.folder / ".claude/skills/x").exists()
    assert made.guidance == ("AGENTS.md", ".claude/skills/y z.md")
    times = [[(one.folder / name).stat().st_mtime for name in ("in.txt", "AGENTS.md")] for one in (of_base, made)]
    assert times[0] == times[1]
    untracked = ["git", "ls-files", "--others", "--exclude-standard"]
    assert subprocess.run(untracked, cwd=made.folder, capture_output=True, check=True).stdout == b""
    committed = ["git", "show", "HEAD:AGENTS.md"]
    assert subprocess.run(committed, cwd=made.folder, capture_output=True, check=True).stdout == b"old"
