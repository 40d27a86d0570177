"""Parsers of agents' raw output into events. A parser never raises; what it cannot read becomes a warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from pydantic_core import from_json

from tidegate.agents.streams import agentv, claude_code, codex, events, gemini, llm_tool_test, opencode, text
from tidegate.agents.streams.json_lines import Stream
from tidegate.model.event import Event, Message, ToolCall, Warning

StreamName = Literal[
    "text",
    "events",
    "agentv",
    "agentv-transcript",
    "claude-code",
    "codex",
    "codex-rollout",
    "gemini",
    "llm-tool-test",
    "opencode",
]

STREAMS: Mapping[StreamName, Stream] = {
    "text": text.STREAM,
    "events": events.STREAM,
    "agentv": agentv.STREAM,
    "agentv-transcript": agentv.TRANSCRIPT,
    "claude-code": claude_code.STREAM,
    "codex": codex.STREAM,
    "codex-rollout": codex.ROLLOUT,
    "gemini": gemini.STREAM,
    "opencode": opencode.STREAM,
    "llm-tool-test": llm_tool_test.STREAM,
}
TRANSCRIPTS = {name: stream for name, stream in STREAMS.items() if stream.is_transcript}
_MOST_KEYS = 8


def recognized(output: str) -> tuple[StreamName, tuple[Event, ...]] | None:
    """Return the format that understands most of the text, and the events in it; None if no format does."""
    readings = {name: stream.parse(output) for name, stream in TRANSCRIPTS.items()}
    best = max(readings, key=lambda name: _understood(readings[name]))
    return (best, readings[best]) if _understood(readings[best]) > 0 else None


def described(text: str) -> str:
    """Return what an unknown transcript looks like, for an error message: `JSON lines with the keys type, payload`."""
    for kind, parts in (("a JSON object", [text]), ("JSON lines", text.splitlines())):
        found = [part for part in map(_parsed, parts) if part is not None]
        if found and len(found) == len([part for part in parts if part.strip()]):
            keys = Counter(key for part in found for key in part)
            shown = ", ".join(key[:40] for key, _ in keys.most_common(_MOST_KEYS))
            return f"{kind} with the keys {shown}" if shown else f"{kind} without keys"
    return "text that is not JSON"


def _parsed(part: str) -> dict[str, object] | None:
    try:
        data = from_json(part.strip(), allow_inf_nan=False)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _understood(events: tuple[Event, ...]) -> int:
    return sum(-1 if isinstance(event, Warning) else isinstance(event, ToolCall | Message) for event in events)
