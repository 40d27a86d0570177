"""Find the lines of head's docs or scenarios that still name what is gone on head."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from tidegate.causes.seen import named_in
from tidegate.model.cause import Cause, CauseKind, Place
from tidegate.model.measurement import Revision
from tidegate.model.suite import Scenario, Suite
from tidegate.vcs.lines import Line, lines_with

GONE: frozenset[CauseKind] = frozenset({"option", "subcommand", "argument", "json_key", "mcp_tool", "mcp_parameter"})
_DOCS = ("**/*.md", "**/*.markdown", "**/*.mdc", "**/*.rst", "**/*.adoc")
_HISTORY = ("changelog", "changes", "history", "news", "releases")
MOST = 200  # characters of a line


def with_docs(root: Path, head: Revision, suite: Suite, causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Return the causes, each with the lines that still name what is gone."""
    return tuple(_with_docs(root, head, suite, cause) for cause in causes)


def _with_docs(root: Path, head: Revision, suite: Suite, cause: Cause) -> Cause:
    named = _still_named(root, head, suite, cause)
    return cause.model_copy(update={"still_named": named[0], "also_named": named[1:]}) if named else cause


def _still_named(root: Path, head: Revision, suite: Suite, cause: Cause) -> tuple[Place, ...]:
    """Return the most important line first, then all others that are about the same call, of any file."""
    if cause.kind not in GONE or not cause.names or "now requires" in cause.says:
        return ()
    name = cause.names[0]
    own = {row.scenario for row in cause.rows}
    scenarios = [scenario for scenario in suite.scenarios if scenario.name in own]
    paths = {scenario.file for scenario in scenarios}
    files = [glob.escape(path) for path in paths]
    programs = {scenario.target.binary.rpartition("/")[2] for scenario in scenarios}
    folders = tuple(f"{scenario.template}/" for scenario in scenarios if scenario.template)
    found = [
        line
        for line in lines_with(root, head, name, (*suite.guidance, *_DOCS, *files))
        if named_in(line.text, name) and any(program in line.text for program in programs)
        if not Path(line.path).stem.lower().startswith(_HISTORY)
        if line.path not in paths or any(_asks(scenario, line) for scenario in scenarios)
    ]
    found.sort(key=lambda line: _rank(line, folders, paths))
    told = re.findall("`([^`]+)`", cause.says)[:2]  # the call, and the name that it no longer accepts
    return tuple(
        Place(side="head", path=line.path, line=line.number, text=line.text.strip()[:MOST])
        for line in found
        if line is found[0] or all(named_in(line.text, words) for words in told)
    )


def _asks(scenario: Scenario, line: Line) -> bool:
    """Return True if the line belongs to the task. Checks say what has to work, so they are not to be updated."""
    text = line.text.strip()
    value = text.partition(":")[2].strip() or text
    return line.path == scenario.file and (text in scenario.prompt or value in scenario.prompt)


def _rank(line: Line, folders: tuple[str, ...], paths: Collection[str]) -> tuple[int, int, str, int]:
    """Return a sort key: first what the rows' own agents read, then files near the root, by name and line."""
    depth = line.path.count("/")
    if line.path.startswith(folders) or line.path in paths:
        return 0, depth, line.path, line.number
    return (1 if depth == 0 else 2), depth, line.path, line.number
