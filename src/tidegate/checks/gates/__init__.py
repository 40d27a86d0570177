"""All gates. A new gate is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.checks.gates.command_json_path import CommandJsonPath
from tidegate.checks.gates.command_output_contains import CommandOutputContains
from tidegate.checks.gates.command_output_matches import CommandOutputMatches
from tidegate.checks.gates.command_output_words import CommandOutputWords
from tidegate.checks.gates.command_succeeds import CommandSucceeds
from tidegate.checks.gates.file_contains import FileContains
from tidegate.checks.gates.file_exists import FileExists
from tidegate.checks.gates.file_matches import FileMatches
from tidegate.checks.gates.mcp_call import McpCall
from tidegate.checks.gates.mcp_prompt import McpPrompt
from tidegate.checks.gates.mcp_resource import McpResource
from tidegate.checks.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.checks.gates.script import Script

AnyGate = Annotated[
    CommandSucceeds
    | CommandOutputContains
    | CommandOutputMatches
    | CommandOutputWords
    | CommandJsonPath
    | FileExists
    | FileContains
    | FileMatches
    | McpCall
    | McpPrompt
    | McpResource
    | NoTranscriptErrors
    | Script,
    Field(discriminator="type"),
]
"""Every gate that a scenario can use, selected by `type`."""
