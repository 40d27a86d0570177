"""Files used by scenarios and agents that a pull request edited, apart from the scenario files themselves."""

from __future__ import annotations

from tidegate.model.value import Value


class Edited(Value):
    """Edited files by scenario: of its evaluators' scripts, of its template, and guidance files in its workspace.

    `beside`: scenarios with an edited file that one of these scripts may read, because it is in a folder of theirs, or
    that one imports from anywhere.
    `programs`: by agent, files of the repository that the agent's command names or finds in a folder of `path`.
    """

    scripts: dict[str, tuple[str, ...]] = {}
    templates: dict[str, tuple[str, ...]] = {}
    guidance: dict[str, tuple[str, ...]] = {}
    beside: frozenset[str] = frozenset()
    programs: dict[str, tuple[str, ...]] = {}
