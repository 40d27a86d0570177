"""The tables of differences: each row says what differs and why, and names the test that shows it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split(" | ")]
    for line in (ROOT / "docs/compatibility.md").read_text(encoding="utf-8").splitlines()
    if re.search(r"\| test_\w+ \|$", line)
]


def test_each_row_says_what_is_there_what_is_here_why_and_which_test_shows_it() -> None:
    assert len(ROWS) > 45
    assert [row for row in ROWS if len(row) != 4 or not all(row)] == []


def test_each_test_of_the_table_exists() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"def (test_\w+)", tests))
    assert sorted({row[3].strip(" |") for row in ROWS} - known) == []
