"""Find the lines of head's docs or scenarios that still name what is gone on head."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidegate.causes.seen import named_in
from tidegate.model.cause import Cause, CauseKind, Place
from tidegate.model.revision import Revision
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
    if cause.kind not in GONE or not cause.names or "now requires" in cause.says:
        return cause
    gone = cause.names if cause.kind == "option" else cause.names[:1]
    own = {row.scenario for row in cause.rows}
    scenarios = [scenario for scenario in suite.scenarios if scenario.name in own]
    files = {scenario.file for scenario in suite.scenarios}
    patterns = (*suite.guidance_globs, *_DOCS, *map(glob.escape, sorted(files)))
    lines = {
        line: None
        for name in gone
        for line in lines_with(root, head, name, patterns)
        if named_in(line.text, name) and not Path(line.path).stem.lower().startswith(_HISTORY)
    }
    call = re.findall("`([^`]+)`", cause.says)[0]
    docs = _docs([line for line in lines if line.path not in files], call, gone, scenarios)
    checks = _checks([line for line in lines if line.path in files], call, gone, scenarios)
    named = tuple(map(_place, docs))
    update = {"still_named": named[0] if named else None, "also_named": named[1:], "checked_in": tuple(checks)}
    return cause.model_copy(update=update)


def _docs(lines: list[Line], call: str, gone: Sequence[str], scenarios: Sequence[Scenario]) -> list[Line]:
    """Return the docs' lines about that call, the most important first; else one that names the tool."""
    folders = tuple(f"{scenario.template}/" for scenario in scenarios if scenario.template)
    lines.sort(key=lambda line: _rank(line, folders))
    about = [line for line in lines if named_in(line.text, call)]
    if not about:
        programs = _programs(scenarios)
        return [line for line in lines if any(program in line.text for program in programs)][:1]
    # A text that shows the tool's call may list or describe the option elsewhere. It may be another subcommand's.
    paths = {line.path for line in about} if call in _programs(scenarios) else ()
    return [line for line in lines if line in about or (line.path in paths and _lists(line.text, gone))]


def _checks(lines: list[Line], call: str, gone: Sequence[str], scenarios: Sequence[Scenario]) -> Iterator[Place]:
    """Yield the lines of scenario files about that call; of the cause's own scenarios, lists of options as well."""
    own = {scenario.file for scenario in scenarios}
    for line in sorted(lines):
        if named_in(line.text, call) or (line.path in own and _lists(line.text, gone)):
            yield _place(line)


def _programs(scenarios: Sequence[Scenario]) -> set[str]:
    return {scenario.target.binary.rpartition("/")[2] for scenario in scenarios}


def _lists(text: str, gone: Sequence[str]) -> bool:
    """Return True if the text has one of the options, a short one only in a list or quoted: not in `grep -r`."""
    return any(
        named_in(text, name)
        if name.startswith("--")
        else re.search(rf"(?:^|[,`'\"\[])\s*{re.escape(name)}[,`'\"\]]", text)
        for name in gone
        if name.startswith("-")
    )


def _place(line: Line) -> Place:
    return Place(side="head", path=line.path, line=line.number, text=line.text.strip()[:MOST])


def _rank(line: Line, folders: tuple[str, ...]) -> tuple[int, int, str, int]:
    """Return a sort key: first what the rows' own agents read, then files near the root, by name and line."""
    depth = line.path.count("/")
    nearest = 0 if line.path.startswith(folders) else 1 if depth == 0 else 2
    return nearest, depth, line.path, line.number
