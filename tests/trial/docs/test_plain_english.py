"""The lint of banned phrases (`docs/plain_english.py`), run as `make lint` runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "docs" / "plain_english.py"


def lint(folder: Path, text: str) -> tuple[int, list[str]]:
    """Return the exit code and the printed lines for a page with this text."""
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, SCRIPT, page], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout.replace(str(page), "page.md").splitlines()


def test_a_finding_names_file_line_phrase_and_replacement(tmp_path: Path) -> None:
    assert lint(tmp_path, "Good.\nMend the docs.\n") == (1, ["page.md:2: “Mend”: write “fix” instead"])


def test_a_phrase_is_found_across_a_line_break(tmp_path: Path) -> None:
    """A paragraph, a comment and a quotation are wrapped."""
    text = "It is in the\nplace of 1.\n\n    # It is in\n    # the place of 2.\n\n> It is in the place\n> of 3.\n"

    assert lint(tmp_path, text) == (
        1,
        [f"page.md:{line}: “in the place of”: write “instead of” instead" for line in (1, 4, 7)],
    )


def test_each_banned_phrase_is_found_once(tmp_path: Path) -> None:
    sentences = [
        "The record stands at the end.",
        "The answer is no JSON.",
        "Head leaves base's way.",
        "Head leaves base’s way.",
        "Show what the judge says.",
        "Keep the text as it is.",
        "This happens whatever becomes of the run.",
        "Nobody knows.",
        "Start anew.",
        "A run is hardly ever slow.",
    ]
    code, found = lint(tmp_path, "\n\n".join(sentences))

    assert code == 1
    assert [int(line.split(":")[1]) for line in found] == list(range(1, 2 * len(sentences), 2))


def test_ordinary_english_passes(tmp_path: Path) -> None:
    sentences = [
        "There is no limit.",
        "There\n    is no limit.",
        "The limit is no longer used.",
        "JSON stands for a format. A script stands in for the agent.",
        "Use the text as it is written.",
        "Recommend an amendment. The newcomer and a renewal.",
    ]
    assert lint(tmp_path, "\n\n".join(sentences)) == (0, [])
