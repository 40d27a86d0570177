"""Looks up the files and folders that evaluators name. Schemas are read; folders become relative to the root."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.composite import CodeAggregator, CompositeEvaluator, LlmAggregator
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.checks.evaluators.parameters import Parameters, schema_problem
from tidegate.checks.rubrics.prompts import ANSWERS, RESULTS, VARIABLES
from tidegate.model.evaluator import Evaluator
from tidegate.suite.folders import stays_in
from tidegate.suite.judge_files import JudgeFiles
from tidegate.suite.yaml.document import Document, KeyPath, Problem


class EvaluatorFiles:
    """Looks files up beside the scenario file, then at the repository root. `problems` collects what is missing."""

    def __init__(self, root: Path, document: Document) -> None:
        self._root = root
        self._document = document
        self._folder = PurePosixPath(document.file).parent.as_posix()
        self.problems: list[Problem] = []

    def resolved(
        self, evaluators: Sequence[Evaluator], path: KeyPath, taken: Iterable[str] = ()
    ) -> tuple[Evaluator, ...]:
        """Return the evaluators at `path` with every file and folder name resolved.

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

    def _prompt(
        self, name: str, path: KeyPath, known: Collection[str] = VARIABLES, needed: Collection[str] = ANSWERS
    ) -> str:
        files = JudgeFiles(self._root, self._document)
        text = files.prompt(name, path, known, needed)
        self.problems += files.problems
        return text

    def _place(self, folder: str | None, path: KeyPath) -> str:
        """Return the folder relative to the root; the scenario file's own folder if `folder` is None."""
        if folder is None:
            return self._folder
        for place in self._places(folder):
            if (self._root / place).is_dir() and stays_in(self._root, place):
                return place
        self._complain(path, f"no such folder in the repository (looked for {', '.join(self._places(folder))})")
        return self._folder

    def _schema(self, schema: str | dict[str, Any], path: KeyPath) -> dict[str, Any]:
        if isinstance(schema, dict):
            return schema
        for place in self._places(schema):
            if (self._root / place).is_file() and stays_in(self._root, place):
                return self._read_schema(place, path)
        self._complain(path, f"no such file in the repository (looked for {', '.join(self._places(schema))})")
        return {}

    def _read_schema(self, place: str, path: KeyPath) -> dict[str, Any]:
        try:
            schema = json.loads((self._root / place).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            self._complain(path, f"{place} is not JSON: {error}")
            return {}
        if not isinstance(schema, dict):
            self._complain(path, f"{place} is not a JSON Schema: it must be an object")
            return {}
        if problem := schema_problem(schema):
            self._complain(path, f"{place} {problem}")
        return schema

    def _places(self, name: str) -> list[str]:
        places = [os.path.normpath(PurePosixPath(start) / name) for start in (self._folder, "")]
        return [place for place in dict.fromkeys(places) if not place.startswith(("/", "../")) and place != ".."]

    def _complain(self, path: KeyPath, what: str) -> None:
        self.problems.append(self._document.problem(path, what))
