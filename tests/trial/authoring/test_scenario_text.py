"""The text of a generated scenario: it loads as the values that it was made from."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tidegate.authoring.scenario_text import proposed_gates


def test_gates_are_proposed_from_a_diff_of_git(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "--quiet")
    for name, text in {"kept": "1\n", "changed": "1\n2\n", "gone": "x\n", "moved": "1\n2\n3\n4\n"}.items():
        (tmp_path / name).write_text(text)
    git("add", ".")
    git("commit", "--quiet", "--message", "start")
    (tmp_path / "changed").write_text("1\n\n{\n  new line\n2\n")
    (tmp_path / "gone").unlink()
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir/made by me.txt").write_text("diff --git is a command\n")
    (tmp_path / "empty").touch()
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    (tmp_path / 'odd"name').write_text("x\n")
    git("add", "--all")

    gates = list(proposed_gates(git("diff", "--cached", "--binary")))

    assert gates == [
        {"type": "file_exists", "path": "bytes"},
        {"type": "file_contains", "path": "changed", "substring": "new line"},
        {"type": "file_contains", "path": "dir/made by me.txt", "substring": "diff --git is a command"},
        {"type": "file_exists", "path": "empty"},
    ]
