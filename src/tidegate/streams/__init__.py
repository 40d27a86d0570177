"""Parsers of agents' raw output into events. A parser never raises; what it cannot read becomes a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tidegate.streams import (
    agentv,
    agentv_transcript,
    claude_code,
    codex,
    codex_rollout,
    events,
    gemini,
    llm_tool_test,
    opencode,
    text,
)
from tidegate.streams.stream import Stream

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
    "agentv-transcript": agentv_transcript.STREAM,
    "claude-code": claude_code.STREAM,
    "codex": codex.STREAM,
    "codex-rollout": codex_rollout.STREAM,
    "gemini": gemini.STREAM,
    "opencode": opencode.STREAM,
    "llm-tool-test": llm_tool_test.STREAM,
}
