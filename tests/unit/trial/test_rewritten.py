"""Which files of its start a trial has changed."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from pathlib import Path

import pytest

from tidegate.model.trial import MANY, name_of
from tidegate.trial.rewritten import MOST_MADE, WatchedFiles, named
from tidegate.trial.snapshot import Snapshot, take
from tidegate.trial.workspace import Prepared


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return fill(tmp_path / "workspace", "a", "sub/b")


@pytest.fixture
def watched(tmp_path: Path, workspace: Path) -> WatchedFiles:
    return WatchedFiles(Prepared(fill(tmp_path / "start", "a", "sub/b"), ()), workspace)


def taken(workspace: Path) -> Snapshot:
    snapshot = take(str(workspace), leave_out=".git")
    assert snapshot is not None
    return snapshot


def looked(watched: WatchedFiles) -> set[str]:
    watched.look()
    return watched.rewritten


def test_what_is_left_alone_and_what_is_new_is_not_listed(watched: WatchedFiles, workspace: Path) -> None:
    fill(workspace, "new", ".git/index")
    assert looked(watched) == set()


OLD, NEW = "1" * 40, "2" * 40


@pytest.mark.parametrize(
    ("change", "listed"),
    [
        ({"refs/heads/kept": NEW}, {".git/refs/heads/kept"}),
        ({"refs/remotes/origin/main": NEW}, {".git/refs/remotes/origin/main"}),
        ({"packed-refs": f"{NEW} refs/heads/kept\n{OLD} refs/remotes/origin/main\n"}, {".git/refs/heads/kept"}),
        ({"packed-refs": f"{OLD} refs/remotes/origin/main\n"}, {".git/refs/heads/kept"}),
        ({"refs/heads/kept": OLD, "refs/heads/new": NEW}, set()),
        ({"packed-refs": f"# x\n{OLD} refs/heads/kept\n{OLD} refs/remotes/origin/main\n{NEW} refs/tags/new\n"}, set()),
        ({"refs/tags/kept": NEW}, {".git/refs/tags/kept"}),
        ({"refs/heads/origin/main": NEW}, {".git/refs/heads/origin/main"}),
        (
            {"packed-refs": f"{OLD} refs/heads/kept\n{OLD} refs/remotes/origin/main\n{NEW} refs/tags/kept\n"},
            {".git/refs/tags/kept"},
        ),
        (
            {"packed-refs": f"{OLD} refs/heads/kept\n{OLD} refs/remotes/origin/main\n{NEW} refs/replace/{OLD}\n"},
            {".git/refs/replace"},
        ),
    ],
)
def test_a_ref_that_leads_elsewhere_is_listed_wherever_git_keeps_it(
    watched: WatchedFiles, workspace: Path, change: dict[str, str], listed: set[str]
) -> None:
    fill(workspace, ".git/refs/heads/x", ".git/packed-refs")
    (workspace / ".git/packed-refs").write_text(f"{OLD} refs/heads/kept\n{OLD} refs/remotes/origin/main\n")
    watched.begin()
    for name, text in change.items():
        fill(workspace, f".git/{name}")
        (workspace / ".git" / name).write_text(text)
    assert looked(watched) == listed


@pytest.mark.parametrize(
    ("made", "listed"),
    [
        (".git/info/exclude", ".git/info/exclude"),
        (".git/info/grafts", ".git/info/grafts"),
        (".git/hooks/post-commit", ".git/hooks"),
        (".git/refs/replace/0", ".git/refs/replace"),
        (".git/shallow", ".git/shallow"),
        (".git/objects/info/commit-graph", ".git/objects/info/commit-graph"),
        (".git/objects/info/alternates", ".git/objects/info/alternates"),
    ],
)
def test_a_new_file_that_decides_what_git_shows_is_listed(
    watched: WatchedFiles, workspace: Path, made: str, listed: str
) -> None:
    fill(workspace, made, ".git/refs/heads/of-the-agent")
    assert looked(watched) == {listed}


@pytest.mark.parametrize(
    "made", [".git/main", ".git/refs/main", ".git/refs/tags/main", ".git/v1", ".git/refs/v1", ".git/commondir"]
)
def test_a_new_name_that_git_prefers_to_a_branch_or_tag_of_the_start_is_listed(
    watched: WatchedFiles, workspace: Path, made: str
) -> None:
    fill(workspace, ".git/refs/heads/before", ".git/refs/tags/v1")
    watched.begin()
    fill(workspace, ".git/refs/tags/other", ".git/refs/heads/v1-next")
    assert looked(watched) == set()
    fill(workspace, made)
    assert looked(watched) == {made}


@pytest.mark.parametrize("name", [".git/ORIG_HEAD", ".git/FETCH_HEAD", ".git/logs/HEAD", ".git/notes.txt"])
def test_what_the_setup_leaves_in_a_repository_is_compared_but_for_the_index(
    watched: WatchedFiles, workspace: Path, name: str
) -> None:
    others = (".git/index", ".git/modules/sub/index", ".git/worktrees/tree/index")
    fill(workspace, name, *others)
    watched.begin()
    for other in others:
        (workspace / other).write_text("y")
    assert looked(watched) == set()
    (workspace / name).write_text("y")
    assert looked(watched) == {name}


@pytest.mark.parametrize(
    ("made", "listed"),
    [
        ("refs/heads/1a2b3c4", True),
        ("refs/tags/1a2b3c4d5e", True),
        ("refs/tags/20240229", False),
        ("refs/tags/added", False),
    ],
)
def test_a_new_ref_that_is_named_like_the_start_of_a_commit_is_listed(
    watched: WatchedFiles, workspace: Path, made: str, *, listed: bool
) -> None:
    watched.begin()
    fill(workspace, f".git/{made}")
    assert looked(watched) == ({f".git/{made}"} if listed else set())


@pytest.mark.parametrize("made", [".git/v1", ".git/refs/v1", ".git/refs/tags/topic/a", ".git/topic/a"])
def test_a_name_that_git_prefers_to_a_new_branch_or_tag_is_listed(
    watched: WatchedFiles, workspace: Path, made: str
) -> None:
    fill(workspace, ".git/refs/tags/v1", ".git/refs/heads/topic/a")
    assert looked(watched) == set()
    fill(workspace, made)
    assert looked(watched) == {made}


@pytest.mark.parametrize("place", ["proj/.git", "store.git"])
@pytest.mark.parametrize(
    ("made", "listed"),
    [
        ("refs/heads/own", None),
        ("refs/replace/0", "refs/replace"),
        ("shallow", "shallow"),
        ("refs/tags/kept", "refs/tags/kept"),
        ("refs/remotes/origin/main", "refs/remotes/origin/main"),  # hides the packed one
    ],
)
def test_so_it_is_in_a_repository_that_the_setup_makes(
    watched: WatchedFiles, workspace: Path, place: str, made: str, listed: str | None
) -> None:
    fill(workspace, f"{place}/HEAD", f"{place}/refs/heads/kept", f"{place}/packed-refs", f"{place}/hooks/sample")
    (workspace / place / "packed-refs").write_text(f"{OLD} refs/remotes/origin/main\n")
    watched.begin()
    fill(workspace, f"{place}/{made}")
    assert looked(watched) == ({f"{place}/{listed}"} if listed else set())


def test_a_folder_with_a_file_head_is_no_repository(watched: WatchedFiles, workspace: Path) -> None:
    fill(workspace, "docs/HEAD")
    watched.begin()
    fill(workspace, "docs/hooks/x")
    assert looked(watched) == set()


def test_a_name_that_is_not_text_is_listed_as_text() -> None:
    assert named({"b", os.fsdecode(b"a\xff")}) == ("a\\xff", "b")


def test_an_object_of_the_start_that_is_replaced_is_listed(watched: WatchedFiles, workspace: Path) -> None:
    fill(workspace, ".git/objects/pack/one.pack")
    watched.begin()
    (workspace / ".git/objects/pack/one.pack").write_text("y")
    fill(workspace, ".git/objects/ab/new")
    assert looked(watched) == {".git/objects/pack/one.pack"}


def test_a_folder_that_becomes_a_link_to_a_copy_of_it_is_listed(watched: WatchedFiles, workspace: Path) -> None:
    """What is beside a script that checks run would be the tool's."""
    (workspace / "sub").rename(workspace / "copy")
    (workspace / "sub").symlink_to("copy")
    assert looked(watched) == {"sub"}


