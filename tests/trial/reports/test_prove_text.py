"""The text of `tidegate prove`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tidegate.model.proof import ToolProof, UsedPart
from tidegate.model.surface import Part
from tidegate.reports.prove_text import change_text
from tidegate.run.surface_changes import changed_parts

DUE = Part(kind="option", name="--due", command="add", takes_value=True)
FORMAT = Part(kind="option", name="--format", command="list", takes_value=True, choices=("text", "yaml"))
LINK = Part(kind="subcommand", name="link")


def test_what_is_new_gone_and_different_is_told_with_its_users_and_the_docs(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# t\n\nCall `t link 2 1`, or linking.\nThe word link alone.\n")
    (tmp_path / "CHANGELOG.md").write_text("* `t link` is gone\n")
    parts = (UsedPart(part=DUE, scenarios=()), UsedPart(part=FORMAT, scenarios=("s",)))
    base = (FORMAT.model_copy(update={"choices": ("text", "json")}), LINK)
    found = changed_parts(ToolProof(tool="t", counts="", parts=parts), base, tmp_path)
    assert [change_text(one) for one in found] == [
        "New: `--due` of `add`; no scenario uses it",
        "Changed: `--format` of `list` (no longer takes json, takes yaml); used by s",
        "Removed: `link`; still named in README.md:3",
    ]


def test_docs_that_name_a_removed_tool_of_a_server_are_found_without_the_servers_name(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# t\n\n- `add` keeps a title\n- add more\n- keep_all(title) keeps all\n")
    base = (Part(kind="tool", name="add"), Part(kind="tool", name="keep_all"))
    add, keep_all = changed_parts(ToolProof(tool="target", counts="", parts=()), base, tmp_path)
    assert [line.line for line in add.docs] == [3]
    assert [line.line for line in keep_all.docs] == [5]


def test_ignored_files_are_not_docs_that_name_what_is_gone(tmp_path: Path) -> None:
    """An earlier report of Tidegate, for example, quotes what was there."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "out").mkdir()
    for name in ("out/comment.md", "NEW.md"):
        (tmp_path / name).write_text("`link` of `t`\n")
    (found,) = changed_parts(ToolProof(tool="t", counts="", parts=()), (LINK,), tmp_path)
    assert [line.path for line in found.docs] == ["NEW.md"]
