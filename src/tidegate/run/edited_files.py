"""Finds the files of scenarios and agents that a pull request edited and that no scenario file shows as changed."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from tidegate.history.agent_programs import code_of, is_below, named_by
from tidegate.history.script_contents import script_files, used_files
from tidegate.model.edited import Edited
from tidegate.model.suite import Scenario, Suite
from tidegate.run.build import Checkout
from tidegate.trial.workspace import initial_state, matching_files
from tidegate.vcs.revisions import changed_files, files_below

_NEVER_READ = {".md", ".rst"}  # by a script


def edited_files(
    root: Path, base: Checkout, head: Checkout, suites: tuple[Suite, Suite], guidance: Sequence[str]
) -> Edited:
    """Return what the pull request edited of the files that the suites of base and head use.

    `guidance`: the globs in force. Both sides have to be as git checked them out, before anything is built.
    """
    touched = set(changed_files(root, base.revision, head.revision, ["**"]))
    own = {scenario.file for suite in suites for scenario in suite.scenarios}
    now = {scenario.name: scenario for scenario in suites[1].scenarios}
    scripts: dict[str, tuple[str, ...]] = {}
    templates: dict[str, tuple[str, ...]] = {}
    inside: dict[str, tuple[str, ...]] = {}
    beside: set[str] = set()
    for scenario in suites[0].scenarios:
        name, used = scenario.name, script_files(base.folder, scenario)
        scripts[name] = tuple(sorted(touched.intersection(used) - own))
        others = {path for path in touched - own if path.endswith(".py") or not _is_tool(path, suites)}
        if any(_is_beside(path, scenario, used) for path in touched - own) or (others & used_files(base.folder, used)):
            beside.add(name)
        if name in now:
            templates[name], below = _template_changes((base, head), (scenario, now[name]), guidance)
            instructions = _differing(base.folder, head.folder, now[name].guidance_or(guidance))
            inside[name] = tuple(sorted({*instructions, *below}))
    return Edited(
        scripts=scripts,
        templates=templates,
        guidance=inside,
        beside=frozenset(beside),
        programs=_programs((base, head), suites[1], touched),
    )


def _is_beside(path: str, scenario: Scenario, used: Sequence[str]) -> bool:
    """Return True if a script of the scenario's evaluators may find the file below its own folder."""
    if PurePosixPath(path).suffix in _NEVER_READ:
        return False
    started = {folder for evaluator in scenario.evaluators for _, folder in evaluator.scripts}
    folders = started | {posixpath.dirname(file) or "." for file in used}
    return is_below(path, folders)


def _is_tool(path: str, suites: Sequence[Suite]) -> bool:
    """Return True for a program of a folder of `path`, of which each side uses its own."""
    return any(is_below(path, suite.path) for suite in suites)


def _template_changes(
    sides: tuple[Checkout, Checkout], scenarios: tuple[Scenario, Scenario], guidance: Sequence[str]
) -> tuple[tuple[str, ...], set[str]]:
    """Return the files by which the initial workspaces differ, and the names of guidance files that differ in them."""
    before, after = (
        {} if scenario.template is None else _template_files(side, scenario.template)
        for side, scenario in zip(sides, scenarios, strict=True)
    )
    differing = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    own: set[str] = set()
    for side, scenario in zip(sides, scenarios, strict=True):
        if scenario.template is not None:
            own.update(matching_files(initial_state(side.folder, scenario.template), scenario.guidance_or(guidance)))
    shown = (
        posixpath.join(scenarios[name in after].template or scenarios[0].template or "", name)
        for name in differing - own
    )
    return tuple(sorted(shown)), differing & own


def _template_files(side: Checkout, template: str) -> Mapping[str, str]:
    """Return git's mode and hash of each file that the workspace begins with; a link may lead to the folder."""
    folder = initial_state(side.folder, template).resolve()
    return files_below(side.folder, side.revision, folder.relative_to(side.folder.resolve()).as_posix())


def _differing(base: Path, head: Path, globs: Sequence[str]) -> set[str]:
    """Return the files that match the globs on a side and are not the same on both."""
    names = {*matching_files(base, globs), *matching_files(head, globs)}
    return {name for name in names if _content(base / name) != _content(head / name)}


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _programs(sides: Sequence[Checkout], head: Suite, touched: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the edited files that agents' programs consist of on one of the sides, by agent."""
    found: dict[str, set[str]] = {}
    for name, agent in head.agents.items():
        named = named_by(agent, head.path)
        code = {path for side in sides for path in code_of(side.folder, named)}
        used = {path for path in touched & code if not _is_tool(path, [head])}
        found[name] = used | touched.intersection(named)
    return {name: tuple(sorted(files)) for name, files in found.items() if files}