def test_a_branch_or_tag_of_the_setup_that_is_moved_is_listed(watched: WatchedFiles, workspace: Path) -> None:
    fill(workspace, ".git/refs/heads/before", ".git/refs/tags/start")
    watched.begin()
    (workspace / ".git/refs/tags/start").write_text("y")
    assert looked(watched) == {".git/refs/tags/start"}


def test_what_one_setup_command_makes_and_the_next_changes_is_listed_with_its_number(
    watched: WatchedFiles, workspace: Path
) -> None:
    fill(workspace, "expected")
    watched.begin()
    (workspace / "expected").write_text("y")
    watched.begin()
    assert (looked(watched), watched.made) == ({"expected (setup 2)"}, ("expected",))


def test_a_file_is_listed_for_each_step_that_changes_it(watched: WatchedFiles, workspace: Path) -> None:
    watched.begin()
    (workspace / "a").write_text("y")
    watched.look()
    watched.by = " (check 1)"
    watched.look()
    assert watched.rewritten == {"a"}
    (workspace / "a").write_text("z")
    assert looked(watched) == {"a", "a (check 1)"}
    assert {*map(name_of, watched.rewritten)} == {"a"}


def test_a_link_that_the_setup_makes_is_listed_with_where_it_leads(tmp_path: Path, workspace: Path) -> None:
    watched = WatchedFiles(Prepared(fill(tmp_path / "start", "a", "sub/b"), ()), workspace, lambda to: f"<{to}>")
    fill(workspace, "mine")
    (workspace / "expected").symlink_to("mine")
    watched.begin()
    assert watched.made == ("expected", "expected -> <mine>", "mine")


