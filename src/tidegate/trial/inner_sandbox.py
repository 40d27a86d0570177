"""Finds out that an agent's own sandbox could not start inside of the trial's, so that the agent could not work."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidegate.model.event import Event, Message, ToolResult

_REFUSED = r"(?:namespaces?|uid map|gid map|mount|slave|loopback|seccomp|not permitted|permission denied)"
_LINE = re.compile(
    rf"\b(?:bwrap|unshare|nsjail|firejail|srt): .{{0,300}}{_REFUSED}.{{0,200}}$"
    r"|\bexec: (?:bwrap|nsjail|firejail|srt): not found$"  # Gemini CLI, with `toolSandboxing`
    r"|^.{0,200}\bSandbox\((?:Landlock|Seccomp).{0,200}$"  # Codex
    r"|^.{0,200}Sandbox required but unavailable.{0,300}$"  # Claude Code
    r"|^.{0,200}failed to determine command for sandbox.{0,300}$",  # Gemini CLI
    re.IGNORECASE | re.MULTILINE,
)


def inner_sandbox(events: Sequence[Event], message: str) -> str | None:
    """Return the line in which the agent's log, or the message of its end, reports that its sandbox did not start.

    It is only a guess where anything has run: a tool can print such a line, too. None: there is no such line.
    """
    texts = [event.output for event in events if isinstance(event, ToolResult)]
    texts += [event.text for event in events if isinstance(event, Message)]
    found = next(filter(None, map(_LINE.search, (*texts, message))), None)
    return found[0].strip() if found else None
