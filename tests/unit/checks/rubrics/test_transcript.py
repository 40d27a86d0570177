"""What a judge reads of the agent's work."""

from __future__ import annotations

import pytest

from tidegate.agents.streams import STREAMS
from tidegate.checks.rubrics.prompts import anonymous, fenced
from tidegate.checks.rubrics.work import line, transcript
from tidegate.model.event import ApiRetry, End, Event, Message, ToolCall, ToolResult

EVENTS: list[tuple[Event, str]] = [
    (Message(role="user", text="Go."), "[user] Go."),
    (Message(text="Done."), "[agent] Done."),
    (ToolCall(id="1", tool="bash", command="notes add x"), "[call] $ notes add x"),
    (ToolCall(id="2", tool="read", input={"path": "ä"}), '[call] read {"path": "ä"}'),
    (ToolResult(id="1", status="error", exit_code=2, output="no"), "[result: exit 2] no"),
    (ToolResult(id="2", status="timeout", exit_code=124), "[result: timeout]"),
    (ApiRetry(text="529"), "[api_retry] 529"),
    (End(end="crashed", message="killed"), "[end: crashed] killed"),
]


@pytest.mark.parametrize(("event", "text"), EVENTS)
def test_an_event_as_a_line(event: Event, text: str) -> None:
    assert line(event) == text


def test_a_judge_reads_the_agents_work_alone() -> None:
    assert transcript(event for event, _ in EVENTS) == "\n".join(text for _, text in EVENTS[:6])


# --- names of agents


@pytest.mark.parametrize("text", ["Claude Code", "gpt-5.1", "o3", "Sonnet 4.5", "codex", "gemini-2.5-pro", "opencode"])
def test_a_judge_does_not_learn_which_agent_it_reads(text: str) -> None:
    assert anonymous(f"{text} here") == "the-agent here"
    hidden = text[:1] + "\u200b" + text[1:]
    assert "the-agent here" in fenced("text", f"{hidden} here")


def test_every_stream_of_an_agent_names_it() -> None:
    neutral = {"text", "events", "agentv", "llm-tool-test"}
    assert [name for name, stream in STREAMS.items() if name not in neutral and not stream.names] == []
