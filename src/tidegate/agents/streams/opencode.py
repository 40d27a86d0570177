"""opencode's `run --format json`."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.agents.streams.json_lines import (
    Json,
    JsonLines,
    Stream,
    amount,
    count,
    end_of_api,
    mapping,
    status_of,
    text,
    total,
)
from tidegate.model.event import CallStatus, End, Event, Message, TrialEnd
from tidegate.text.shorten import last_part

SHELL = "bash"
_INVALID = "invalid"  # the tool that opencode reports for one that does not exist
_NO_OUTPUT = "(no output)"  # what the model is told if a command prints nothing
_TIMED_OUT = "exceeding timeout"
_ENDS: dict[str, TrialEnd] = {"stop": "completed", "length": "max_tokens", "content-filter": "refused"}


class OpenCode(JsonLines):
    """The stream of one run. A call arrives with its result; a call still running at the end is missing."""

    def __init__(self) -> None:
        super().__init__()
        self._outcome: tuple[TrialEnd, str] | None = None
        self._steps: list[Json] = []

    def _object(self, data: Json) -> Iterator[Event]:
        part = mapping(data, "part")
        match data.get("type"):
            case "step_start":
                self._outcome = None
            case "text" if said := text(part, "text"):
                self._outcome = None
                yield Message(text=last_part(said))
            case "tool_use":
                self._outcome = None
                yield from self._tool_use(part)
            case "step_finish":
                self._steps.append(part)
                reason = text(part, "reason")
                self._outcome = (_ENDS[reason], reason) if reason in _ENDS else None
            case "error":
                self._outcome = _bad_end(mapping(data, "error"))
            case _:
                pass

    def _tool_use(self, part: Json) -> Iterator[Event]:
        call, tool, state = text(part, "callID"), text(part, "tool"), mapping(part, "state")
        given = mapping(state, "input")
        name = text(given, "tool") if tool == _INVALID else tool
        command = text(given, "command") if tool == SHELL else ""
        yield from self._call(call, name or tool, command or None, given)
        status, code = _how_it_ended(tool, state)
        output = text(state, "output") or text(state, "error")
        yield from self._result(call, status, code, "" if tool == SHELL and output == _NO_OUTPUT else output)

    def _end(self) -> End | None:
        if self._outcome is None:
            return None
        end, message = self._outcome
        return self._used(end, "" if end == "completed" else message)

    def so_far(self) -> End | None:
        """Return what the steps have used."""
        return self._used("killed") if self._steps else None

    def _used(self, end: TrialEnd, message: str = "") -> End:
        tokens = [mapping(step, "tokens") for step in self._steps]
        read = total(*(count(mapping(used, "cache"), "read") for used in tokens))
        written = total(*(count(mapping(used, "cache"), "write") for used in tokens))
        # A model without prices has cost 0 in the stream, which is not a measured cost.
        cost = sum(amount(step, "cost") or 0 for step in self._steps)
        return End(
            end=end,
            message=message,
            turns=len(self._steps) or None,
            tokens_in=total(*(count(used, "input") for used in tokens), read, written),
            tokens_out=total(*(count(used, key) for used in tokens for key in ("output", "reasoning"))),
            tokens_cache_read=read,
            tokens_cache_write=written,
            cost_usd=cost or None,
        )


def _how_it_ended(tool: str, state: Json) -> tuple[CallStatus, int | None]:
    if tool == _INVALID:
        return "invalid", None
    if state.get("status") == "error":
        return _failure(tool, text(state, "error")), None
    if state.get("status") != "completed":
        return "unknown", None
    if tool != SHELL:
        return "ok", None
    code = count(mapping(state, "metadata"), "exit")
    if code is not None:
        return status_of(code), code
    return ("timeout" if _TIMED_OUT in text(state, "output") else "unknown"), None


def _failure(tool: str, said: str) -> CallStatus:
    if "rejected permission" in said or "prevents you from using" in said:
        return "denied"
    if "called with invalid arguments" in said:
        return "invalid"
    return "not_executed" if tool == SHELL else "error"


def _bad_end(error: Json) -> tuple[TrialEnd, str]:
    data, name = mapping(error, "data"), text(error, "name")
    said = last_part(text(data, "message") or name)
    if name == "ContentFilterError":
        return "refused", said
    if name == "MessageOutputLengthError":
        return "max_tokens", said
    if name == "ProviderAuthError":
        return "auth", said
    status = count(data, "statusCode")
    return (end_of_api(status) if name == "APIError" else "crashed"), said


STREAM = Stream(lambda output: OpenCode().parse(output), is_transcript=True, names=("opencode",))
