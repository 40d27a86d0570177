"""What an agent changed in its workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.make import scenario, sure
from tests.trial.test_workspace import write
from tidegate.trial.snapshot import take
from tidegate.trial.workspace import copy_workspace, prepare
from tidegate.trial.workspace_diff import NoDiffError, apply_diff, new_folders, workspace_diff


def test_the_diff_shows_what_the_agent_changed(tmp_path: Path) -> None:
    made = prepare(
        scenario(template="t"), write(tmp_path / "d", {"t/a": "1\n", "t/b": "1\n"}), tmp_path / "d", (), tmp_path / "m"
    )
    copy_workspace(made, tmp_path / "w")
    write(tmp_path / "w", {"a": "2\n", "new": "x\n"})
    (tmp_path / "w" / "b").unlink()

    diff = workspace_diff(made, tmp_path / "w", tmp_path / "scratch").patch.decode()

    assert "-1\n+2" in diff
    assert "new file mode" in diff
    assert "deleted file mode" in diff


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ("", "\0\nLOST\n"),
        ("*.txt -diff\n", "LOST\n"),
        ("*.txt binary\n", "LOST\n"),
        ("*.txt ident\n", "$Id: LOST $\n"),
        ("*.txt working-tree-encoding=UTF-16\n", "LOST\n"),
        ("*.txt text\n", "LOST\r\n"),
    ],
)
def test_what_a_file_holds_is_shown_whatever_the_workspace_says_of_it(
    tmp_path: Path, attributes: str, text: str
) -> None:
    side = write(tmp_path / "d", {"t/out.txt": "kept\n"})
    made = prepare(scenario(template="t"), side, side, (), tmp_path / "m")
    for folder in ("w", "again"):
        copy_workspace(made, tmp_path / folder)
    write(tmp_path / "w", {"out.txt": text, "new.txt": text, ".gitattributes": attributes})

    diff = workspace_diff(made, tmp_path / "w", tmp_path / "scratch").patch

    assert diff.count(b"LOST") == 2
    assert apply_diff(tmp_path / "again", diff)
    assert (tmp_path / "again/out.txt").read_bytes() == text.encode()


def test_repositories_inside_of_the_workspace_and_pipes_are_named_since_the_diff_does_not_show_them(
    tmp_path: Path,
) -> None:
    made = prepare(scenario(template=None), tmp_path, tmp_path, (), tmp_path / "m")
    copy_workspace(made, tmp_path / "w")
    write(tmp_path / "w", {"log/.git/HEAD": "ref: refs/heads/main\n", "log/l": "LOST\n", "plain/l": "x\n"})
    os.mkfifo(tmp_path / "w" / "pipe")

    assert workspace_diff(made, tmp_path / "w", tmp_path / "scratch").unshown == ("log", "pipe")


def test_a_name_that_git_refuses_elsewhere_is_in_the_diff(tmp_path: Path) -> None:
    made = prepare(scenario(template=None), tmp_path, tmp_path, (), tmp_path / "m")
    copy_workspace(made, tmp_path / "w")
    write(tmp_path / "w", {"git~1/j\xfcqk": "LOST\n"})

    found = workspace_diff(made, tmp_path / "w", tmp_path / "scratch")
    assert (b"LOST" in found.patch, found.unshown) == (True, ())


def test_a_new_empty_folder_is_named_since_the_diff_does_not_show_it(tmp_path: Path) -> None:
    made = prepare(scenario(template=None), tmp_path, tmp_path, (), tmp_path / "m")
    (made.folder / "old").mkdir()
    copy_workspace(made, tmp_path / "w")
    (tmp_path / "w" / "new").mkdir()

    assert workspace_diff(made, tmp_path / "w", tmp_path / "scratch").unshown == ("new",)
    start, after = (take(str(folder), leave_out=".git") for folder in (made.folder, tmp_path / "w"))
    assert new_folders(sure(start), sure(after)) == ("new",)


def test_a_diff_that_is_too_large_is_none(tmp_path: Path) -> None:
    made = prepare(scenario(template=None), tmp_path, tmp_path, (), tmp_path / "m")
    copy_workspace(made, tmp_path / "w")
    write(tmp_path / "w", {"f": "1\n" * 1000})

    with pytest.raises(NoDiffError, match="its diff has"):
        workspace_diff(made, tmp_path / "w", tmp_path / "scratch", limit_bytes=1000)


def test_large_files_are_left_out_and_named_unless_the_template_has_them(tmp_path: Path) -> None:
    side = write(tmp_path / "d", {"t/same": "s" * 2_000, "t/changed": "c" * 2_000, "t/.gitattributes": "* text\n"})
    made = prepare(scenario(template="t"), side, side, (), tmp_path / "m")
    copy_workspace(made, tmp_path / "w")
    write(tmp_path / "w", {"changed": "d" * 2_000, "sub/new*": "n" * 2_000, "sub/new1": "small\n"})

    changes = workspace_diff(made, tmp_path / "w", tmp_path / "scratch", large_file=1_000)

    assert changes.left_out == ("changed", "sub/new*")
    assert b"+small" in changes.patch
    assert b"dddd" not in changes.patch
    assert b"nnnn" not in changes.patch


def test_the_diff_runs_nothing_that_the_agent_configured(tmp_path: Path) -> None:
    """An agent that rewrites its .git must not get a program started outside of the supervisor."""
    made = prepare(scenario(template=None), tmp_path, tmp_path, (), tmp_path / "m")
    copy_workspace(made, tmp_path / "w")
    trap = f"touch {tmp_path}/owned"
    config = f'[core]\n fsmonitor = "{trap}"\n[diff "x"]\n command = {trap}\n[filter "x"]\n clean = {trap}\n'
    write(tmp_path / "w", {".git/config": config, ".gitattributes": "* filter=x diff=x\n", "f": "1\n"})

    diff = workspace_diff(made, tmp_path / "w", tmp_path / "scratch").patch

    assert b"+1" in diff
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("template", [{"a": "1\n"}, {"a": "1\n", ".gitattributes": "* text\n"}])
@pytest.mark.parametrize(
    "changed", [{"a": "2\n"}, {"b": "new\n"}, {"zeros": "1\0"}, {"é": "1\n"}, {"d/x": "1" * 600_000}]
)
def test_applied_to_a_fresh_workspace_it_gives_the_agents(
    tmp_path: Path, template: dict[str, str], changed: dict[str, str]
) -> None:
    """Small or large, text or not, written by Tidegate or by git."""
    definitions = write(tmp_path / "d", {f"t/{name}": text for name, text in template.items()})
    made = prepare(scenario(template="t"), definitions, definitions, (), tmp_path / "m")
    copy_workspace(made, tmp_path / "w")
    copy_workspace(made, tmp_path / "fresh")
    write(tmp_path / "w", changed)

    diff = workspace_diff(made, tmp_path / "w", tmp_path / "scratch").patch

    assert apply_diff(tmp_path / "fresh", diff)
    for name, text in {**template, **changed}.items():
        assert (tmp_path / "fresh" / name).read_text() == text


def test_a_file_whose_size_and_time_are_as_before_is_compared_by_its_contents(tmp_path: Path) -> None:
    """An agent's program can set a file's time back."""
    definitions = write(tmp_path / "d", {"t/a": "1\n"})
    made = prepare(scenario(template="t"), definitions, definitions, (), tmp_path / "m")
    copy_workspace(made, tmp_path / "w")
    before = (tmp_path / "w/a").stat()
    (tmp_path / "w/a").write_text("2\n")
    os.utime(tmp_path / "w/a", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert b"-1\n+2\n" in workspace_diff(made, tmp_path / "w", tmp_path / "scratch").patch


def test_a_workspace_that_is_a_link_now_shows_nothing_of_where_it_leads(tmp_path: Path) -> None:
    made = prepare(scenario(template=None), tmp_path, tmp_path, (), tmp_path / "m")
    outside = write(tmp_path / "outside", {"secret": "precious\n"})
    (tmp_path / "w").symlink_to(outside)

    with pytest.raises(NoDiffError, match="not a folder"):
        workspace_diff(made, tmp_path / "w", tmp_path / "scratch")
