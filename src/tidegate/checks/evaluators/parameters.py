"""The evaluator `parameters`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, Literal, Self

from jsonschema import SchemaError
from jsonschema.validators import validator_for
from pydantic import model_validator

from tidegate.checks.evaluators.matching import NO_TRACE, ComparedCall, Matcher, calls_of, matches
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Score
from tidegate.text.json_schema import first_error


class Parameters(Evaluator):
    """Scores the arguments of tool calls: the mean of two shares, which are also in the details.

    - `schemas`: a JSON Schema for each tool, inline or as a file next to the scenario. The share is calls with valid
    arguments / calls of these tools.
    - `reference`: expected arguments for each tool. The share is arguments that match (as in `tool_trajectory`) in the
    closest call / all expected arguments.

    A share with nothing to count is left out. If neither can be computed, the evaluator is not measured.
    """

    type: Literal["parameters"] = "parameters"
    schemas: dict[str, str | dict[str, Any]] = {}
    reference: dict[str, dict[str, Matcher]] = {}

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if not self.schemas and not any(self.reference.values()):
            raise ValueError("needs `schemas` or `reference`: an empty expectation says nothing")
        for tool, schema in self.schemas.items():
            if isinstance(schema, dict) and (problem := schema_problem(schema)):
                raise ValueError(f"the schema of {tool} {problem}")
        return self

    @property
    def compared_tools(self) -> frozenset[str]:
        """The tools whose inputs are checked."""
        return frozenset({*self.schemas, *self.reference})

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Check every call. Needs no requests."""
        yield from ()
        calls = calls_of(record, self.compared_tools)
        if calls is None:
            return Score.unknown(NO_TRACE, "no_trace")
        try:
            problems = list(self._schema_problems(calls))
        except LookupError as error:
            return Score.unknown(f"a schema refers to what is not in it: {error}")
        matching, total = self._references(calls)
        details = {}
        if problems:
            details["parameter_schema_valid"] = problems.count("") / len(problems)
        if total:
            details["parameter_semantic"] = matching / total
        if not details:
            return Score.unknown("no tool that has a schema was called")
        misses = tuple(filter(None, problems))
        return Score(value=fmean(details.values()), reason="; ".join(misses[:3]), misses=misses, details=details)

    def _schema_problems(self, calls: Sequence[ComparedCall]) -> Iterator[str]:
        """Yield the problem of each call that has a schema; '' if it is valid."""
        for call in calls:
            schema = self.schemas.get(call.tool)
            if isinstance(schema, dict):
                error = first_error(schema, call.input)
                yield f"{call.tool}: {error}"[:300] if error else ""

    def _references(self, calls: Sequence[ComparedCall]) -> tuple[int, int]:
        """Return the number of reference arguments that match, and of all."""
        matching = 0
        for tool, wanted in self.reference.items():
            met = [_met(wanted, call.input) for call in calls if call.tool == tool]
            matching += max(met, default=0)
        return matching, sum(map(len, self.reference.values()))


def _met(wanted: dict[str, Any], given: dict[str, Any]) -> int:
    return sum(name in given and matches(value, given[name]) for name, value in wanted.items())


def schema_problem(schema: dict[str, Any]) -> str:
    """Return why this is not a JSON Schema; '' if it is one."""
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return f"is not a JSON Schema: {error.message}"[:300]
    return ""
