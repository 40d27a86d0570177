"""Formats workflow commands: lines on stdout that the runner acts on, for annotations and log groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from tidegate.model.value import Value
from tidegate.text.redaction import SHORTEST, masked_secrets, secret_variables

Level = Literal["error", "warning", "notice"]

MAX_PER_LEVEL = 10  # the runner shows no more annotations per level and step
END_GROUP = "::endgroup::"
MAX_MESSAGE = 4_096  # characters; the runner truncates longer messages


class Annotation(Value):
    """A message on the pull request, optionally at a line of a file."""

    level: Level
    message: str
    title: str = ""
    file: str = ""
    line: int | None = None


def annotate(wanted: Iterable[Annotation]) -> list[str]:
    """Return the workflow commands for the first ten annotations of each level."""
    return [_command(annotation) for annotation in _first(wanted)]


def add_masks(environ: Mapping[str, str]) -> list[str]:
    """Return the commands that make the runner mask the values of secret variables in its log, line by line."""
    values = [value for name, value in secret_variables(environ).items() if not name.endswith("_URL")]
    lines = {line.strip() for value in values for line in value.splitlines() if len(line.strip()) >= SHORTEST}
    return [f"::add-mask::{_data(line)}" for line in sorted(lines)]


def group(title: str) -> str:
    """Return the command that begins a foldable group in the log. `END_GROUP` ends it."""
    return f"::group::{_data(title)}"


def _first(wanted: Iterable[Annotation]) -> Iterator[Annotation]:
    shown: Counter[Level] = Counter()
    for annotation in wanted:
        shown[annotation.level] += 1
        if shown[annotation.level] <= MAX_PER_LEVEL:
            yield annotation


def _command(annotation: Annotation) -> str:
    properties = {
        "file": annotation.file,
        "line": "" if annotation.line is None else str(annotation.line),
        "title": annotation.title,
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    message = masked_secrets(annotation.message)[:MAX_MESSAGE]
    return f"::{annotation.level}{' ' if listed else ''}{listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
