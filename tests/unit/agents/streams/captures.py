"""Recorded output of real agents with a scripted model: `AGENT_CASE.jsonl`, and Gemini's session files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tidegate.agents import AGENTS
from tidegate.agents.coding import CodingAgent
from tidegate.agents.streams import STREAMS, gemini
from tidegate.model.event import End, Event, ToolCall, ToolResult

FOLDER = Path(__file__).parent / "captures"
CAPTURES = sorted(path.stem for path in FOLDER.glob("*.jsonl") if not path.stem.startswith("session_"))

CODING = [name for name, agent in AGENTS.members.items() if issubclass(agent, CodingAgent)]


@cache
def text(capture: str) -> str:
    """The capture as it was printed."""
    return (FOLDER / f"{capture}.jsonl").read_text(encoding="utf-8")


def read(capture: str, output: str | None = None) -> tuple[Event, ...]:
    """The events of a capture, or of what has been made of its text."""
    output = text(capture) if output is None else output
    agent = capture.partition("_")[0]
    session = FOLDER / f"session_{capture}_session.jsonl"
    if session.exists():
        return gemini.Gemini(gemini.told_in(session.read_text(encoding="utf-8"))).parse(output)
    return next(stream for name, stream in STREAMS.items() if name == agent).parse(output)


def results(events: tuple[Event, ...]) -> list[ToolResult]:
    """The results in order."""
    return [event for event in events if isinstance(event, ToolResult)]


def calls(events: tuple[Event, ...]) -> list[ToolCall]:
    """The calls in order."""
    return [event for event in events if isinstance(event, ToolCall)]


def end(events: tuple[Event, ...]) -> End | None:
    """The end, if the stream told one."""
    return next((event for event in events if isinstance(event, End)), None)
