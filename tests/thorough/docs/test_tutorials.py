"""The tutorials work as they are written: each of their commands is run, and prints what they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

DOCS = Path(__file__).parents[3] / "docs"
PAGES = sorted(f"tutorials/{path.stem}" for path in (DOCS / "tutorials").glob("*.md"))
_PIECE = re.compile(r"^<!-- (?P<note>.*?) -->$|^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
ENVIRONMENT = {
    "HOME": "/nonexistent",
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    **{f"GIT_{who}_{what}": "you@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


class Block(NamedTuple):
    """Commands, the exit code that the tutorial says they have, and parts of what they print."""

    commands: str
    exit_code: int
    shown: tuple[str, ...] = ()


def blocks(name: str) -> list[Block]:
    """Return the blocks to run: those of the tutorial whose repository it needs come first."""
    found: list[Block] = []
    note = ""
    for piece in _PIECE.finditer((DOCS / f"{name}.md").read_text(encoding="utf-8")):
        if piece["note"] is not None:
            note = piece["note"]
            if note.startswith("setup: "):
                found += blocks(note.removeprefix("setup: "))[:2]
        elif piece["language"] == "sh":
            if not note.startswith("not run"):
                found.append(Block(piece["code"], int(note.removeprefix("exit: ")) if note.startswith("exit: ") else 0))
            note = ""
        else:
            assert piece["language"] == "text", f"no test checks blocks of {piece['language']}"
            found[-1] = found[-1]._replace(shown=tuple(piece["code"].splitlines()))
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_command_works_and_prints_what_is_shown(name: str, tmp_path: Path) -> None:
    folder = tmp_path
    for block in blocks(name):
        script = f"set -e\n{block.commands}\npwd > {tmp_path}/folder"
        script = f"{block.commands}" if block.exit_code else script
        ran = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        said = ran.stdout + ran.stderr
        assert ran.returncode == block.exit_code, f"{block.commands}\n{said}"
        assert [line for line in block.shown if line not in said] == [], f"{block.commands}\n{said}"
        if not block.exit_code:
            folder = Path((tmp_path / "folder").read_text(encoding="utf-8").strip())


def test_a_tutorial_has_blocks_that_fail_and_blocks_that_pass() -> None:
    assert {block.exit_code for block in blocks("tutorials/cli")} == {0, 1}
    assert any(block.shown for block in blocks("tutorials/cli"))
