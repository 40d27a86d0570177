"""Codex's `exec --json`, and its session files, `rollout-*.jsonl`, as they lie below `~/.codex/sessions`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from pydantic_core import from_json

from tidegate.agents.streams.json_lines import (
    Json,
    JsonLines,
    Stream,
    count,
    end_of_api,
    mapping,
    status_of,
    text,
    texts,
    total,
    words,
)
from tidegate.model.event import ApiRetry, CallStatus, End, Event, Message, TrialEnd, Warning
from tidegate.text.shorten import last_part

_RETRY = "Reconnecting..."
_HTTP_STATUS = re.compile(r"\bstatus (\d{3})\b")
_INVALID_CALL = re.compile(r"codex_core::tools::router: error=(?:unsupported call: (?P<name>\S+)|failed to parse)")


class Codex(JsonLines):
    """The stream of one run. Invalid calls are not in it, only in stderr (`invalid_calls`)."""

    def __init__(self) -> None:
        super().__init__()
        self._outcome: tuple[TrialEnd, str] | None = None
        self._usage: list[Json] = []
        self._login_shell = False

    def _object(self, data: Json) -> Iterator[Event]:
        match data.get("type"):
            case "turn.started":
                self._outcome = None
            case "turn.completed":
                self._outcome = ("completed", "")
                self._usage.append(mapping(data, "usage"))
            case "turn.failed":
                said = text(mapping(data, "error"), "message")
                self._outcome = (_bad_end(said), last_part(said))
            case "error":
                yield from self._error(text(data, "message"))
            case "item.started":
                yield from self._item(mapping(data, "item"), ended=False)
            case "item.completed":
                yield from self._item(mapping(data, "item"), ended=True)
            case _:
                pass

    def _error(self, said: str) -> Iterator[Event]:
        if said.startswith(_RETRY):
            self._trouble = End(end=_bad_end(said), message=last_part(said))
            yield ApiRetry(text=last_part(said))
        else:
            yield Warning(text=last_part(said))

    def _item(self, item: Json, *, ended: bool) -> Iterator[Event]:
        match item.get("type"):
            case "command_execution":
                yield from self._command(item, ended)
            case "mcp_tool_call":
                tool = f"mcp__{text(item, 'server')}__{text(item, 'tool')}"
                said = words(mapping(item, "result").get("content")) or text(mapping(item, "error"), "message")
                yield from self._other_tool(item, tool, ended, mapping(item, "arguments"), said)
            case "file_change":
                yield from self._other_tool(item, "file_change", ended, {"changes": item.get("changes")}, "")
            case "web_search" if ended:  # its query may be missing until then
                yield from self._other_tool(item, "web_search", ended, {"query": item.get("query")}, "")
            case "agent_message" if ended and (said := text(item, "text")):
                self._trouble = None
                yield Message(text=last_part(said))
            case "error" if ended:
                yield Warning(text=last_part(text(item, "message")))

    def _command(self, item: Json, ended: bool) -> Iterator[Event]:
        line = text(item, "command")
        if " -lc " in line[:40] and not self._login_shell:
            self._login_shell = True
            yield Warning(text="Codex used a login shell, which may reset PATH: the recorder may have been passed by")
        yield from self._call(text(item, "id"), "shell", _unwrapped(line))
        if ended:
            status, code = _command_end(item)
            yield from self._result(text(item, "id"), status, code, text(item, "aggregated_output"))

    def _other_tool(self, item: Json, tool: str, ended: bool, given: Json, said: str) -> Iterator[Event]:
        yield from self._call(text(item, "id"), tool, given=given)
        if ended:
            statuses: dict[str, CallStatus] = {"completed": "ok", "failed": "error", "declined": "denied"}
            yield from self._result(text(item, "id"), statuses.get(text(item, "status"), "unknown"), output=said)

    def _end(self) -> End | None:
        if self._outcome is None:
            return None
        end, message = self._outcome
        return End(
            end=end,
            message=message,
            tokens_in=total(*(count(use, "input_tokens") for use in self._usage)),
            tokens_out=total(*(count(use, "output_tokens") for use in self._usage)),
            tokens_cache_read=total(*(count(use, "cached_input_tokens") for use in self._usage)),
            tokens_cache_write=total(*(count(use, "cache_write_input_tokens") for use in self._usage)),
        )


def invalid_calls(stderr: str) -> tuple[str, ...]:
    """Return the tools that the model called although they do not exist, or with arguments that cannot be parsed."""
    return tuple(match["name"] or "unknown" for match in _INVALID_CALL.finditer(stderr))


def _unwrapped(line: str) -> str:
    """Return the command inside Codex's shell call: `/bin/bash -c 'ls'` becomes `ls`."""
    try:
        parts = shlex.split(line)
    except ValueError:
        return line
    return parts[2] if len(parts) == 3 and parts[1] in ("-c", "-lc") else line


def _command_end(item: Json) -> tuple[CallStatus, int | None]:
    status, code = item.get("status"), count(item, "exit_code")
    if status == "declined":
        return "denied", None
    if code is None or status != ("completed" if code == 0 else "failed"):
        return "unknown", None
    return status_of(code), code


def _bad_end(said: str) -> TrialEnd:
    """Return the end of a failed turn, in which the model gave no answer."""
    if "context window" in said:
        return "max_tokens"
    status = _HTTP_STATUS.search(said)
    return end_of_api(int(status[1]) if status else None)


STREAM = Stream(lambda output: Codex().parse(output), is_transcript=True, names=("codex", "gpt", "o[134]"))


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


ROLLOUT = Stream(lambda output: CodexRollout().parse(output), is_transcript=True, names=("codex", "gpt"))
