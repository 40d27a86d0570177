"""Compares two guidance files: runs the same scenarios on the same commit with each of them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.errors import ConfigurationError
from tidegate.model.result import Result
from tidegate.pipeline import pull_request
from tidegate.run.checkouts import RevisionPair, commits_of
from tidegate.run.run_job import Options
from tidegate.vcs.revisions import commit_with, repository_root, resolve


class Texts(NamedTuple):
    """The two files, the name that both get in the repository, and the commit to run them on."""

    first: Path
    second: Path
    name: str
    rev: str


class Compared(NamedTuple):
    """Two results. `forward` has the second file on head; `backward` has the first file on head, with new trials."""

    forward: Result
    backward: Result


async def compare_guidance(repo: Path, texts: Texts, out: Path, options: Options) -> Compared:
    """Compare the two files in both directions, with the procedure that compares pull requests.

    Two directions are needed because the procedure only looks for regressions of head. Raises ConfigurationError if
    a file is missing or both are the same.
    """
    root = repository_root(repo)
    for file in (texts.first, texts.second):
        if not file.is_file():
            raise ConfigurationError(f"there is no file {file}.", "Name two texts: tidegate guidance A.md B.md")
    if texts.first.read_bytes() == texts.second.read_bytes():
        raise ConfigurationError("both texts are the same.", "Name two different texts.")
    parent = resolve(root, texts.rev).sha
    first = commit_with(root, parent, texts.name, texts.first)
    second = commit_with(root, first, texts.name, texts.second)
    again = commit_with(root, second, texts.name, texts.first)
    names = str(texts.first), str(texts.second)
    there = commits_of(root, RevisionPair(first, second, names))
    forward = await pull_request(root, there, out / "forward", options)
    fresh = replace(options, began=time.monotonic())  # a budget of its own
    back = commits_of(root, RevisionPair(second, again, (names[1], names[0])))
    backward = await pull_request(root, back, out / "backward", fresh)
    return Compared(forward, backward)
