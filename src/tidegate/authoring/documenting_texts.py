"""Finds the files in which a repository documents its tool, as the doc-follower agent would find them."""

from __future__ import annotations

from pathlib import Path

from tidegate.agents.instructions import blocks
from tidegate.suite.suite_file import SuiteFile

README = "README.md"
MAX_CHARACTERS = 200_000


def documenting_texts(root: Path, binary: str) -> tuple[str, ...]:
    """Return README.md and the default guidance files, if one of their code blocks calls the tool."""
    guidance = SuiteFile.model_fields["guidance"].default
    found = [path for glob in guidance for path in sorted(root.glob(glob.replace("**", "**/*.md")))]
    return tuple(path.relative_to(root).as_posix() for path in (*found, root / README) if blocks(_text(path), binary))


def guidance_for(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the value that `guidance` needs so that agents see these files; empty if its default is enough."""
    return ("AGENTS.md", "CLAUDE.md", README) if texts == (README,) else ()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")[:MAX_CHARACTERS]
    except (OSError, ValueError):
        return ""
