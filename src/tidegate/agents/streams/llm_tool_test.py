"""The events.jsonl of llm-tool-test, both as specified and as it is actually written."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.agents.streams.json_lines import Json, JsonLines, Stream, amount, status_of
from tidegate.model.event import End, Event, Message
from tidegate.text.shorten import last_part


class LlmToolTest(JsonLines):
    """Reads the specified form `{event: spawn, output, tool_call, tool_result or complete}` and the actual form.

    The actual form, `{type: execution, …}`, has only what the agent printed, not its calls.
    """

    def __init__(self) -> None:
        super().__init__()
        self._number = 0
        self._last: End | None = None

    def _object(self, data: Json) -> Iterator[Event]:
        match data.get("event", data.get("type")):
            case "output":
                yield from _said(data.get("output", data.get("text")))
            case "tool_call":
                self._number += 1
                command = data.get("command")
                tool = data.get("tool")
                yield from self._call(
                    f"call-{self._number:03d}",
                    tool if isinstance(tool, str) else "shell",
                    command if isinstance(command, str) else None,
                )
            case "tool_result":
                code, output = data.get("exit_code"), data.get("output")
                code = code if isinstance(code, int) and not isinstance(code, bool) else None
                status = "unknown" if code is None else status_of(code)
                said = output if isinstance(output, str) else ""
                yield from self._result(f"call-{self._number:03d}", status, code, said)
            case "complete" | "execution":
                yield from _said(data.get("output"))
                code = data.get("exit_code")
                traced = data.get("event") == "complete"
                message = "" if code == 0 else f"exit {code}"
                end = "completed" if code == 0 else "crashed"
                at = amount(data, "duration_secs") or 0.0
                self._last = End(end=end, message=message[:80], traced=traced, at=at)
            case _:
                pass

    def _end(self) -> End | None:
        return self._last


def _said(output: object) -> Iterator[Event]:
    if isinstance(output, str) and output.strip():
        yield Message(text=last_part(output.strip()))


STREAM = Stream(lambda output: LlmToolTest().parse(output), is_transcript=True)
