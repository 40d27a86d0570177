"""The expected answer of an eval case, for evaluators that compare with it."""

from __future__ import annotations

from typing import Any

from tidegate.model.value import Value


class Case(Value):
    """The expectations of one eval case. Messages have AgentV's form: `{role, content, …}`."""

    question: str = ""  # the texts of the input messages, without roles and files
    expected_outcome: str = ""
    reference_answer: str = ""
    input_messages: tuple[dict[str, Any], ...] = ()
    expected_messages: tuple[dict[str, Any], ...] = ()
    guideline_files: tuple[str, ...] = ()
    input_files: tuple[str, ...] = ()
    conversation_id: str | None = None