def test_of_more_files_of_the_setup_than_a_trial_keeps_only_links_are_known(
    watched: WatchedFiles, workspace: Path
) -> None:
    fill(workspace, *map(str, range(MOST_MADE)))
    (workspace / "x").symlink_to("a")
    watched.begin()
    assert watched.made == (MANY, "x -> a")


@pytest.mark.parametrize(
    ("to", "listed"),
    [
        ("/proc/self/environ", True),
        ("/dev/../dev/stdin", True),
        ("/dev/fd/0", True),
        ("../a", True),
        ("new", False),
        ("/usr/bin/env", False),
        ("b", True),
        ("//proc/self/fd/0", True),
        ("/dev/null", False),
        ("/tmp/..", True),
        ("..", True),
        ("../.git/to", True),
        ("../.git/to/self/fd/0", True),
        ("../.git/loop", True),
        ("new/../b", True),
        ("/dev/shm/tidegate-x", False),
        ("/dev/shm", True),
        ("/dev", True),
        ("/development/x", False),
    ],
)
@pytest.mark.parametrize("small", [True, False])
def test_a_new_link_to_what_a_check_brings_or_finds_from_the_start_is_listed(
    watched: WatchedFiles, workspace: Path, to: str, *, listed: bool, small: bool
) -> None:
    fill(workspace, "sub/new", ".git/x")
    (workspace / ".git/to").symlink_to("/proc")
    (workspace / ".git/loop").symlink_to("loop")
    (workspace / "sub/out").symlink_to(to)
    watched.look(taken(workspace) if small else None)
    assert watched.rewritten == ({f"sub/out -> {to}"} if listed else set())


@pytest.mark.parametrize("small", [True, False])
def test_a_new_pack_of_objects_is_listed_by_its_folder(watched: WatchedFiles, workspace: Path, *, small: bool) -> None:
    fill(workspace, ".git/objects/pack/one.pack")
    watched.begin()
    assert looked(watched) == set()
    fill(workspace, ".git/objects/pack/two.pack", ".git/objects/ab/new")
    watched.look(taken(workspace) if small else None)
    assert watched.rewritten == {".git/objects/pack"}


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(("made", "listed"), [("sub/.git/HEAD", {"sub/.git"}), ("new/.git/HEAD", set())])
def test_a_new_repository_in_a_folder_of_the_start_is_listed(
    watched: WatchedFiles, workspace: Path, made: str, listed: set[str], *, small: bool
) -> None:
    fill(workspace, made)
    watched.look(taken(workspace) if small else None)
    assert watched.rewritten == listed


