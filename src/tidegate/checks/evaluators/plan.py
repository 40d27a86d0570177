"""The evaluator `plan`."""

from __future__ import annotations

import re
from collections.abc import Collection
from operator import eq
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tidegate.checks.evaluators.expected_state import text_of
from tidegate.checks.evaluators.matching import calls_of, common_length
from tidegate.checks.gates.assertion import parse_json
from tidegate.checks.gates.fields import NonEmpty, WorkspacePath
from tidegate.checks.gates.json_path import check_path, find
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Score
from tidegate.model.event import Message
from tidegate.model.probe import ReadFile
from tidegate.text.shorten import is_cut


class PlanEvaluator(Evaluator):
    """Scores the agent's written plan against the `expected` tools (plan quality): the length of the longest common
    subsequence of expected and planned tools / expected tools. Plan adherence, the same for planned and called tools /
    planned tools, is in the details.

    `from` is where the plan is: the agent's `first_message`, a `file` of the workspace, or a `field` of the agent's
    last message, which must be JSON with a list of tools, or of steps `{tool: …}`, at the JSONPath `path`. In plain
    text, the plan is the tools in the order of their first mention.
    """

    type: Literal["plan"] = "plan"
    source: Literal["first_message", "file", "field"] = Field(alias="from")
    file: WorkspacePath | None = None
    path: Annotated[NonEmpty, AfterValidator(check_path)] | None = None
    expected: tuple[NonEmpty, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_its_place(self) -> Self:
        if (self.source == "file") != (self.file is not None):
            raise ValueError("`file` belongs to `from: file`, and has to be there")
        if (self.source == "field") != (self.path is not None):
            raise ValueError("`path` belongs to `from: field`, and has to be there")
        return self

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Find the plan, and compare it with the expected tools and the calls.

        How a plan in a file was read is noted: as a list, or as a text that mentions tools. So is a cut message.
        """
        notes: tuple[str, ...] = ()
        said = [event.text for event in record.events if isinstance(event, Message) and event.role == "assistant"]
        calls = calls_of(record, self.expected)
        called = [call.tool for call in calls or ()]
        known = dict.fromkeys([*self.expected, *called])
        if self.source == "file":
            answer = yield ReadFile(path=self.file or "")
            try:
                text = text_of(answer)
            except ValueError as error:
                return Score(value=0, reason=f"no plan: {error}", misses=self.expected)
            planned = _planned(text, known)
            notes = ("the plan is a text" if _tools(text) is None else "the plan is a list",)
        elif not said:
            return Score.unknown("the agent said nothing that could be its plan", "no_trace")
        else:
            text = said[-1] if self.source == "field" else said[0]
            planned = _listed(text, self.path or "$") if self.source == "field" else _planned(text, known)
            notes = ("the message with the plan is cut",) if is_cut(text) else ()
        details = {}
        if planned and calls is not None:
            details["plan_adherence"] = common_length(planned, called, eq) / len(planned)
        value = common_length(self.expected, planned, eq) / len(self.expected)
        reason = "" if value == 1 else f"planned {', '.join(planned[:12]) or 'nothing'}"
        return Score(value=value, reason=reason, details=details, notes=notes)


def _planned(text: str, known: Collection[str]) -> list[str]:
    """Return the tools of a JSON list in its order, else the known tools in the order of their first mention."""
    if (tools := _tools(text)) is not None:
        return tools
    places = {
        tool: found.start() for tool in known if (found := re.search(rf"(?<![\w:-]){re.escape(tool)}(?![\w:-])", text))
    }
    return sorted(places, key=places.__getitem__)


def _tools(text: str) -> list[str] | None:
    """Return the tools of a JSON list; None for another text."""
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return _texts(value) if isinstance(value, list) else None


def _listed(text: str, path: str) -> list[str]:
    """Return the list of tools at a path of a JSON text; empty if there is none."""
    try:
        found = find(path, parse_json(text))
    except ValueError:
        return []
    return _texts(found[0] if len(found) == 1 and isinstance(found[0], list) else found)


def _texts(values: list[Any]) -> list[str]:
    """Return the tools of a list of names or of steps, such as `{"tool": "search", …}`."""
    tools = (value.get("tool") if isinstance(value, dict) else value for value in values)
    return [tool for tool in tools if isinstance(tool, str)]
