"""Codex's session files, `rollout-*.jsonl`, as they lie below `~/.codex/sessions`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic_core import from_json

from tidegate.agents.streams import json_lines
from tidegate.agents.streams.json_lines import JsonLines, status_of
from tidegate.agents.streams.json_values import Json, count, mapping, text, texts, words
from tidegate.agents.streams.stream import Stream
from tidegate.model.event import End, Event, Message
from tidegate.text.shorten import last_part

_SHELLS = frozenset({"exec_command", "local_shell", "shell", "shell_command"})
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (\d{1,3})$", re.MULTILINE)
_HEADER_END = re.compile(r"^Output:$", re.MULTILINE)
_CONTEXT = ("<environment_context>", "<user_instructions>", "<permissions", "# AGENTS.md instructions")


class CodexRollout(JsonLines):
    """Reads the lines `{timestamp, type, payload}`; the work is in those of type `response_item`."""

    def __init__(self) -> None:
        super().__init__()
        self._last: End | None = None
        self._usage: Json = {}

    def _object(self, data: Json) -> Iterator[Event]:
        payload = mapping(data, "payload")
        match data.get("type"), payload.get("type"):
            case "response_item", "message":
                yield from _message(payload)
            case "response_item", "function_call" | "custom_tool_call" | "local_shell_call":
                yield from self._made(payload)
            case "response_item", "function_call_output" | "custom_tool_call_output":
                output, code = _answer(payload.get("output"))
                status = "unknown" if code is None else status_of(code)
                yield from self._result(text(payload, "call_id"), status, code, output)
            case "event_msg", "token_count":
                self._usage = mapping(payload, "info", "total_token_usage") or self._usage
            case "event_msg", "task_complete":
                self._last = End(end="completed")
            case "event_msg", "turn_aborted":
                self._last = End(end="killed", message=text(payload, "reason")[:80])
            case _:
                pass

    def _made(self, payload: Json) -> Iterator[Event]:
        given = _arguments(payload.get("arguments", payload.get("input", payload.get("action"))))
        tool = text(payload, "name") or "local_shell"
        yield from self._call(text(payload, "call_id"), tool, _command(given) if tool in _SHELLS else None, given)

    def _end(self) -> End | None:
        used = {
            "tokens_in": count(self._usage, "input_tokens"),
            "tokens_out": count(self._usage, "output_tokens"),
            "tokens_cache_read": count(self._usage, "cached_input_tokens"),
        }
        return self._last and self._last.model_copy(update=used)


def _message(payload: Json) -> Iterator[Event]:
    said, role = words(payload.get("content")).strip(), payload.get("role")
    if not said:
        return
    if role == "user" and not said.startswith(_CONTEXT):
        yield Message(role="user", text=last_part(said))
    else:
        yield Message(role="assistant" if role == "assistant" else "system", text=last_part(said))


def _arguments(given: object) -> Json:
    """Return the arguments of a call: an object, an object as JSON text, or other text."""
    if isinstance(given, str):
        try:
            given = from_json(given, allow_inf_nan=False)
        except ValueError:
            return {"input": given}
    return given if isinstance(given, dict) else {}


def _command(given: Json) -> str | None:
    """Return the command line: text, or the last of `[bash, -lc, LINE]`."""
    line = given.get("cmd", given.get("command"))
    if isinstance(line, str):
        return line
    parts = texts(given, "command")
    return parts[2] if len(parts) == 3 and parts[1].startswith("-") else " ".join(parts) or None


def _answer(output: object) -> tuple[str, int | None]:
    """Return the output of a call and its exit code: from the metadata, or from the header above the output."""
    if isinstance(output, str) and output.startswith("{"):
        given = _arguments(output)
        if "output" in given:
            output = given
    if isinstance(output, dict):
        return words(output.get("output", output.get("content"))), count(mapping(output, "metadata"), "exit_code")
    said = words(output)
    header = _HEADER_END.search(said)
    code = _EXIT_CODE.search(said, 0, header.start()) if header else None
    return (said[header.end() :].lstrip("\n") if header else said), int(code[1]) if code else None


def parse(output: str) -> tuple[Event, ...]:
    """Return the events of a whole file."""
    return json_lines.parse(CodexRollout(), output)


STREAM = Stream(parse, is_transcript=True, names=("codex", "gpt"))
