"""Computes hashes that decide which earlier base trials may be reused instead of new ones (verdict.md)."""

from __future__ import annotations

import glob
import hashlib
import json
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tidegate import __version__
from tidegate.checks.evaluators.script_files import files_of, named_files
from tidegate.checks.script_contents import content_hash, script_contents
from tidegate.model.agent import Agent
from tidegate.model.plan import PlanRow
from tidegate.model.suite import INITIAL_STATE, Scenario, Suite
from tidegate.suite.plan import definition_hash
from tidegate.trial.workspace import everything_below, matching_files
from tidegate.vcs.links import led_to
from tidegate.vcs.revisions import resolve, tree_hash


def scripts_hash(root: Path, scenario: Scenario) -> str:
    """Return a hash of the scripts' folders and of the files that their commands name; "" without scripts."""
    folders = [folder for evaluator in scenario.evaluators for _, folder in evaluator.scripts]
    return _tree(root, _globs(root, (*folders, *files_of(scenario.evaluators))))


def program_hash(root: Path, agent: Agent, path: Sequence[str]) -> str:
    """Return a hash of the agent's program in the commit checked out at `root`; "" if it has no file there.

    `path`: the suite's, whose folders can have the program.
    """
    return _tree(root, program_globs(root, agent, path))


def program_globs(root: Path, agent: Agent, path: Sequence[str]) -> tuple[str, ...]:
    """Return globs of the files that the agent's program consists of, with all that lies beside and below them."""
    commands = (getattr(agent, key, None) for key in ("command", "program"))
    words = [one.replace("{repo}", ".") for one in commands if isinstance(one, str)]
    names = [name for one in words for name in named_files(one, ".")]
    return _globs(root, [*names, *(posixpath.join(folder, name) for name in names for folder in path)])


def _globs(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    existing = [place for name in names for place in led_to(root, name) if (root / place).exists()]
    return tuple(dict.fromkeys(one for name in existing for one in _around(root, name)))


def _tree(root: Path, globs: Sequence[str]) -> str:
    """Return a hash of the files of the commit checked out at `root`; "" without globs."""
    return tree_hash(root, resolve(root, "HEAD"), globs) if globs else ""


def _around(root: Path, name: str) -> Iterator[str]:
    folder = name if (root / name).is_dir() else posixpath.dirname(name)
    yield glob.escape(name)
    yield "**" if folder in ("", ".") else f"{glob.escape(folder)}/**"


TemplateFiles = tuple[tuple[str, str], ...]


def agent_mark(row: PlanRow, version: str | None) -> str:
    """Return what a fingerprint has of the row's agent. `version` is that of the agent's program."""
    agent = {"name": row.key.agent, **row.agent.model_dump(mode="json", exclude={"seed"})}
    return json.dumps({"agent": agent, "agent_version": version}, sort_keys=True)


def fingerprint(row: PlanRow, template: TemplateFiles, agent: str, judge: str = "", code: Sequence[str] = ()) -> str:
    """Return a SHA-256 of everything that makes base trials comparable.

    It covers the scenario, its template's files, the `agent` with its version and model, and Tidegate.
    `judge` describes the judge; it is included only if a model judges the scenario. `code` has hashes of the
    evaluators' scripts and of the agent's program, as far as they are files of the repository. The seed is excluded,
    because it only selects other samples of the same distribution. The code under test is excluded, because base's
    history follows base's commits; new base trials guard against drift.
    """
    parts: dict[str, Any] = {
        "tidegate": __version__,
        "scenario": definition_hash(row.scenario),
        "template": list(template),
    }
    if judge and row.scenario.judged:
        parts["judge"] = judge
    if any(code):
        parts["code"] = list(code)
    rest = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(f"{agent[:-1]}, {rest[1:]}".encode()).hexdigest()


def fingerprint_at(root: Path, row: PlanRow, suite: Suite, version: str | None) -> str:
    """Return the row's fingerprint in one checkout."""
    code = (scripts_hash(root, row.scenario), program_hash(root, row.agent, suite.path))
    files = template_files(root, row.scenario, suite.guidance)
    return fingerprint(row, files, agent_mark(row, version), judge_mark(suite, root), code)


def judge_mark(suite: Suite, folder: Path) -> str:
    """Return what affects a judged trial besides the rubric; "" without a judge. `folder`: where it works."""
    judge = suite.judge
    return f"{judge.identity(folder)} {judge.samples} {suite.policy.judge_blocks}" if judge else ""


def test_key(fingerprint: str, row: PlanRow, suite: Suite, code: Sequence[str]) -> str:
    """Return a SHA-256 of everything that a row's test depends on. `code`: what identifies each side's."""
    settings = suite.model_dump(mode="json", include={"build", "path", "limits", "pass_env"})
    of_head = row.on("head")
    product = [] if of_head is row else [definition_hash(of_head.scenario), agent_mark(of_head, None)]
    parts = {"row": fingerprint, "head": product, "code": list(code), "settings": settings}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def template_files(definitions: Path, scenario: Scenario, guidance: Sequence[str]) -> TemplateFiles:
    """Return the name and content hash of each template file except guidance; for a link, its destination.

    `guidance` is the suite's.
    """
    if scenario.template is None:
        return ()
    return tuple(_files(definitions, scenario.template, scenario.guidance_or(guidance)))


def scenario_files(root: Path, template: str | None, scripts: Iterable[str], guidance: Sequence[str]) -> dict[str, str]:
    """Return a hash of each file of the template except guidance, and of each of the scripts' files, by its path."""
    files = () if template is None else _files(root, template, guidance)
    return script_contents(root, scripts) | {posixpath.join(template or "", name): mark for name, mark in files}


def _files(definitions: Path, template: str, guidance: Sequence[str]) -> Iterator[tuple[str, str]]:
    folder = definitions / template
    initial = folder / INITIAL_STATE if (folder / INITIAL_STATE).is_dir() else folder
    own = {initial / name for name in matching_files(initial, guidance)}
    for path in sorted(everything_below(folder)):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            yield name, f"-> {path.readlink()}"
        elif path.is_file() and path not in own:
            yield name, content_hash(path)
