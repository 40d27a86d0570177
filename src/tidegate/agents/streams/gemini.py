"""Gemini CLI's `--output-format stream-json`, and its session file, the only source of exit codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic_core import from_json

from tidegate.agents.streams.json_lines import Json, JsonLines, Stream, count, items, mapping, status_of, text
from tidegate.model.event import CallStatus, End, Event, Message, TrialEnd, Warning
from tidegate.text.shorten import last_part

SHELL = "run_shell_command"
# The stream reports this only if the command had no output.
_SILENT_END = re.compile(r"Command (?:exited with code: (?P<code>\d{1,3})|terminated by signal: (?P<signal>\d{1,2}))")
# The last lines of the model's view of a call. The process group is there if the command ran.
_TOLD_END = re.compile(
    r"(?:\nExit Code: (?P<code>\d{1,3}))?(?:\nSignal: (?P<signal>\d{1,2}))?\nProcess Group PGID: \d+\s*"
    r"(?:</untrusted_context>)?\s*\Z"
)
_BLOCKED = "Blocked: "
_NEVER_RAN: dict[str, CallStatus] = {
    "invalid_tool_params": "invalid",
    "tool_not_registered": "invalid",
    "policy_violation": "denied",
    "permission_denied": "denied",
}
_AUTH = ("authentication_error", "API_KEY_INVALID", "UNAUTHENTICATED", "PERMISSION_DENIED", "FatalAuthenticationError")


class Gemini(JsonLines):
    """The stream of one run. `told` is the model's view of each shell call's result (`told_in`), by the call's id."""

    def __init__(self, told: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._told = told or {}
        self._saying = ""  # the parts of a message that arrives in pieces
        self._last: Json | None = None

    def _object(self, data: Json) -> Iterator[Event]:
        kind = data.get("type")
        if kind == "message" and data.get("role") == "assistant":
            self._last = None
            self._saying += text(data, "content")
            return
        yield from self._before_close()
        match kind:
            case "tool_use":
                self._last = None
                given, tool = mapping(data, "parameters"), text(data, "tool_name")
                command = text(given, "command") if tool == SHELL else ""
                yield from self._call(text(data, "tool_id"), tool, command or None, given)
            case "tool_result":
                self._last = None
                call, output = text(data, "tool_id"), text(data, "output")
                status, code = self._how_it_ended(call, data, output)
                silent = self._tools.get(call) == SHELL and _SILENT_END.fullmatch(output)
                yield from self._result(call, status, code, "" if silent else output)
            case "error":
                yield Warning(text=last_part(text(data, "message")))
            case "result":
                self._last = data
            case _:
                pass

    def _before_close(self) -> Iterator[Event]:
        if self._saying:
            yield Message(text=last_part(self._saying))
            self._saying = ""

    def _how_it_ended(self, call: str, data: Json, output: str) -> tuple[CallStatus, int | None]:
        if data.get("status") == "error":
            return _NEVER_RAN.get(text(mapping(data, "error"), "type"), "error"), None
        if data.get("status") != "success":
            return "unknown", None
        if self._tools.get(call) != SHELL:
            return "ok", None
        if output.startswith(_BLOCKED):  # its status is `success` too
            return "denied", None
        told = self._told.get(call)
        end = _SILENT_END.fullmatch(output) if told is None else _TOLD_END.search(told)
        if end is None:
            return "unknown", None
        code = 128 + int(end["signal"]) if end["signal"] else int(end["code"] or 0)
        return status_of(code), code

    def _end(self) -> End | None:
        if self._last is None:
            return None
        end, message = _outcome(self._last)
        stats = mapping(self._last, "stats")
        return End(
            end=end,
            message=message,
            tokens_in=count(stats, "input_tokens"),
            tokens_out=count(stats, "output_tokens"),
            tokens_cache_read=count(stats, "cached"),
        )


def told_in(session: str) -> dict[str, str]:
    """Return what the model read about each shell call, by the call's id, from the session file."""
    told = {}
    for line in session.split("\n"):
        try:
            entry = from_json(line)
        except ValueError:
            continue
        for call in items(entry, "toolCalls") if isinstance(entry, dict) else ():
            for result in items(call, "result") if call.get("name") == SHELL else ():
                told[text(call, "id")] = text(mapping(result, "functionResponse", "response"), "output")
    return told


def _outcome(result: Json) -> tuple[TrialEnd, str]:
    if result.get("status") == "success":
        return "completed", ""
    error = mapping(result, "error")
    kind, said = text(error, "type"), text(error, "message")
    if kind == "FatalTurnLimitedError":
        return "max_turns", last_part(said)
    if any(word in kind or word in said for word in _AUTH):
        return "auth", last_part(said)
    return ("outage" if "API Error" in said else "crashed"), last_part(said or kind)


STREAM = Stream(lambda output: Gemini().parse(output), is_transcript=True, names=("gemini",))
