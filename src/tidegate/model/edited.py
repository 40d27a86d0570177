"""Files named by scenarios that a pull request edited, apart from the scenario files themselves."""

from __future__ import annotations

from tidegate.model.value import Value


class Edited(Value):
    """Edited files per scenario: those of its evaluator scripts, and those of its template.

    Guidance files are not listed: each side uses its own.
    """

    scripts: dict[str, tuple[str, ...]] = {}
    templates: dict[str, tuple[str, ...]] = {}
