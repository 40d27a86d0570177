"""GitHub Copilot CLI's session files, `events.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidegate.model.event import CallStatus, End, Event, Message
from tidegate.streams import json_lines
from tidegate.streams.json_lines import JsonLines, status_of
from tidegate.streams.json_values import Json, count, mapping, text, total, words
from tidegate.streams.stream import Stream
from tidegate.text.shorten import last_part

_EXIT_CODE = re.compile(r"<(?:command |shell )?exited with exit code (\d{1,3})>")


class Copilot(JsonLines):
    """Reads the lines `{type, data, timestamp}`. Calls are in `tool.execution_start` and `tool.execution_complete`."""

    def __init__(self) -> None:
        super().__init__()
        self._last: End | None = None

    def _object(self, data: Json) -> Iterator[Event]:
        given = mapping(data, "data")
        match data.get("type"):
            case "user.message" if said := text(given, "content"):
                yield Message(role="user", text=last_part(said))
            case "assistant.message" if said := text(given, "content"):
                yield Message(text=last_part(said))
            case "tool.execution_start":
                arguments, tool = mapping(given, "arguments"), text(given, "toolName")
                command = text(arguments, "command") if tool.lower() in ("bash", "shell") else ""
                yield from self._call(text(given, "toolCallId"), tool, command or None, arguments)
            case "tool.execution_complete":
                yield from self._completed(given)
            case "session.shutdown":
                self._last = _shutdown(given)
            case _:
                pass

    def _completed(self, given: Json) -> Iterator[Event]:
        result = given.get("result", given.get("error"))
        output = words(result) or text(mapping(given, "result"), "content") or text(mapping(given, "error"), "message")
        code = _EXIT_CODE.search(output)
        statuses: dict[object, CallStatus] = {True: "ok", False: "error"}
        status = status_of(int(code[1])) if code else statuses.get(given.get("success"), "unknown")
        yield from self._result(text(given, "toolCallId"), status, int(code[1]) if code else None, output)

    def _end(self) -> End | None:
        return self._last


def _shutdown(given: Json) -> End:
    models = mapping(given, "modelMetrics")
    used = [mapping(models, model, "usage") for model in models]
    normal = text(given, "shutdownType") in ("", "normal", "routine")
    return End(
        end="completed" if normal else "killed",
        message="" if normal else text(given, "shutdownType")[:80],
        tokens_in=total(*(count(use, "inputTokens") for use in used)),
        tokens_out=total(*(count(use, "outputTokens") for use in used)),
    )


def parse(output: str) -> tuple[Event, ...]:
    """Return the events of a whole file."""
    return json_lines.parse(Copilot(), output)


STREAM = Stream(parse, is_transcript=True, names=("copilot",))
