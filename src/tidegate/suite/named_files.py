"""Reads the files that evaluators and judges name: rubrics, prompts, schemas and folders of scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.composite import CodeAggregator, CompositeEvaluator, LlmAggregator
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.checks.evaluators.parameters import Parameters, schema_problem
from tidegate.checks.evaluators.rubric_judge import AnswerField, RubricJudge
from tidegate.checks.rubrics.asking import Criterion
from tidegate.checks.rubrics.prompts import ANSWERS, BUILTIN, RESULTS, VARIABLES, prompt_problem
from tidegate.model.evaluator import Evaluator
from tidegate.model.field_types import Text
from tidegate.model.value import Value
from tidegate.suite.document import Document, KeyPath, Problem
from tidegate.suite.files import read_file, validated
from tidegate.suite.folders import find_named
from tidegate.suite.scenario_file import ScenarioJudgeFile

T = TypeVar("T")
_PREFIX = "builtin:"


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


class NamedFiles:
    """Looks files up beside the scenario file, then at the repository root. `problems` collects what is wrong."""

    def __init__(self, root: Path, document: Document) -> None:
        self._root = root
        self._document = document
        self._folder = PurePosixPath(document.file).parent.as_posix()
        self.problems: list[Problem] = []

    def judge(self, file: ScenarioJudgeFile | None, path: KeyPath) -> RubricJudge | None:
        """Return the scenario's judge, or None if it has none or its rubric has problems."""
        if file is None or not file.enabled:
            return None
        if file.rubric is None:
            self._complain(path, "needs a `rubric`: a file next to the scenario, or builtin:guidance")
            return None
        rubric = self._rubric(file.rubric, (*path, "rubric"))
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
            self._complain((*path, "rubric"), f"{file.rubric}: {error.errors()[0]['ctx']['error']}")
            return None

    def resolved(
        self, evaluators: Sequence[Evaluator], path: KeyPath, taken: Iterable[str] = ()
    ) -> tuple[Evaluator, ...]:
        """Return the evaluators at `path` with every file read, and every folder relative to the root.

        Two of one name are a problem, as is a name that is `taken`: reports could not tell them apart.
        """
        names = set(taken)
        for index, evaluator in enumerate(evaluators):
            if evaluator.label in names:
                place = (*path, index, "name") if evaluator.name else (*path, index)
                self._complain(place, f"two evaluators are named `{evaluator.label}`; give each a different `name`")
            names.add(evaluator.label)
        return tuple(self._one(evaluator, (*path, index)) for index, evaluator in enumerate(evaluators))

    def _one(self, evaluator: Evaluator, path: KeyPath) -> Evaluator:
        match evaluator:
            case CodeJudge():
                return evaluator.model_copy(update={"cwd": self._place(evaluator.cwd, (*path, "cwd"))})
            case LlmJudge(prompt=str() as prompt):
                return evaluator.model_copy(update={"prompt": self._prompt(prompt, (*path, "prompt"))})
            case Parameters():
                schemas = {
                    tool: self._schema(schema, (*path, "schemas", tool)) for tool, schema in evaluator.schemas.items()
                }
                return evaluator.model_copy(update={"schemas": schemas})
            case CompositeEvaluator():
                members = self.resolved(evaluator.evaluators, (*path, "evaluators"))
                aggregator = evaluator.aggregator
                if isinstance(aggregator, CodeAggregator):
                    folder = self._place(aggregator.cwd, (*path, "aggregator", "cwd"))
                    aggregator = aggregator.model_copy(update={"cwd": folder})
                elif isinstance(aggregator, LlmAggregator) and aggregator.prompt is not None:
                    text = self._prompt(aggregator.prompt, (*path, "aggregator", "prompt"), (RESULTS,), (RESULTS,))
                    aggregator = aggregator.model_copy(update={"prompt": text})
                return evaluator.model_copy(update={"evaluators": members, "aggregator": aggregator})
            case _:
                return evaluator

    def _rubric(self, name: str, path: KeyPath) -> tuple[tuple[Criterion, ...], tuple[AnswerField, ...]] | None:
        """Return the rubric's criteria and the fields that it requires of an answer; None if it has problems."""
        if name.startswith(_PREFIX):
            if (ready := BUILTIN.get(name.removeprefix(_PREFIX))) is None:
                self._complain(path, f"there is no `{name}`; there is {', '.join(_PREFIX + one for one in BUILTIN)}")
            return None if ready is None else (ready, ())
        if (place := self._found(name, path)) is None:
            return None
        file, problems = validated(read_file(self._root, place), RubricFile, "rubric")
        self.problems += problems
        if file is None or problems:
            return None
        criteria = (Criterion(id=one.id, weight=one.weight, description=one.description) for one in file.criteria)
        return tuple(criteria), file.output.require_fields

    def _prompt(
        self, name: str, path: KeyPath, known: Collection[str] = VARIABLES, needed: Collection[str] = ANSWERS
    ) -> str:
        """Return the text of a prompt file, checked for variables: all are `known`, and at least one is `needed`."""

        def checked(text: str) -> str:
            if problem := prompt_problem(text, known, needed):
                raise ValueError(problem)
            return text

        return self._text(name, path, checked) or name

    def _schema(self, schema: str | dict[str, Any], path: KeyPath) -> dict[str, Any]:
        def read(text: str) -> dict[str, Any]:
            try:
                found = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"is not JSON: {error}") from None
            if not isinstance(found, dict):
                raise ValueError("is not a JSON Schema: it must be an object")
            if problem := schema_problem(found):
                raise ValueError(problem)
            return found

        return schema if isinstance(schema, dict) else self._text(schema, path, read) or {}

    def _text(self, name: str, path: KeyPath, read: Callable[[str], T]) -> T | None:
        """Return what `read` makes of the file's text, or None with a problem."""
        if (place := self._found(name, path)) is None:
            return None
        try:
            return read((self._root / place).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            self._complain(path, f"{place} cannot be read as text")
        except ValueError as error:
            self._complain(path, f"{place} {error}")
        return None

    def _place(self, folder: str | None, path: KeyPath) -> str:
        """Return the folder relative to the root; the scenario file's own folder if `folder` is None."""
        return self._folder if folder is None else self._found(folder, path, folder=True) or self._folder

    def _found(self, name: str, path: KeyPath, *, folder: bool = False) -> str | None:
        try:
            return find_named(self._root, (self._folder, ""), name, folder=folder)
        except ValueError as error:
            self._complain(path, str(error))
            return None

    def _complain(self, path: KeyPath, what: str) -> None:
        self.problems.append(self._document.problem(path, what))
