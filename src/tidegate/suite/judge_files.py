"""Finds rubric files and prompt files: beside the scenario file, then at the repository root."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from tidegate.checks.evaluators.rubric_judge import AnswerField, RubricJudge
from tidegate.checks.rubrics.asking import Criterion
from tidegate.checks.rubrics.prompts import ANSWERS, BUILTIN, VARIABLES, prompt_problem
from tidegate.model.field_types import Text
from tidegate.model.value import Value
from tidegate.suite.folders import stays_in
from tidegate.suite.scenario_file import ScenarioJudgeFile
from tidegate.suite.yaml.document import Document, KeyPath, Problem
from tidegate.suite.yaml.explain import explain
from tidegate.suite.yaml.reader import read_document


class CriterionFile(Value):
    """One criterion of a rubric. The weights of all criteria must sum to 1."""

    id: Text
    weight: Annotated[float, Field(gt=0, le=1)]
    description: Text


class OutputFile(Value):
    """The format of the judge's answer, which is always JSON, and the fields that each answer must have."""

    format: Literal["json"] = "json"
    require_fields: tuple[AnswerField, ...] = ()


class RubricFile(Value):
    """A rubric: the criteria by which a judge scores a trial."""

    name: Text | None = None
    description: Text | None = None
    criteria: tuple[CriterionFile, ...] = Field(min_length=1)
    output: OutputFile = OutputFile()


_PREFIX = "builtin:"


class JudgeFiles:
    """Reads the files that judges need. `problems` collects what is missing or wrong."""

    def __init__(self, root: Path, document: Document) -> None:
        self._root = root
        self._document = document
        self._folder = PurePosixPath(document.file).parent.as_posix()
        self.problems: list[Problem] = []

    def judge(self, file: ScenarioJudgeFile | None, path: KeyPath) -> RubricJudge | None:
        """Return the scenario's judge, or None if it has none or its rubric has problems."""
        if file is None or not file.enabled:
            return None
        place = (*path, "rubric")
        if file.rubric is None:
            self._complain(path, "needs a `rubric`: a file next to the scenario, or builtin:guidance")
            return None
        rubric = self._rubric(file.rubric, place)
        if rubric is None:
            return None
        try:
            return RubricJudge(
                rubric=file.rubric,
                criteria=rubric[0],
                require_fields=rubric[1],
                files=file.files,
                pass_threshold=file.pass_threshold,
            )
        except ValidationError as error:
            self._complain(place, f"{file.rubric}: {error.errors()[0]['ctx']['error']}")
            return None

    def prompt(
        self, name: str, path: KeyPath, known: Collection[str] = VARIABLES, needed: Collection[str] = ANSWERS
    ) -> str:
        """Return the text of a prompt file, checked for variables: all are `known`, and at least one is `needed`.

        If the file has problems, its name may be returned, so that other problems can still be found.
        """
        place = self._found(name, path)
        if place is None:
            return name
        try:
            text = (self._root / place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            self._complain(path, f"{place} cannot be read as text")
            return name
        if problem := prompt_problem(text, known, needed):
            self._complain(path, f"{place} {problem}")
        return text or name

    def _rubric(self, name: str, path: KeyPath) -> tuple[tuple[Criterion, ...], tuple[AnswerField, ...]] | None:
        """Return the rubric's criteria and the fields that it requires of an answer; None if it has problems."""
        if name.startswith(_PREFIX):
            if (ready := BUILTIN.get(name.removeprefix(_PREFIX))) is None:
                self._complain(path, f"there is no `{name}`; there is {', '.join(_PREFIX + one for one in BUILTIN)}")
            return None if ready is None else (ready, ())
        place = self._found(name, path)
        if place is None:
            return None
        document = read_document(self._root / place, place)
        self.problems += document.problems
        if document.root is None:
            return None
        try:
            file = RubricFile.model_validate_json(json.dumps(document.data), strict=True)
        except ValidationError as error:
            self.problems += explain(error, document, "rubric")
            return None
        criteria = (Criterion(id=one.id, weight=one.weight, description=one.description) for one in file.criteria)
        return tuple(criteria), file.output.require_fields

    def _found(self, name: str, path: KeyPath) -> str | None:
        places = [os.path.normpath(PurePosixPath(start) / name) for start in (self._folder, "")]
        inside = [place for place in dict.fromkeys(places) if not place.startswith(("/", "../")) and place != ".."]
        for place in inside:
            if (self._root / place).is_file() and stays_in(self._root, place):
                return place
        self._complain(path, f"no such file in the repository (looked for {', '.join(inside) or name})")
        return None

    def _complain(self, path: KeyPath, what: str) -> None:
        self.problems.append(self._document.problem(path, what))
