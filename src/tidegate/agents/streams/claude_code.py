"""Claude Code's `--output-format stream-json`, which other agents imitate, and its session files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidegate.agents.streams.json_lines import (
    Json,
    JsonLines,
    Stream,
    amount,
    count,
    end_of_api,
    items,
    mapping,
    status_of,
    text,
    texts,
    total,
    words,
)
from tidegate.model.event import ApiRetry, CallStatus, End, Event, Message, TrialEnd, Warning
from tidegate.text.shorten import last_part

SHELL = "Bash"
_EXIT_CODE = re.compile(r"Exit code (\d{1,3})(?:\n|$)")
_LATER_EXIT_CODE = re.compile(r"exit code (\d{1,3})\b")
_NO_OUTPUT = "(Bash completed with no output)"  # what the model is told if a command prints nothing
_TIMED_OUT = "Command timed out after"
_ENDS: dict[str, TrialEnd] = {"max_turns": "max_turns", "budget_exhausted": "budget"}


class ClaudeCode(JsonLines):
    """The stream of one run. It may have several results; a result that the agent continues after is not the end."""

    def __init__(self) -> None:
        super().__init__()
        self._last: Json | None = None  # the last result, if nothing followed it
        self._turns: int | None = None
        self._took_ms = 0.0
        self._error = ""  # error of the last message that Claude Code wrote instead of the model
        self._stopped: set[str] = set()

    def _object(self, data: Json) -> Iterator[Event]:
        match data.get("type"):
            case "system":
                yield from self._system(data)
            case "assistant":
                self._last = None
                yield from self._assistant(data)
            case "user":
                yield from self._user(data)
            case "result":
                self._trouble = None
                self._last = data
                # Each result counts only its own turns and time.
                self._turns = total(self._turns, count(data, "num_turns"))
                self._took_ms += amount(data, "duration_ms") or 0.0
            case _:
                pass

    def _system(self, data: Json) -> Iterator[Event]:
        match data.get("subtype"):
            case "init":
                for server in items(data, "mcp_servers"):
                    if server.get("status") == "failed":
                        yield Warning(text=f"the MCP server {text(server, 'name')} failed to start")
            case "api_retry":
                status, error = count(data, "error_status"), text(data, "error")
                end = "auth" if error == "authentication_failed" else end_of_api(status)
                self._trouble = End(end=end, message=f"the model could not be reached: {error or 'unknown'} ({status})")
                yield ApiRetry(text=f"{error or 'unknown'}, status {status}, attempt {count(data, 'attempt')}")
            case "task_notification":
                yield from self._task(data)
            case _:
                pass

    def _task(self, data: Json) -> Iterator[Event]:
        """Yield the result of a background command, or note that a command was stopped."""
        call = _key(data, text(data, "tool_use_id"))
        if data.get("status") == "stopped":
            self._stopped.add(call)
        elif self._tools.get(call) == SHELL:
            said = text(data, "summary")
            code = _LATER_EXIT_CODE.search(said)
            status: CallStatus = status_of(int(code[1])) if code else "unknown"
            yield from self._result(call, status, int(code[1]) if code else None, said)

    def _assistant(self, data: Json) -> Iterator[Event]:
        message = mapping(data, "message")
        # Claude Code wrote this message instead of the model.
        own = message.get("model") == "<synthetic>"
        self._error = text(data, "error") if own else ""
        for block in items(message, "content"):
            match block.get("type"):
                case "text" if said := text(block, "text"):
                    self._trouble = None
                    yield Message(role="system" if own else "assistant", text=last_part(said))
                case "tool_use":
                    given, tool = mapping(block, "input"), text(block, "name")
                    command = text(given, "command") if tool == SHELL else ""
                    yield from self._call(_key(data, text(block, "id")), tool, command or None, given)
                case _:
                    pass

    def _user(self, data: Json) -> Iterator[Event]:
        of_session = "sessionId" in data  # a session file: it has the user's own messages, too
        if of_session and data.get("isMeta") is not True and (asked := _asked(data)):
            yield Message(role="user", text=last_part(asked))
            return
        for block in items(mapping(data, "message"), "content"):
            if block.get("type") == "tool_result":
                self._last = None
                call = _key(data, text(block, "tool_use_id"))
                output = words(block.get("content"))
                status, code = self._how_it_ended(call, block, data, output)
                yield from self._result(call, status, code, _printed(output, code))
            elif note := text(block, "text"):
                yield Message(role="system", text=last_part(note))

    def _how_it_ended(self, call: str, block: Json, data: Json, output: str) -> tuple[CallStatus, int | None]:
        if (status := self._never_ran(call, block, data, output)) is not None:
            return status, None
        failed = block.get("is_error")
        if self._tools.get(call) != SHELL:
            # Successful MCP calls lack `is_error`.
            return (
                "error" if failed is True else "ok" if failed is False or "is_error" not in block else "unknown"
            ), None
        return _shell_end(failed, _details(data), output)

    def _never_ran(self, call: str, block: Json, data: Json, output: str) -> CallStatus | None:
        """Return why there is no exit code yet, or never will be; None if the call ended."""
        meta = next(
            (meta for meta in items(data, "tool_result_meta") if meta.get("id") == block.get("tool_use_id")), {}
        )
        if call in self._stopped or meta.get("non_execution_kind") == "user-rejected":
            return "interrupted"
        if "non_execution_kind" in meta or mapping(meta, "permission_decision").get("decision") == "reject":
            return "denied"
        if output.startswith("<tool_use_error>"):
            return "invalid"
        return "background" if "backgroundTaskId" in _details(data) else None

    def _end(self) -> End | None:
        if self._last is None:
            return None
        models = mapping(self._last, "modelUsage")
        used = [mapping(models, model) for model in models]
        read = total(*(count(use, "cacheReadInputTokens") for use in used))
        written = total(*(count(use, "cacheCreationInputTokens") for use in used))
        end, message = self._outcome(self._last)
        return End(
            at=self._took_ms / 1000,
            end=end,
            message=message,
            turns=self._turns,
            tokens_in=total(*(count(use, "inputTokens") for use in used), read, written),
            tokens_out=total(*(count(use, "outputTokens") for use in used)),
            tokens_cache_read=read,
            tokens_cache_write=written,
            cost_usd=amount(self._last, "total_cost_usd"),
        )

    def _outcome(self, result: Json) -> tuple[TrialEnd, str]:
        """Return the end and its message. Only `is_error` is reliable: `subtype` is `success` for refusals and API
        errors too.
        """
        reason = text(result, "terminal_reason")
        if result.get("is_error") is False and result.get("subtype") == "success":
            return "completed", ""
        said = [*texts(result, "errors"), text(result, "result"), reason, text(result, "subtype")]
        return self._bad_end(result, reason), last_part(next(filter(None, said), ""))

    def _bad_end(self, result: Json, reason: str) -> TrialEnd:
        if reason in _ENDS:
            return _ENDS[reason]
        if result.get("stop_reason") == "refusal":
            return "refused"
        if self._error == "max_output_tokens":
            return "max_tokens"
        if reason == "api_error":
            return end_of_api(count(result, "api_error_status"))
        return "killed" if reason.startswith("aborted") else "crashed"


def _asked(data: Json) -> str:
    """Return the user's message; '' if the line holds results of calls."""
    content = mapping(data, "message").get("content")
    is_result = isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    )
    return "" if is_result else words(content)


