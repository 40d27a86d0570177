"""The gate `command_json_path`, and decisions on JSON that a command printed or a server answered."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

from tidegate.checks.gates.assertion import parse_assertion, shown
from tidegate.checks.gates.command_gate import CommandGate
from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.json_path import can_match_many, check_path, find
from tidegate.checks.gates.json_text import parse_json
from tidegate.model.event import CommandResult
from tidegate.model.gate import GateDecision
from tidegate.text.shorten import excerpt


def _check_assertion(text: str) -> str:
    parse_assertion(text)
    return text


_LAST_KEY = re.compile(r"([A-Za-z_][\w-]*)\W*$")
Path = Annotated[NonEmpty, AfterValidator(check_path)]
Assertion = Annotated[NonEmpty, AfterValidator(_check_assertion)]


def decide_json(result: CommandResult, path: str, assertion: str) -> GateDecision:
    """Pass if the output is JSON, and the assertion holds for the value at the path."""
    if result.truncated:
        return GateDecision(passed=False, message="the output was cut, so it cannot be read as JSON: print less")
    try:
        document = parse_json(result.stdout)
    except ValueError as error:
        said = f"`{start}`" if (start := excerpt(result.stdout, 120)) else "it is empty"
        return GateDecision(passed=False, message=f"the output is not JSON ({excerpt(str(error))}): {said}")
    try:
        matches = find(path, document)
    except ValueError as error:
        return GateDecision(passed=False, message=f"`{path}` {excerpt(str(error))}")
    decision = _decide_matches(path, assertion, matches)
    gone = () if decision.passed or matches else _LAST_KEY.findall(path)
    return decision.model_copy(update={"missing": tuple(key for key in gone if f'"{key}"' not in result.stdout)})


def _decide_matches(path: str, assertion: str, matches: list[object]) -> GateDecision:
    exists = assertion.strip() == "exists"
    if exists:  # a list of matches always exists, so ask for its elements
        matches = [match for match in matches if match is not None]
    many = can_match_many(path)
    if not matches and (exists or not many):
        missing = "missing or null" if exists else "missing"
        return GateDecision(passed=False, message=f"`{path}` is {missing} in the output")
    value = matches if many else matches[0]
    problem = parse_assertion(assertion)(value)
    if problem is None:
        return GateDecision(passed=True, message=f"`{path}` {assertion}: {shown(value)}")
    return GateDecision(passed=False, message=f"`{path}` {problem}")


class CommandJsonPath(CommandGate):
    """Passes when `command` exits with `status`, prints JSON, and `assertion` holds for the value at `path`.

    `path` is a JSONPath as in jsonpath-ng with its extensions. A path that can match several values (wildcard, slice,
    filter, descent, union) gives the list of all matches; any other path gives its single value.

    `assertion` is one of:

    - `exists`: present and not null; for a list of matches, at least one match that is not null
    - `equals <JSON or text>`: 3 equals 3.0, but not "3"
    - `contains <text>`: the text is part of a string, or equal to an element of an array
    - `len OP N`: the length of an array, object or string
    - `OP N`: a number

    OP is one of `==` `!=` `>=` `<=` `>` `<`.
    """

    type: Literal["command_json_path"] = "command_json_path"
    path: Path
    assertion: Assertion

    @property
    def subject(self) -> str:
        """The command, the path and the assertion."""
        return excerpt(f"{self.command} must print JSON with {self.path} {self.assertion}")

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Parse the output as JSON, follow the path, and check the value."""
        return decide_json(result, self.path, self.assertion)
