"""Parsers of agents' raw output into events. A parser never raises; what it cannot read becomes a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tidegate.agents.streams import agentv, claude_code, codex, events, gemini, llm_tool_test, opencode
from tidegate.agents.streams.json_lines import Stream
from tidegate.model.event import Event, Message, ToolCall, Warning

StreamName = Literal[
    "text",
    "events",
    "agentv",
    "claude-code",
    "codex",
    "codex-rollout",
    "gemini",
    "llm-tool-test",
    "opencode",
]

STREAMS: Mapping[StreamName, Stream] = {
    "text": events.TEXT,
    "events": events.STREAM,
    "agentv": agentv.STREAM,
    "claude-code": claude_code.STREAM,
    "codex": codex.STREAM,
    "codex-rollout": codex.ROLLOUT,
    "gemini": gemini.STREAM,
    "opencode": opencode.STREAM,
    "llm-tool-test": llm_tool_test.STREAM,
}
TRANSCRIPTS = {name: stream for name, stream in STREAMS.items() if stream.is_transcript}


def recognized(output: str) -> tuple[StreamName, tuple[Event, ...]] | None:
    """Return the format that understands most of the text, and the events in it; None if no format does."""
    readings = {name: stream.parse(output) for name, stream in TRANSCRIPTS.items()}
    best = max(readings, key=lambda name: _understood(readings[name]))
    return (best, readings[best]) if _understood(readings[best]) > 0 else None


def _understood(events: tuple[Event, ...]) -> int:
    return sum(-1 if isinstance(event, Warning) else isinstance(event, ToolCall | Message) for event in events)
