"""Two guidance texts against the same scenarios: the same commit twice, with each of them in its place."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tidegate.errors import ConfigurationError
from tidegate.model.result import Result
from tidegate.pipeline import pull_request
from tidegate.run.checkouts import RevisionPair
from tidegate.run.run_job import Options
from tidegate.vcs.revisions import commit_with, repository_root, resolve


class Texts(NamedTuple):
    """The two files, the name that both are given in the repository, and the commit that they are tried on."""

    first: Path
    second: Path
    name: str
    rev: str


class Compared(NamedTuple):
    """`forward`: the second text against the first; `backward`: the first against the second, on fresh trials."""

    forward: Result
    backward: Result


async def compare_guidance(repo: Path, texts: Texts, out: Path, options: Options) -> Compared:
    """What each text does worse than the other, by the procedure that judges pull requests, once in each direction.

    Nothing is taken from earlier runs, and nothing is blocked: it is a question, and both answers are worth knowing.
    """
    root = repository_root(repo)
    for file in (texts.first, texts.second):
        if not file.is_file():
            raise ConfigurationError(f"there is no file {file}.", "Name two texts: tidegate guidance A.md B.md")
    if texts.first.read_bytes() == texts.second.read_bytes():
        raise ConfigurationError("both texts are the same.", "There is nothing to compare.")
    parent = resolve(root, texts.rev).sha
    first = commit_with(root, parent, texts.name, texts.first)
    second = commit_with(root, first, texts.name, texts.second)
    again = commit_with(root, second, texts.name, texts.first)
    names = str(texts.first), str(texts.second)
    forward = await pull_request(root, RevisionPair(first, second, names), out / "forward", options)
    backward = await pull_request(root, RevisionPair(second, again, (names[1], names[0])), out / "backward", options)
    return Compared(forward, backward)
