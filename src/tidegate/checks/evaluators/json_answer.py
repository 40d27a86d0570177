"""Read text or JSON from an answer to a request."""

from __future__ import annotations

from typing import Any

from tidegate.checks.gates.command_gate import what_went_wrong
from tidegate.checks.gates.json_text import parse_json
from tidegate.model.judge import ModelAnswer
from tidegate.model.probe import Answer, CommandAnswer
from tidegate.text.shorten import excerpt


def text_of(answer: Answer) -> str:
    """Return a successful command's output, or a file's text. Raises ValueError with the reason if there is none."""
    if isinstance(answer, ModelAnswer):
        raise ValueError("nothing was read")
    if not isinstance(answer, CommandAnswer):
        if answer.text is None:
            raise ValueError(f"the file is {answer.state.replace('_', ' ')}")
        return answer.text
    if not answer.result.ok:
        raise ValueError(what_went_wrong(answer.result))
    if answer.result.truncated:
        raise ValueError("the output was cut: print less")
    return answer.result.stdout


def json_of(answer: Answer) -> Any:
    """Return the same, parsed as JSON. Raises ValueError if it is not JSON."""
    text = text_of(answer)
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(f"it is not JSON ({excerpt(str(error))}): {excerpt(text, 120) or 'empty'}") from None
