from __future__ import annotations

import pytest

from tidegate.agents.streams import STREAMS
from tidegate.checks.rubrics.prompts import anonymous, fenced


@pytest.mark.parametrize("text", ["Claude Code", "gpt-5.1", "o3", "Sonnet 4.5", "codex", "gemini-2.5-pro", "opencode"])
def test_a_judge_does_not_learn_which_agent_it_reads(text: str) -> None:
    assert anonymous(f"{text} here") == "the-agent here"
    hidden = text[:1] + "\u200b" + text[1:]
    assert "the-agent here" in fenced("text", f"{hidden} here")


def test_every_stream_of_an_agent_names_it() -> None:
    neutral = {"text", "events", "agentv", "llm-tool-test"}
    assert [name for name, stream in STREAMS.items() if name not in neutral and not stream.names] == []
