"""What the streams of coding agents have in common: one JSON object per line, calls and results, an end or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic_core import from_json

from tidegate.model.event import CallStatus, End, Event, TrialEnd, Warning
from tidegate.model.event import ToolCall as Call
from tidegate.model.event import ToolResult as Result
from tidegate.streams.damage import bounded
from tidegate.streams.excerpt import excerpt
from tidegate.streams.json_values import Json


class JsonLines:
    """Reads an agent's stream line by line. What it cannot read is a warning; nothing that it is given makes it raise.

    Every call gets a result: what was open when the stream ended is `unfinished`. `close` gives an `End` only if the
    stream itself says how the agent ended, or if its last word was that its model could not be reached.
    """

    def __init__(self) -> None:
        self._lines = 0
        self._tools: dict[str, str] = {}  # of every call, by its id
        self._open: dict[str, None] = {}
        self._trouble: End | None = None  # the model could not be reached, and nothing has come since

    def read(self, line: str) -> Iterator[Event]:
        """The events of the next line."""
        self._lines += 1
        if not line.strip():
            return
        try:
            data = from_json(line, allow_inf_nan=False)
        except ValueError:
            data = None
        if isinstance(data, dict):
            yield from self._object(data)
        else:
            yield Warning(text=f"line {self._lines} is no JSON object: {line[:80]}")

    def close(self) -> Iterator[Event]:
        """What can be said when no more lines come: calls without a result, and the end."""
        yield from self._before_close()
        for call in self._open:
            yield Result(id=call, status="unfinished")
        self._open.clear()
        if (end := self._end() or self._trouble) is not None:
            yield end

    def so_far(self) -> End | None:
        """What it has told of tokens and cost by now, if the agent were stopped; None where only the end tells."""
        return None

    def refused(self) -> End | None:
        """The end, as soon as it is clear that the key is refused: to try again is a waste."""
        return self._trouble if self._trouble is not None and self._trouble.end == "auth" else None

    def _object(self, data: Json) -> Iterator[Event]:
        """The events of one object; unknown types are none."""
        raise NotImplementedError

    def _before_close(self) -> Iterator[Event]:
        yield from ()

    def _end(self) -> End | None:
        """The end that the stream has told, with what it has told of turns, tokens and cost."""
        raise NotImplementedError

    def _call(self, identity: str, tool: str, command: str | None = None, given: Json | None = None) -> Iterator[Event]:
        """A call, unless it was there before."""
        self._trouble = None
        if identity not in self._tools:
            self._tools[identity] = tool
            self._open[identity] = None
            yield Call(id=identity, tool=tool, command=command, input=given or {})

    def _result(self, identity: str, status: CallStatus, code: int | None = None, output: str = "") -> Iterator[Event]:
        """What came back. Without its call, nothing is known of it."""
        self._trouble = None
        if identity not in self._tools:
            yield Warning(text=f"line {self._lines} holds the result of a call that is not there")
            return
        self._open.pop(identity, None)
        yield Result(id=identity, status=status, exit_code=code, output=excerpt(output))


def parse(stream: JsonLines, text: str) -> tuple[Event, ...]:
    """All events of a whole output."""
    return bounded(_events(stream, text.split("\n")))


def _events(stream: JsonLines, lines: Iterable[str]) -> Iterator[Event]:
    for line in lines:
        yield from stream.read(line)
    yield from stream.close()


def status_of(code: int) -> CallStatus:
    """A shell command's status by its exit code: what is not 0 is an error, whatever the agent makes of it."""
    return "ok" if code == 0 else "error"


def end_of_api(status: int | None) -> TrialEnd:
    """How an agent ended that got no answer from its model, by the HTTP status."""
    return "auth" if status in (401, 403) else "outage"
