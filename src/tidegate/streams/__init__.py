"""Parsers of agents' raw output into events. A parser never raises; what it cannot read becomes a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from tidegate.model.event import Event
from tidegate.streams import agentv, atif, claude_code, codex, events, gemini, llm_tool_test, opencode, text

StreamName = Literal["text", "events", "agentv", "atif", "claude-code", "codex", "gemini", "llm-tool-test", "opencode"]

PARSERS: Mapping[StreamName, Callable[[str], tuple[Event, ...]]] = {
    "text": text.parse,
    "events": events.parse,
    "agentv": agentv.parse,
    "atif": atif.parse,
    "claude-code": claude_code.parse,
    "codex": codex.parse,
    "gemini": gemini.parse,
    "llm-tool-test": llm_tool_test.parse,
    "opencode": opencode.parse,
}
