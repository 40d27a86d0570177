"""The gate `command_json_path`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.command_gate import CommandGate
from tidegate.checks.gates.json_output import Assertion, Path, decide_json
from tidegate.model.event import CommandResult
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt


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
    path: Path
    assertion: Assertion

    @property
    def subject(self) -> str:
        """The command, the path and the assertion."""
        return excerpt(f"{self.command} must print JSON with {self.path} {self.assertion}")

    def decide_output(self, result: CommandResult) -> Decision:
        """Parse the output as JSON, follow the path, and check the value."""
        return decide_json(result, self.path, self.assertion)
