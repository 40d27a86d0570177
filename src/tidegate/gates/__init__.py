"""All gates. A new gate is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.gates.command_json_path import CommandJsonPath
from tidegate.gates.command_output_contains import CommandOutputContains
from tidegate.gates.command_output_matches import CommandOutputMatches
from tidegate.gates.command_output_words import CommandOutputWords
from tidegate.gates.command_succeeds import CommandSucceeds
from tidegate.gates.file_contains import FileContains
from tidegate.gates.file_exists import FileExists
from tidegate.gates.file_matches import FileMatches
from tidegate.gates.mcp_call import McpCall
from tidegate.gates.mcp_prompt import McpPrompt
from tidegate.gates.mcp_resource import McpResource
from tidegate.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.gates.script import Script

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
