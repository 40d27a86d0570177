"""Annotations of a result: one per regressed row, at the line of the repository that most likely needs a change."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from tidegate.github.workflow_commands import Annotation, Level
from tidegate.model.comparison import Row
from tidegate.model.result import Result
from tidegate.vcs.git import git

TEXTS = ("*.md", "*.mdx", "*.rst", "*.txt", "*SKILL*")
SUITES = ("*.yaml", "*.yml")
LONGEST = 200  # characters of a command that is searched for


def regressions(result: Result, root: Path) -> list[Annotation]:
    """Return one annotation per regressed row. They are errors if the verdict fails the job, and else warnings."""
    level: Level = "error" if result.verdict.exit_code else "warning"
    return [
        _placed(Annotation(level=level, title=f"regressed: {row.key}", message=_message(row)), row, root)
        for row in result.rows
        if row.state == "regressed"
    ]


def _placed(annotation: Annotation, row: Row, root: Path) -> Annotation:
    """Return the annotation at a line of head: of the docs that name a failed command, or else of the scenario."""
    for text, patterns in _wanted(row):
        done = git(root, "grep", "-z", "-n", "-F", "-I", "--full-name", "-e", text, "HEAD", "--", *patterns)
        file, _, rest = done.stdout.partition("\n")[0].removeprefix("HEAD:").partition("\0")
        line = rest.partition("\0")[0]
        if file and line.isdecimal():
            return annotation.model_copy(update={"file": file, "line": int(line)})
    return annotation


def _wanted(row: Row) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield texts to search for and where, the most telling first: whole commands, then program and subcommand."""
    commands = [call.command for call in row.evidence.calls] if row.evidence else []
    commands = [command.strip() for command in commands if command.strip() and "\n" not in command.strip()]
    for command in commands:
        yield command[:LONGEST], TEXTS
    for command in commands:
        if len(words := _words(command)) > 1:
            yield " ".join(words[:2]), TEXTS
    yield f"name: {row.scenario.partition('[')[0]}", SUITES
    yield f"id: {row.scenario}", SUITES


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an open quote
        return command.split()


def _message(row: Row) -> str:
    evidence = row.evidence.message if row.evidence else ""
    return f"{row.reason}\n{evidence}".strip()
