"""The docs site builds without a warning, and has every page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]


def test_it_builds_without_a_warning_or_a_broken_link(tmp_path: Path) -> None:
    command = [
        str(Path(sys.executable).with_name("mkdocs")),
        "build",
        "--strict",
        "--site-dir",
        str(tmp_path),
    ]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    # Not with --quiet, which hides warnings from --strict, too.
    assert ran.returncode == 0, ran.stderr
    assert "WARNING" not in ran.stderr
    assert "Tutorial" in (tmp_path / "tutorials/cli/index.html").read_text(encoding="utf-8")


def test_its_navigation_has_every_page() -> None:
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = [page for part in navigation for pages in part.values() for page in _pages(pages)]
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert set(listed) == there


def _pages(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    assert isinstance(entry, list)
    return [page for part in entry for page in part.values()]
