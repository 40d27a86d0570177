"""Parsers of agents' raw output into events. A parser never raises; what it cannot read becomes a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tidegate.streams import (
    agentv,
    agentv_transcript,
    atif,
    claude_code,
    codex,
    codex_rollout,
    copilot,
    events,
    gemini,
    llm_tool_test,
    opencode,
    swe_agent,
    text,
)
from tidegate.streams.stream import Stream

StreamName = Literal[
    "text",
    "events",
    "agentv",
    "agentv-transcript",
    "atif",
    "claude-code",
    "codex",
    "codex-rollout",
    "copilot",
    "gemini",
    "llm-tool-test",
    "opencode",
    "swe-agent",
]

STREAMS: Mapping[StreamName, Stream] = {
    "text": text.STREAM,
    "events": events.STREAM,
    "agentv": agentv.STREAM,
    "agentv-transcript": agentv_transcript.STREAM,
    "atif": atif.STREAM,
    "claude-code": claude_code.STREAM,
    "codex": codex.STREAM,
    "codex-rollout": codex_rollout.STREAM,
    "copilot": copilot.STREAM,
    "gemini": gemini.STREAM,
    "opencode": opencode.STREAM,
    "llm-tool-test": llm_tool_test.STREAM,
    "swe-agent": swe_agent.STREAM,
}
