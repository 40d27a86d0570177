"""Find the lines of head's docs or scenarios that still name what is gone on head."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidegate.decide.causes.find import RENAMES
from tidegate.decide.causes.seen import named_in
from tidegate.model.cause import Cause, CauseKind, Place
from tidegate.model.revision import Revision
from tidegate.model.suite import Scenario, Suite
from tidegate.vcs.lines import Line, lines_with

GONE: frozenset[CauseKind] = RENAMES | frozenset[CauseKind]({"value", "type"})
_DOCS = ("**/*.md", "**/*.markdown", "**/*.mdc", "**/*.rst", "**/*.adoc")
_HISTORY = ("changelog", "changes", "history", "news", "releases")
_KEY = r"""(?:["'`.\[]){}(?![\w-])"""  # a key of JSON: quoted, or in a path
_WORD = r"(?<![\w-]){}(?![\w-])"
MOST = 200  # characters of a line


def with_docs(root: Path, head: Revision, suite: Suite, causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Return the causes, each with the lines that still name what is gone."""
    return tuple(_with_docs(root, head, suite, cause) for cause in causes)


def _with_docs(root: Path, head: Revision, suite: Suite, cause: Cause) -> Cause:
    if cause.kind not in GONE or not cause.names:
        return cause
    gone = cause.names if cause.kind == "option" else cause.names[:1]
    own = {row.scenario for row in cause.rows}
    scenarios = [scenario for scenario in suite.scenarios if scenario.name in own]
    files = {scenario.file for scenario in suite.scenarios}
    patterns = (*suite.guidance_globs, *_DOCS, *map(glob.escape, sorted(files)))
    form = _KEY if cause.kind == "json_key" else _WORD
    lines = {
        line: None
        for name in gone
        for line in lines_with(root, head, name, patterns)
        if re.search(form.format(re.escape(name)), line.text) and not Path(line.path).stem.lower().startswith(_HISTORY)
    }
    calls = tuple(_command(call) for call in cause.about)
    docs = _docs([line for line in lines if line.path not in files], calls, gone, scenarios)
    checks = _checks([line for line in lines if line.path in files], calls, gone, scenarios)
    return cause.model_copy(update={"still_named": tuple(map(_place, docs)), "checked_in": tuple(checks)})


def _command(call: str) -> str:
    """Return the part of a call that docs show alike: without the arguments of an MCP tool, and its server."""
    parts = call.split(" ", 2)
    return parts[1] if len(parts) > 1 and (parts[0] == "target" or parts[-1].startswith("{")) else call


def _docs(lines: list[Line], calls: Sequence[str], gone: Sequence[str], scenarios: Sequence[Scenario]) -> list[Line]:
    """Return the docs' lines about these calls, the most important first; else one that names the tool."""
    folders = tuple(f"{scenario.template}/" for scenario in scenarios if scenario.template)
    lines.sort(key=lambda line: _rank(line, folders))
    about = [line for line in lines if _is_about(line.text, calls)]
    programs = _programs(scenarios)
    if not about:
        return [line for line in lines if any(program in line.text for program in programs)][:1]
    # A text that shows the tool's call may list or describe the option elsewhere. It may be another subcommand's.
    paths = {line.path for line in about} if programs.intersection(calls) else ()
    return [line for line in lines if line in about or (line.path in paths and _lists(line.text, gone))]


def _checks(
    lines: list[Line], calls: Sequence[str], gone: Sequence[str], scenarios: Sequence[Scenario]
) -> Iterator[Place]:
    """Yield the lines of scenario files about these calls; of the cause's own scenarios, lists of options as well."""
    own = {scenario.file for scenario in scenarios}
    for line in sorted(lines):
        if _is_about(line.text, calls) or (line.path in own and _lists(line.text, gone)):
            yield _place(line)


def _is_about(text: str, calls: Sequence[str]) -> bool:
    return any(named_in(text, call) for call in calls)


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
