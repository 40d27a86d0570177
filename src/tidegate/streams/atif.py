"""ATIF, the Agent Trajectory Interchange Format (Harbor, RFC 0001), from v1.2.

The format has no fields for exit codes, errors or the agent's end. Exit codes are read from `extra.exit_code`, else
from an `Exit code N` in the text. A missing status is `unknown`, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from tidegate.model.event import ApiRetry, CallStatus, End, Event, Message, ToolCall, ToolResult, TrialEnd, Warning
from tidegate.streams.damage import bounded
from tidegate.streams.json_lines import status_of
from tidegate.streams.json_values import Json, amount, count, items, mapping, text, words
from tidegate.streams.stream import Stream
from tidegate.text.shorten import last_part

OLDEST_MINOR = 2
EXTRA = "tidegate"  # key below a trajectory's `extra` for what the format has no field for
NOTES: Mapping[str, Callable[..., Warning | ApiRetry]] = {"warning": Warning, "api_retry": ApiRetry}

_VERSION = re.compile(r"ATIF-v1\.(\d+)\Z")
_EXIT_CODE = re.compile(r"^\W*exit (?:code|status):?\s*(\d{1,3})\b", re.IGNORECASE | re.MULTILINE)
_SHELLS = frozenset({"bash", "bash_command", "exec_command", "execute_bash", "run_shell_command", "sh", "shell"})
_DEEPEST = 8  # nested subagents
_STATUSES = get_args(CallStatus)
_END: TypeAdapter[TrialEnd] = TypeAdapter(TrialEnd)


def parse(document: str) -> tuple[Event, ...]:
    """Return the events of a trajectory, without times. A complete trajectory ends `completed`, unless it says
    otherwise.
    """
    if not document.strip():
        return ()
    try:
        data = from_json(document.strip(), allow_inf_nan=False)
    except ValueError as error:
        return (Warning(text=f"the trajectory is not JSON: {error}"),)
    version = _VERSION.match(text(data, "schema_version")) if isinstance(data, dict) else None
    if version is None or int(version[1]) < OLDEST_MINOR:
        return (Warning(text=f"this is not a trajectory of ATIF v1.{OLDEST_MINOR} or later"),)
    return bounded([*_Reading().trajectory(data), _end(data)])


class _Reading:
    """The calls read so far, because ids are only unique within a step."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def trajectory(self, data: Json, depth: int = 0) -> Iterator[Event]:
        agents = {text(agent, "trajectory_id"): agent for agent in items(data, "subagent_trajectories")}
        for step in items(data, "steps"):
            if step.get("is_copied_context") is True:
                continue  # the step was already read
            yield from self._step(step)
            for result in items(mapping(step, "observation"), "results"):
                for reference in items(result, "subagent_trajectory_ref"):
                    agent = agents.pop(text(reference, "trajectory_id"), None)
                    if agent is not None and depth < _DEEPEST:
                        yield from self.trajectory(agent, depth + 1)

    def _step(self, step: Json) -> Iterator[Event]:
        said = last_part(words(step.get("message")))
        if note := NOTES.get(text(mapping(step, "extra", EXTRA), "type")):
            yield note(text=said)
        elif said:
            yield Message(role=_role(step), text=said)
        calls: dict[str, str] = {}  # ids of this step → unique ids
        for call in items(step, "tool_calls"):
            yield self._call(call, calls)
        for result in items(mapping(step, "observation"), "results"):
            yield _result(result, calls)

    def _call(self, call: Json, calls: dict[str, str]) -> ToolCall:
        given = text(call, "tool_call_id") or f"call-{len(self._ids) + 1}"
        name = given if given not in self._ids else f"{given}-{len(self._ids) + 1}"
        self._ids.add(name)
        calls[given] = name
        tool, arguments = text(call, "function_name"), mapping(call, "arguments")
        command = text(mapping(call, "extra"), "command") or _command(tool, arguments)
        return ToolCall(id=name, tool=tool, command=command or None, input=arguments)


def _role(step: Json) -> Literal["user", "assistant", "system"]:
    source = text(step, "source")
    return "user" if source == "user" else "system" if source == "system" else "assistant"


def _command(tool: str, arguments: Json) -> str:
    """Return the command line if the tool is a shell. Some take a list that ends with it: `[bash, -lc, LINE]`."""
    if tool.lower() not in _SHELLS:
        return ""
    line = arguments.get("command", arguments.get("cmd", arguments.get("keystrokes")))
    if isinstance(line, list) and len(line) == 3 and str(line[1]).startswith("-"):
        line = line[2]
    return line if isinstance(line, str) else ""


def _result(result: Json, calls: dict[str, str]) -> Event:
    """Return a result. Without a call's id, it belongs to the step's only call, or is a message of the environment."""
    source = result.get("source_call_id")
    output = words(result.get("content"))
    call = calls.get(source) if isinstance(source, str) else None
    if call is None and source is None and len(calls) == 1:
        (call,) = calls.values()
    if call is None:
        return Message(role="system", text=last_part(output))
    status, code = _how_it_ended(mapping(result, "extra"), output)
    return ToolResult(id=call, status=status, exit_code=code, output=last_part(output))


def _how_it_ended(extra: Json, output: str) -> tuple[CallStatus, int | None]:
    code = count(extra, "exit_code")
    if code is None and (told := _EXIT_CODE.search(output)):
        code = int(told[1])
    for status in _STATUSES:
        if extra.get("status") == status:
            return status, code
    if code is not None:
        return status_of(code), code
    return ("error" if extra.get("is_error") is True else "unknown"), None


def _end(data: Json) -> End:
    """Return the end that Tidegate wrote into the trajectory, else `completed`; with the reported totals."""
    own, totals = mapping(data, "extra", EXTRA), mapping(data, "final_metrics")
    try:
        end = _END.validate_python(own.get("end", "completed"))
    except ValidationError:
        end = "crashed"
    return End(
        end=end,
        message=last_part(text(own, "end_message")),
        turns=count(own, "turns"),
        tokens_in=count(totals, "total_prompt_tokens"),
        tokens_out=count(totals, "total_completion_tokens"),
        tokens_cache_read=count(totals, "total_cached_tokens"),
        cost_usd=amount(totals, "total_cost_usd"),
    )


STREAM = Stream(parse, is_transcript=True)
