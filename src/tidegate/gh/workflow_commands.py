"""Lines on stdout that the runner acts on: annotations, masks, and the fence around what others wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from tidegate.model.value import Value

Level = Literal["error", "warning", "notice"]

MAX_PER_LEVEL = 10  # the runner shows no more of each in one step
END_GROUP = "::endgroup::"
MAX_MESSAGE = 4_096  # characters; the runner cuts what is longer


class Annotation(Value):
    """A message on the pull request, at a place in a file where one is known."""

    level: Level
    message: str
    title: str = ""
    file: str = ""
    line: int | None = None


def annotate(wanted: Iterable[Annotation]) -> list[str]:
    """The commands for the first ten of each level."""
    return [_command(annotation) for annotation in _first(wanted)]


def group(title: str) -> str:
    """The line that begins a fold of the log, which `END_GROUP` ends."""
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
    return f"::{annotation.level}{' ' if listed else ''}{listed}::{_data(annotation.message[:MAX_MESSAGE])}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
