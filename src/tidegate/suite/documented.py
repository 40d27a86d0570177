"""Which texts of a repository document its tool, as an agent that does what docs say would find out."""

from __future__ import annotations

from pathlib import Path

from tidegate.agents.instructions import blocks
from tidegate.suite.suite_file import SuiteFile

README = "README.md"
MAX_CHARACTERS = 200_000


def documenting_texts(root: Path, binary: str) -> tuple[str, ...]:
    """README.md and the texts that are guidance by default, as far as a block of theirs calls the tool."""
    guidance = SuiteFile.model_fields["guidance"].default
    found = [path for glob in guidance for path in sorted(root.glob(glob.replace("**", "**/*.md")))]
    return tuple(path.relative_to(root).as_posix() for path in (*found, root / README) if blocks(_text(path), binary))


def guidance_for(texts: tuple[str, ...]) -> tuple[str, ...]:
    """What `guidance` has to name so that agents get these texts; empty where its default does."""
    return ("AGENTS.md", "CLAUDE.md", README) if texts == (README,) else ()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")[:MAX_CHARACTERS]
    except (OSError, ValueError):
        return ""
