"""tidegate.yaml and the scenarios that it names → Suite, or everything that is wrong with them at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.model.suite import Budget, Diagnosis, Policy, Scenario, Store, Suite, TrialCounts
from tidegate.suite.agent_models import with_models_split
from tidegate.suite.assemble import Assembly
from tidegate.suite.document import Document
from tidegate.suite.explain import explain
from tidegate.suite.folders import matching_files
from tidegate.suite.problem import Problem
from tidegate.suite.scenario_file import ScenarioFile
from tidegate.suite.suite_file import SuiteFile
from tidegate.suite.yaml_reader import read_document

SUITE_FILE = "tidegate.yaml"

M = TypeVar("M", bound=BaseModel)


class _ScenarioRead(NamedTuple):
    document: Document
    file: ScenarioFile | None


def load_suite(root: Path, file: str = SUITE_FILE, *, environ: Mapping[str, str]) -> Suite:
    """The suite of the checkout at `root`; `file` is relative to it.

    `environ` is all that `${NAME}` can stand for: hand over no more than what base's `pass_env` allows.
    Raises ConfigurationError with every problem of every file, NothingToRunError if `scenarios` is an empty list.
    """
    document = read_document(root / file, file)
    if document.root is None and not (root / file).exists():
        advice = "Write one at the repository's root, or name yours with `--config FILE`."
        raise ConfigurationError.of([str(problem) for problem in document.problems], advice)
    suite, problems = _validated(document, SuiteFile, "suite")
    paths, glob_problems = _scenario_paths(root, document)
    scenarios = [_read_scenario(root, path, problems) for path in paths]
    problems += glob_problems + _same_names(scenarios)
    loaded: list[Scenario] = []
    if suite is not None:
        assembly = Assembly(root, document, suite, environ)
        assembly.check_suite(read.file for read in scenarios if read.file)
        loaded = [s for read in scenarios if read.file and (s := assembly.scenario(read.document, read.file))]
        problems += assembly.problems
    if problems or suite is None:
        raise ConfigurationError.of(_in_order(problems, [file, *paths]))
    if not loaded:
        raise NothingToRunError(f"{file}: `scenarios` is an empty list.", "Name the scenario files there, by globs.")
    return _suite(file, suite, loaded)


def try_load_suite(
    root: Path, file: str = SUITE_FILE, *, environ: Mapping[str, str]
) -> tuple[Suite | None, tuple[str, ...]]:
    """The suite of base, where there may be none: None then, with a warning that says why."""
    if not (root / file).exists():
        return None, (f"base has no {file}: head's is used",)
    try:
        return load_suite(root, file, environ=environ), ()
    except (ConfigurationError, NothingToRunError) as error:
        return None, (f"base's suite cannot be used, so head's is: {error.message.splitlines()[0]}",)


def _validated(document: Document, model: type[M], kind: str) -> tuple[M | None, list[Problem]]:
    """The file as its model, if it fits; strict as JSON is: no text for a number, no list for nothing."""
    problems = list(document.problems)
    if document.root is None:
        return None, problems
    if not isinstance(document.root.children, dict):
        return None, [*problems, document.problem((), "must be a mapping (`key: value` lines)")]
    data = with_models_split(document.data) if kind == "suite" else document.data
    try:
        return model.model_validate_json(json.dumps(data), strict=True), problems
    except ValidationError as error:
        broken = {(problem.line, problem.column) for problem in problems}
        found = explain(error, document, kind)
        return None, problems + [problem for problem in found if (problem.line, problem.column) not in broken]


def _scenario_paths(root: Path, document: Document) -> tuple[list[str], list[Problem]]:
    """The scenario files in the order of the globs, each once, even if other keys of the suite are wrong."""
    globs: JsonValue = document.data.get("scenarios") if isinstance(document.data, dict) else None
    paths: list[str] = []
    problems = []
    for index, pattern in enumerate(globs if isinstance(globs, list) else ()):
        if not isinstance(pattern, str) or not pattern.strip():
            continue  # the model says what is wrong with it
        try:
            paths += [path for path in matching_files(root, pattern) if path != document.file]
        except ValueError as error:
            problems.append(document.problem(("scenarios", index), f"`{pattern}` {error}"))
    return list(dict.fromkeys(paths)), problems


def _read_scenario(root: Path, path: str, problems: list[Problem]) -> _ScenarioRead:
    document = read_document(root / path, path)
    if document.node(("evalcases",)):
        problems.append(document.problem(("evalcases",), "AgentV files are not supported yet", at_key=True))
        return _ScenarioRead(document, None)
    file, found = _validated(document, ScenarioFile, "scenario")
    problems += found
    return _ScenarioRead(document, file)


def _same_names(scenarios: Iterable[_ScenarioRead]) -> list[Problem]:
    first: dict[str, Document] = {}
    problems = []
    for document, _ in scenarios:
        node = document.node(("name",))
        if node is None or not isinstance(node.value, str):
            continue
        other = first.setdefault(node.value, document)
        if other is not document:
            place = f"{other.file}:{other.value_at(('name',)).line}"
            problems.append(document.problem(("name",), f"`{node.value}` is already the name of {place}"))
    return problems


def _in_order(problems: Iterable[Problem], files: list[str]) -> list[str]:
    """One line each, file by file as they were read, from top to bottom."""
    rank = {file: index for index, file in enumerate(files)}
    ordered = sorted(set(problems), key=lambda problem: (rank.get(problem.file, len(rank)), problem))
    return [str(problem) for problem in ordered]


def _suite(file: str, suite: SuiteFile, scenarios: list[Scenario]) -> Suite:
    return Suite(
        file=file,
        subject=suite.subject,
        guidance=suite.guidance,
        build=suite.build,
        path=suite.path,
        agents=suite.agents,
        scenarios=tuple(scenarios),
        trials=TrialCounts(min=suite.trials.min, max=suite.trials.max),
        jobs=suite.trials.jobs,
        budget=Budget(**dict(suite.budget)),
        policy=Policy(**dict(suite.policy)),
        limits=suite.limits,
        pass_env=suite.pass_env,
        store=Store(path=suite.store.path, max_trials=suite.store.max_trials, max_days=suite.store.max_days),
        diagnosis=Diagnosis(**dict(suite.diagnosis)),
        comment_template=suite.report.comment_template,
    )
