"""What an eval case says about the answer that it expects: for evaluators, which may compare with it."""

from __future__ import annotations

from typing import Any

from tidegate.model.value import Value


class Case(Value):
    """The words of the case. Messages are as AgentV writes them: `{role, content, …}`."""

    expected_outcome: str = ""
    reference_answer: str = ""
    input_messages: tuple[dict[str, Any], ...] = ()
    expected_messages: tuple[dict[str, Any], ...] = ()
    guideline_files: tuple[str, ...] = ()
    input_files: tuple[str, ...] = ()
    conversation_id: str | None = None
