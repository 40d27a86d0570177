"""Finds files of a suite that git does not track: no checkout has them, so no pull request is compared with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from tidegate.checks.evaluators.script_files import named_files
from tidegate.model.suite import Suite
from tidegate.text.shorten import few
from tidegate.vcs.revisions import untracked_files

_MADE_BY_PROGRAMS = {"__pycache__", ".DS_Store", "node_modules", ".pytest_cache"}


def uncommitted(root: Path, suite: Suite) -> tuple[str, ...]:
    """Return a sentence for the suite's files that git ignores, and one for those that are not added yet."""
    files = _untracked(root, sorted(set(_files_of(root, suite))))
    ignored, new = (sorted(path for path in files if files[path] is is_ignored) for is_ignored in (True, False))
    sentences = []
    if ignored:
        sentences.append(
            f"git ignores {few(ignored)}: missing from every checkout. Run `git add --force` and commit it."
        )
    if new:
        sentences.append(f"git does not track {few(new)}: missing from every checkout. Run `git add` and commit it.")
    return tuple(sentences)


def _untracked(root: Path, paths: Sequence[str]) -> dict[str, bool]:
    found = untracked_files(root, paths)
    return {path: hidden for path, hidden in found.items() if _MADE_BY_PROGRAMS.isdisjoint(PurePosixPath(path).parts)}


def _files_of(root: Path, suite: Suite) -> Iterator[str]:
    """Yield the suite's file, scenario files, templates, and the files that evaluators' commands name."""
    yield suite.file
    for scenario in suite.scenarios:
        yield scenario.file
        if scenario.template is not None:
            yield scenario.template
        for evaluator in scenario.evaluators:
            for command, folder in evaluator.scripts:
                yield from (path for path in named_files(command, folder) if (root / path).exists())