def _details(data: Json) -> Json:
    """Return the details of a result, which session files spell in another way."""
    return mapping(data, "tool_use_result") or mapping(data, "toolUseResult")


def _key(data: Json, identity: str) -> str:
    """Return a call's id, prefixed inside a subagent with the call that started it."""
    parent = text(data, "parent_tool_use_id")
    return f"{parent}/{identity}" if parent else identity


def _printed(output: str, code: int | None) -> str:
    """Return what a command printed, without what Claude Code adds for the model."""
    if output == _NO_OUTPUT:
        return ""
    return _EXIT_CODE.sub("", output, count=1) if code else output


def _shell_end(failed: object, details: Json, output: str) -> tuple[CallStatus, int | None]:
    """Return a shell command's status and exit code, which is in the text and only if the command failed."""
    code = _EXIT_CODE.match(output)
    if failed is True and code:
        timed_out = output[code.end() :].startswith(_TIMED_OUT)
        return ("timeout" if timed_out else "error"), int(code[1])
    if failed is True:
        return "not_executed", None
    if failed is not False:
        return "unknown", None
    # Such as grep without a match: for Claude Code it is not an error, for all other agents it is.
    return ("error", 1) if "returnCodeInterpretation" in details else ("ok", 0)


STREAM = Stream(
    lambda output: ClaudeCode().parse(output), is_transcript=True, names=("claude", "sonnet", "opus", "haiku")
)
