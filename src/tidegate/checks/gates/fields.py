"""Field types that gates share, with their validation."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator

from tidegate.text.patterns import check_pattern


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _for_the_system(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    return text


def _in_workspace(path: str) -> str:
    if path.startswith("/"):
        raise ValueError(f"leaves the workspace: {path!r} is absolute")
    depth = 0
    for part in PurePosixPath(path).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            raise ValueError(f"leaves the workspace: {path!r}")
    if depth == 0:
        raise ValueError(f"names the workspace itself, not a file in it: {path!r}")
    return path


NonEmpty = Annotated[str, AfterValidator(_not_empty)]
Regex = Annotated[NonEmpty, AfterValidator(check_pattern)]
ShellCommand = Annotated[str, AfterValidator(_for_the_system)]
WorkspacePath = Annotated[str, AfterValidator(_for_the_system), AfterValidator(_in_workspace)]
