"""Compares two guidance files: runs the same scenarios on the same commit with each of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.errors import ConfigurationError
from tidegate.model.result import Result
from tidegate.model.revision import Revision
from tidegate.model.suite import Scenario, Suite
from tidegate.run.checkouts import RevisionPair, commits_of, scratch_folder
from tidegate.run.pipeline import pull_request
from tidegate.run.run_job import Options
from tidegate.suite.load import load_suite
from tidegate.trial.workspace import initial_state, is_guidance
from tidegate.vcs.revisions import commit_with, repository_root, resolve
from tidegate.vcs.worktrees import checkout


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
    a file is missing, both are the same, or no scenario's workspace has a file of that name.
    """
    root = repository_root(repo)
    for file in (texts.first, texts.second):
        if not file.is_file():
            raise ConfigurationError(f"there is no file {file}.", "Name two texts: tidegate guidance A.md B.md")
    if texts.first.read_bytes() == texts.second.read_bytes():
        raise ConfigurationError("both texts are the same.", "Name two different texts.")
    start = resolve(root, texts.rev)
    names = places(root, start, texts.name, options)
    first = commit_with(root, start.sha, names, texts.first)
    second = commit_with(root, first, names, texts.second)
    again = commit_with(root, second, names, texts.first)
    shown = str(texts.first), str(texts.second)
    there = commits_of(root, RevisionPair(first, second, shown))
    forward = await pull_request(root, there, out / "forward", options)
    fresh = replace(options, began=time.monotonic())  # a budget of its own
    back = commits_of(root, RevisionPair(second, again, (shown[1], shown[0])))
    backward = await pull_request(root, back, out / "backward", fresh)
    return Compared(forward, backward)


def places(root: Path, start: Revision, name: str, options: Options) -> list[str]:
    """Return the paths of the files that the scenarios' agents read under that name at a commit.

    Raises ConfigurationError if none reads one.
    """
    with scratch_folder() as scratch, checkout(root, start, scratch / "checkout") as folder:
        suite = load_suite(folder, options.config, environ=options.environ)
        names = sorted({place for scenario in suite.scenarios for place in _places(suite, scenario, name, folder)})
    if not names:
        raise ConfigurationError(
            f"no scenario's agent reads `{name}`: it is not among their guidance files.",
            "Name one that they read with `--as`, or add it to `guidance` in the suite.",
        )
    return names


def _places(suite: Suite, scenario: Scenario, name: str, folder: Path) -> Iterator[str]:
    """Yield the path in the repository of the file that the scenario's agent reads under that name, if it reads one.

    A template's own file comes before the repository's.
    """
    if name in (*scenario.case.guideline_files, *scenario.case.input_files):
        yield name
    elif is_guidance(name, scenario.guidance_or(suite.guidance)):
        start = initial_state(folder, scenario.template) / name if scenario.template is not None else None
        yield name if start is None or not start.is_file() else start.relative_to(folder).as_posix()
