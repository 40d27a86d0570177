"""All gates. A new gate is a class in a file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.checks.gates.command_gate import CommandExits, CommandSucceeds
from tidegate.checks.gates.file_gate import FileExists
from tidegate.checks.gates.json_output import CommandJsonPath
from tidegate.checks.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.checks.gates.script import Script
from tidegate.checks.gates.server_gates import McpCall, McpPrompt, McpResource
from tidegate.checks.gates.text_gates import (
    CommandOutputContains,
    CommandOutputMatches,
    CommandOutputWords,
    FileContains,
    FileMatches,
)

AnyGate = Annotated[
    CommandSucceeds
    | CommandExits
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
