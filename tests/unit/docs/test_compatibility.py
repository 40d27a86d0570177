"""The tables of differences: each row says what differs and why, and names the test that shows it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ROWS = re.findall(
    r"^\| (.+) \| (.+) \| (.+) <!-- (test_\w+) --> \|$",
    (ROOT / "docs/compatibility.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_each_row_says_what_is_there_what_is_here_why_and_which_test_shows_it() -> None:
    page = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| \S.* \| here \| why \|\n\|[-|]+\|\n((?:\|.*\n)+)", page, re.MULTILINE)

    assert len(tables) == 3
    assert len(ROWS) == sum(table.count("\n") for table in tables) > 45


def test_each_test_of_the_table_exists() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"def (test_\w+)", tests))
    assert sorted({row[3] for row in ROWS} - known) == []
