"""AgentV's transcripts, `agentv.transcript.v1`: one message per line, written by `agentv import` and newer runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from pydantic_core import to_json

from tidegate.agents.streams import json_lines
from tidegate.agents.streams.json_lines import JsonLines
from tidegate.agents.streams.json_values import Json, items, mapping, text, words
from tidegate.agents.streams.stream import Stream
from tidegate.model.event import CallStatus, End, Event, Message, Warning
from tidegate.text.shorten import last_part

SCHEMA = "agentv.transcript.v1"
_ROLES = get_args(Message.model_fields["role"].annotation)
_SHELLS = frozenset({"bash", "sh", "shell", "exec_command"})
_STATUSES: dict[str, CallStatus] = {"ok": "ok", "error": "error"}


class AgentVTranscript(JsonLines):
    """Reads the messages of the first `test_id`. A file with several gets a warning that names how many are left out.

    The format does not say how the agent ended.
    """

    def __init__(self) -> None:
        super().__init__()
        self._test = ""
        self._others: dict[str, None] = {}
        self._made = 0

    def _object(self, data: Json) -> Iterator[Event]:
        test = text(data, "test_id")
        if text(data, "schema_version") != SCHEMA and not (test and "message_index" in data):
            return
        self._test = self._test or test
        if test != self._test:
            self._others[test] = None
            return
        role, said = text(data, "role"), words(data.get("content"))
        if role in _ROLES and said:
            yield Message.model_validate({"role": role, "text": last_part(said)})
        for call in items(data, "tool_calls"):
            yield from self._reported(call)

    def _reported(self, call: Json) -> Iterator[Event]:
        self._made += 1
        identity, tool = text(call, "id") or f"call-{self._made:03d}", text(call, "tool")
        given = call.get("input")
        arguments = mapping(call, "input") if isinstance(given, dict) or given is None else {"input": given}
        command = text(arguments, "command") if tool.lower() in _SHELLS else ""
        yield from self._call(identity, tool, command or None, arguments)
        status = text(call, "status")
        if status or call.get("output") is not None:
            yield from self._result(identity, _STATUSES.get(status, "unknown"), output=_shown(call.get("output")))

    def _before_close(self) -> Iterator[Event]:
        if self._others:
            yield Warning(text=f"only the test {self._test} was read; the file has {len(self._others)} more")

    def _end(self) -> End | None:
        return None


def _shown(output: object) -> str:
    if output is None:
        return ""
    return words(output) or (output if isinstance(output, str) else to_json(output).decode())


def parse(output: str) -> tuple[Event, ...]:
    """Return the events of a whole file."""
    return json_lines.parse(AgentVTranscript(), output)


STREAM = Stream(parse, is_transcript=True, names=("agentv",))
