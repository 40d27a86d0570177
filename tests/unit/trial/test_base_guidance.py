"""Which guidance files checks see: base's, unless the trial has changed them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tidegate.trial.rewritten import guidance_of_base
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


def seen(tmp_path: Path, base: Files, head: Files, now: Files, entry: str = "") -> dict[str, str]:
    """What checks see; the workspace is as before afterwards."""
    workspace = write_files(tmp_path / "workspace", now)
    sides = [(write_files(tmp_path / name, files), files) for name, files in (("head", head), ("base", base))]
    prepared = [Prepared(folder, tuple(f"{name}{entry}" for name in files)) for folder, files in sides]
    with guidance_of_base(prepared[0], prepared[1], workspace, None):
        found = texts(workspace)
    assert texts(workspace) == now
    return found


@pytest.mark.parametrize("entry", ["", "#usage"])
def test_checks_see_base_s_guidance(tmp_path: Path, entry: str) -> None:
    head = {"AGENTS.md": "new\n", "CLAUDE.md": "the answer\n", "docs/GUIDE.md": "same\n"}
    base = {"AGENTS.md": "old\n", "GEMINI.md": "old\n", "docs/GUIDE.md": "same\n"}

    assert seen(tmp_path, base, head, {**head, "notes.txt": "x\n"}, entry) == {**base, "notes.txt": "x\n"}


def test_what_the_trial_has_written_is_part_of_its_outcome(tmp_path: Path) -> None:
    now = {"AGENTS.md": "new\nwritten\n"}
    assert seen(tmp_path, {"AGENTS.md": "old\n"}, {"AGENTS.md": "new\n"}, now) == now


def test_a_file_that_the_trial_has_made_stays(tmp_path: Path) -> None:
    assert seen(tmp_path, {"CLAUDE.md": "old\n"}, {}, {"CLAUDE.md": "made\n"}) == {"CLAUDE.md": "made\n"}


def test_without_a_base_nothing_is_put(tmp_path: Path) -> None:
    workspace = write_files(tmp_path / "workspace", {"AGENTS.md": "new\n"})
    with guidance_of_base(Prepared(workspace, ("AGENTS.md",)), None, workspace, None):
        assert texts(workspace) == {"AGENTS.md": "new\n"}
