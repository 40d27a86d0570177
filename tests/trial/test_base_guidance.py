"""Which guidance files gates see: base's, with what the trial has written into them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tidegate.trial.base_guidance import MOST_LINES, guidance_of_base, without_change
from tidegate.trial.workspace import Prepared

Files = Mapping[str, str]


def write_files(folder: Path, files: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def texts(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def seen(tmp_path: Path, base: Files, head: Files, now: Files, entry: str = "") -> tuple[dict[str, str], list[str]]:
    """What gates see, and the files in which the trial replaced head's lines; the workspace is as before afterwards."""
    workspace = write_files(tmp_path / "workspace", now)
    sides = [(write_files(tmp_path / name, files), files) for name, files in (("head", head), ("base", base))]
    prepared = [Prepared(folder, tuple(f"{name}{entry}" for name in files)) for folder, files in sides]
    with guidance_of_base(prepared[0], prepared[1], workspace, tmp_path / "aside", None) as mixed:
        found = texts(workspace)
    assert texts(workspace) == now
    return found, list(mixed)


@pytest.mark.parametrize("entry", ["", "#usage"])
def test_gates_see_base_s_guidance_and_the_diff_head_s(tmp_path: Path, entry: str) -> None:
    head = {"AGENTS.md": "new\n", "CLAUDE.md": "the answer\n", "docs/GUIDE.md": "same\n"}
    base = {"AGENTS.md": "old\n", "GEMINI.md": "old\n", "docs/GUIDE.md": "same\n"}

    found, _ = seen(tmp_path, base, head, {**head, "notes.txt": "x\n"}, entry)

    assert found == {**base, "notes.txt": "x\n"}


def test_gates_see_what_the_trial_wrote_and_not_what_the_pull_request_did(tmp_path: Path) -> None:
    head = "# Data\nthe answer\n"
    found, mixed = seen(tmp_path, {"AGENTS.md": "# Data\n"}, {"AGENTS.md": head}, {"AGENTS.md": head + "written\n"})

    assert (found, mixed) == ({"AGENTS.md": "# Data\nwritten\n"}, [])


def test_gates_see_base_s_file_where_the_trial_replaced_head_s_lines(tmp_path: Path) -> None:
    base, head, now = ({"AGENTS.md": f"[{items}]\n"} for items in ("", "answer", "answer, written"))

    assert seen(tmp_path, base, head, now) == (base, ["AGENTS.md"])


def test_a_large_file_is_base_s(tmp_path: Path) -> None:
    base, head, now = ({"AGENTS.md": f"# Data\n{text}"} for text in ("", "answer\n", "x\n" * 600_000))

    assert seen(tmp_path, base, head, now) == (base, ["AGENTS.md"])


def test_a_file_that_the_trial_wrote_anew_is_a_result(tmp_path: Path) -> None:
    base, head, now = ({"AGENTS.md": text} for text in ("old\n", "new\n", "written\n"))

    assert seen(tmp_path, base, head, now) == (now, [])


def test_a_file_that_only_the_trial_has_made_is_a_result(tmp_path: Path) -> None:
    found, _ = seen(tmp_path, {"GEMINI.md": "old\n"}, {}, {"GEMINI.md": "written\n"})

    assert found == {"GEMINI.md": "written\n"}


def test_a_file_that_the_trial_removed_stays_away(tmp_path: Path) -> None:
    assert seen(tmp_path, {"AGENTS.md": "old\n"}, {"AGENTS.md": "new\n"}, {}) == ({}, [])


def test_nothing_is_moved_from_where_a_link_leads(tmp_path: Path) -> None:
    sides = [write_files(tmp_path / name, {"docs/x.md": f"{name}\n"}) for name in ("head", "base")]
    write_files(tmp_path / "elsewhere", {"x.md": "head\nkept\n"})
    write_files(tmp_path / "workspace", {}).joinpath("docs").symlink_to(tmp_path / "elsewhere")
    prepared = [Prepared(side, ("docs/x.md",)) for side in sides]

    with guidance_of_base(prepared[0], prepared[1], tmp_path / "workspace", tmp_path / "aside", None):
        assert (tmp_path / "elsewhere/x.md").read_text() == "head\nkept\n"


MERGED = {
    "appended on both": ("a", "aB", "aBc", "ac"),
    "in front, and appended": ("a", "Ba", "Bac", "ac"),
    "replaced, and appended": ("ax", "aY", "aYc", "axc"),
    "removed, and appended": ("axb", "ab", "abc", "axbc"),
    "a line of base's replaced": ("ab", "aXb", "cXb", "cb"),
    "the pull request's line removed": ("a", "aB", "a", "a"),
    "removed lines amid replaced ones": ("axb", "ab", "c", "cx"),
    "the same line once more": ("a", "aB", "aBB", "aB"),
    "the pull request's line replaced": ("a", "aB", "ac", "ac"),
    "everything replaced": ("ax", "aBC", "cd", "cd"),
    "everything replaced, with the pull request's line": ("a", "aBC", "cdC", "cd"),
}


@pytest.mark.parametrize(("base", "head", "now", "expected"), MERGED.values(), ids=MERGED)
def test_head_s_change_is_undone(base: str, head: str, now: str, expected: str | None) -> None:
    lines = [[bytes([byte]) for byte in text.encode()] for text in (base, head, now)]
    merged = without_change(lines[0], lines[1], lines[2])

    assert (None if merged is None else b"".join(merged).decode()) == expected


def test_a_line_with_words_of_the_pull_request_can_be_either_s() -> None:
    base, head = [b"[one]"], [b"[one, two]"]
    assert without_change(base, head, [b"[one, three]"]) == [b"[one, three]"]
    assert without_change(base, head, [b"[one, two, three]"]) is None


def test_many_changed_lines_are_one_edit() -> None:
    """Comparing them would take as long as the trial likes."""
    base, head = [b"a"], [b"a", b"B"]
    assert without_change(base, head, [b"x"] * MOST_LINES + [b"B"] + [b"x"] * MOST_LINES) is None
