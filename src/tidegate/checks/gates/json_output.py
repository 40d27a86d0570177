"""Decide on JSON that a command printed or a server answered."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from tidegate.checks.gates.assertion import parse_assertion, shown
from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.json_path import can_match_many, check_path, find
from tidegate.checks.gates.json_text import parse_json
from tidegate.model.event import CommandResult
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt


def _check_assertion(text: str) -> str:
    parse_assertion(text)
    return text


_LAST_KEY = re.compile(r"([A-Za-z_][\w-]*)\W*$")
Path = Annotated[NonEmpty, AfterValidator(check_path)]
Assertion = Annotated[NonEmpty, AfterValidator(_check_assertion)]


def decide_json(result: CommandResult, path: str, assertion: str) -> Decision:
    """Pass if the output is JSON, and the assertion holds for the value at the path."""
    if result.truncated:
        return Decision(passed=False, message="the output was cut, so it cannot be read as JSON: print less")
    try:
        document = parse_json(result.stdout)
    except ValueError as error:
        said = f"`{start}`" if (start := excerpt(result.stdout, 120)) else "it is empty"
        return Decision(passed=False, message=f"the output is not JSON ({excerpt(str(error))}): {said}")
    try:
        matches = find(path, document)
    except ValueError as error:
        return Decision(passed=False, message=f"`{path}` {excerpt(str(error))}")
    decision = _decide_matches(path, assertion, matches)
    gone = () if decision.passed or matches else _LAST_KEY.findall(path)
    return decision.model_copy(update={"missing": tuple(key for key in gone if f'"{key}"' not in result.stdout)})


def _decide_matches(path: str, assertion: str, matches: list[object]) -> Decision:
    exists = assertion.strip() == "exists"
    if exists:  # a list of matches always exists, so ask for its elements
        matches = [match for match in matches if match is not None]
    many = can_match_many(path)
    if not matches and (exists or not many):
        missing = "missing or null" if exists else "missing"
        return Decision(passed=False, message=f"`{path}` is {missing} in the output")
    value = matches if many else matches[0]
    problem = parse_assertion(assertion)(value)
    if problem is None:
        return Decision(passed=True, message=f"`{path}` {assertion}: {shown(value)}")
    return Decision(passed=False, message=f"`{path}` {problem}")
