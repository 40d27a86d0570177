"""What a pull request edited of the files that scenarios name, beside what the scenarios say themselves."""

from __future__ import annotations

from tidegate.model.value import Value


class Edited(Value):
    """By scenario: files of its evaluators' scripts, and of its template; guidance files are each side's own."""

    scripts: dict[str, tuple[str, ...]] = {}
    templates: dict[str, tuple[str, ...]] = {}