def test_changed_removed_and_replaced_files_are(watched: WatchedFiles, workspace: Path) -> None:
    (workspace / "a").chmod(0o755)
    (workspace / "sub/b").unlink()
    assert looked(watched) == {"a", "sub/b"}


def test_a_file_that_is_put_back_stays_listed(watched: WatchedFiles, workspace: Path) -> None:
    (workspace / "a").write_text("y")
    watched.look()
    fill(workspace, "a")
    assert looked(watched) == {"a"}


def test_what_the_setup_makes_belongs_to_the_start(watched: WatchedFiles, workspace: Path) -> None:
    fill(workspace, "made", ".git/config", ".git/index")
    (workspace / "link").symlink_to("a")
    watched.begin()
    for name in ("made", ".git/config", ".git/index"):
        (workspace / name).write_text("y")
    (workspace / "link").unlink()
    (workspace / "link").symlink_to("sub/b")
    assert looked(watched) == {".git/config (setup 1)", "made", ".git/config", "link"}


def test_what_was_read_before_is_compared_in_the_same_way(watched: WatchedFiles, workspace: Path) -> None:
    (workspace / "link").symlink_to("a")
    (workspace / "empty").touch()
    watched.begin()
    watched.look(taken(workspace))
    assert watched.rewritten == set()
    (workspace / "a").chmod(0o755)
    (workspace / "sub/b").unlink()
    (workspace / "empty").write_text("y")
    fill(workspace, ".git/info/exclude")
    watched.look(taken(workspace))
    assert watched.rewritten == {"a", "sub/b", "empty", ".git/info/exclude"}


def test_a_large_file_in_place_of_a_small_one_is_not_read(watched: WatchedFiles, workspace: Path) -> None:
    with (workspace / "a").open("wb") as file:
        file.truncate(1 << 40)
    watched.look()
    watched.by = " (check 1)"
    assert looked(watched) == {"a"}


def test_a_change_that_leaves_all_times_as_they_were_is_listed(watched: WatchedFiles, workspace: Path) -> None:
    """A file in memory that is mapped changes without a new time."""
    assert looked(watched) == set()
    with (workspace / "a").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:1] = b"y"
    assert looked(watched) == {"a"}


@pytest.mark.parametrize(
    ("place", "rights", "listed"),
    [
        ("a", 0o200, {"a"}),
        ("a", 0o640, {"a"}),
        ("sub", 0o600, {"sub"}),
        (".", 0o711, {"."}),
        (".", 0o300, {".", "a", "sub", "sub/b"}),
    ],
)
def test_what_has_other_rights_is_listed(
    watched: WatchedFiles, workspace: Path, place: str, rights: int, listed: set[str]
) -> None:
    (workspace / place).chmod(rights)
    watched.look()
    watched.by = " (check 1)"
    found = looked(watched)
    (workspace / place).chmod(0o700)
    assert {name for name in found if rights != 0o300 or not name.endswith(watched.by)} == listed


@pytest.mark.parametrize("error", [PermissionError(), OSError(errno.ENAMETOOLONG, "")])
def test_a_folder_that_cannot_be_read_is_listed_as_the_workspace(
    watched: WatchedFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def refused(folder: Path) -> None:
        raise error

    fill(workspace, "new/x")
    monkeypatch.setattr(os, "scandir", refused)
    assert looked(watched) == {"."}


def test_a_workspace_in_memory_is_no_device(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        workspace = fill(Path(folder, "workspace"), "a", "new")
        (workspace / "link").symlink_to("new")
        (workspace / "same").symlink_to(workspace / "new")
        (workspace / "bad").symlink_to(workspace / "over")
        (workspace / "over").symlink_to("/proc/self/fd/0")
        watched = WatchedFiles(Prepared(fill(tmp_path / "start", "a"), ()), workspace)
        watched.look()
        assert {name.partition(" ")[0] for name in watched.rewritten} == {"bad", "over"}
