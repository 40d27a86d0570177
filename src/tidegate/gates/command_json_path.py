"""The gate `command_json_path`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

from tidegate.gates.assertion import parse_assertion, shown
from tidegate.gates.command_gate import CommandGate
from tidegate.gates.fields import NonEmpty
from tidegate.gates.json_path import can_match_many, check_path, find
from tidegate.gates.json_text import parse_json
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt

_LAST_KEY = re.compile(r"([A-Za-z_][\w-]*)\W*$")


def _check_assertion(text: str) -> str:
    parse_assertion(text)
    return text


class CommandJsonPath(CommandGate):
    """Passes when `command` exits with status 0, prints JSON, and `assertion` holds for the value at `path`.

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
    path: Annotated[NonEmpty, AfterValidator(check_path)]
    assertion: Annotated[NonEmpty, AfterValidator(_check_assertion)]

    @property
    def subject(self) -> str:
        """The command, the path and the assertion."""
        return excerpt(f"{self.command} must print JSON with {self.path} {self.assertion}")

    def decide_output(self, result: CommandResult) -> Decision:
        """Parse the output as JSON, follow the path, and check the value."""
        if result.truncated:
            return Decision(passed=False, message="the output was cut, so it cannot be read as JSON: print less")
        try:
            document = parse_json(result.stdout)
        except ValueError as error:
            said = f"`{start}`" if (start := excerpt(result.stdout, 120)) else "it is empty"
            return Decision(passed=False, message=f"the output is not JSON ({excerpt(str(error))}): {said}")
        try:
            matches = find(self.path, document)
        except ValueError as error:
            return Decision(passed=False, message=f"`{self.path}` {excerpt(str(error))}")
        decision = self._decide_matches(matches)
        gone = () if decision.passed or matches else _LAST_KEY.findall(self.path)
        return decision.model_copy(update={"missing": tuple(key for key in gone if f'"{key}"' not in result.stdout)})

    def _decide_matches(self, matches: list[object]) -> Decision:
        exists = self.assertion.strip() == "exists"
        if exists:  # a list of matches always exists, so ask for its elements
            matches = [match for match in matches if match is not None]
        many = can_match_many(self.path)
        if not matches and (exists or not many):
            missing = "missing or null" if exists else "missing"
            return Decision(passed=False, message=f"`{self.path}` is {missing} in the output")
        value = matches if many else matches[0]
        problem = parse_assertion(self.assertion)(value)
        if problem is None:
            return Decision(passed=True, message=f"`{self.path}` {self.assertion}: {shown(value)}")
        return Decision(passed=False, message=f"`{self.path}` {problem}")
