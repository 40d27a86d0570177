"""All gates. A new gate is a class in a file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from tidegate.model.gate import Gate
from tidegate.model.value import Family

GATES = Family(
    {
        "command_succeeds": "tidegate.checks.gates.command_gate:CommandSucceeds",
        "command_exits": "tidegate.checks.gates.command_gate:CommandExits",
        "command_output_contains": "tidegate.checks.gates.text_gates:CommandOutputContains",
        "command_output_matches": "tidegate.checks.gates.text_gates:CommandOutputMatches",
        "command_output_words": "tidegate.checks.gates.text_gates:CommandOutputWords",
        "command_json_path": "tidegate.checks.gates.json_path:CommandJsonPath",
        "file_exists": "tidegate.checks.gates.text_gates:FileExists",
        "file_contains": "tidegate.checks.gates.text_gates:FileContains",
        "file_matches": "tidegate.checks.gates.text_gates:FileMatches",
        "mcp_call": "tidegate.checks.gates.server_gates:McpCall",
        "mcp_prompt": "tidegate.checks.gates.server_gates:McpPrompt",
        "mcp_resource": "tidegate.checks.gates.server_gates:McpResource",
        "no_transcript_errors": "tidegate.checks.gates.no_transcript_errors:NoTranscriptErrors",
        "script": "tidegate.checks.gates.command_gate:Script",
    }
)
AnyGate = Annotated[Gate, GATES]
"""Every gate that a scenario can use, selected by `type`."""
