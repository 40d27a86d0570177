"""Formats of agents' output, the base class of those with one JSON object per line, and values of untrusted JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from pydantic_core import from_json

from tidegate.model.event import CallStatus, End, Event, TrialEnd, Warning
from tidegate.model.event import ToolCall as Call
from tidegate.model.event import ToolResult as Result
from tidegate.text.shorten import last_part

Json = dict[str, Any]


def mapping(data: object, *keys: str) -> Json:
    """Return the object at the path of keys; an empty one if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def items(data: Json, key: str) -> list[Json]:
    """Return the objects in the list at the key."""
    value = data.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(data: Json, key: str) -> str:
    """Return the text at the key; '' if there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def texts(data: Json, key: str) -> list[str]:
    """Return the texts in the list at the key."""
    value = data.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def count(data: Json, key: str) -> int | None:
    """Return the whole number at the key; None if there is none or it is negative."""
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount(data: Json, key: str) -> float | None:
    """Return the number at the key; None if there is none, or it is negative or implausibly large."""
    value = data.get(key)
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else None
    )


def total(*counts: int | None) -> int | None:
    """Return the sum of the values that are not None; None if all are."""
    there = [number for number in counts if number is not None]
    return sum(there) if there else None


def words(content: object) -> str:
    """Return the text of a message's content: a string, or the `text` of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text(part, "text") for part in parts if isinstance(part, dict) and text(part, "text"))


class Stream(NamedTuple):
    """One format of agents' output.

    `is_transcript`: `tidegate add` may recognise a file in this format by its content. `names`: regular expressions of
    words that tell a judge which agent or model it reads.
    """

    parse: Callable[[str], tuple[Event, ...]]
    is_transcript: bool = False
    names: tuple[str, ...] = ()


MAX_WARNINGS = 20


class JsonLines:
    """Reads an agent's stream line by line. Unreadable input becomes a warning; no input makes it raise.

    Every call gets a result; calls still open at the end are `unfinished`. `close` yields an `End` only if the stream
    says how the agent ended, or if the last thing it reports is that the model could not be reached.
    """

    def __init__(self) -> None:
        self._lines = 0
        self._tools: dict[str, str] = {}  # the tool of every call, by id
        self._given: dict[str, tuple[str | None, Json]] = {}  # what each was called with
        self._open: dict[str, None] = {}
        self._trouble: End | None = None  # set if the model could not be reached and nothing followed

    def parse(self, output: str) -> tuple[Event, ...]:
        """Return all events of a whole output; only a new reader can."""
        return bounded(chain(chain.from_iterable(map(self.read, output.split("\n"))), self.close()))

    def read(self, line: str) -> Iterator[Event]:
        """Yield the events of the next line."""
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
            yield Warning(text=f"line {self._lines} is not a JSON object: {line[:80]}", unread=True)

    def close(self) -> Iterator[Event]:
        """Yield what follows from the end of the stream: calls without a result, and the end."""
        yield from self._before_close()
        for call in self._open:
            yield Result(id=call, status="unfinished")
        self._open.clear()
        if (end := self._end() or self._trouble) is not None:
            yield end

    def so_far(self) -> End | None:
        """Return the tokens and cost so far, for an agent that is stopped; None if only the end reports them."""
        return None

    def refused(self) -> End | None:
        """Return the end as soon as it is clear that the API key is refused, because retrying is useless."""
        return self._trouble if self._trouble is not None and self._trouble.end == "auth" else None

    def _object(self, data: Json) -> Iterator[Event]:
        """Yield the events of one object; none for unknown types."""
        raise NotImplementedError

    def _before_close(self) -> Iterator[Event]:
        yield from ()

    def _end(self) -> End | None:
        """Return the end that the stream reports, with its turns, tokens and cost."""
        raise NotImplementedError

    def _call(self, identity: str, tool: str, command: str | None = None, given: Json | None = None) -> Iterator[Event]:
        """Yield a call, unless it was reported before; a warning if another one had its id."""
        self._trouble = None
        if self._given.setdefault(identity, (command, given or {})) != (command, given or {}):
            yield Warning(text=f"line {self._lines} calls `{tool}` with the id of another call", unread=True)
        if identity not in self._tools:
            self._tools[identity] = tool
            self._open[identity] = None
            yield Call(id=identity, tool=tool, command=command, input=given or {})

    def _result(self, identity: str, status: CallStatus, code: int | None = None, output: str = "") -> Iterator[Event]:
        """Yield the result of a call, or a warning if the call is missing."""
        self._trouble = None
        if identity not in self._tools:
            yield Warning(text=f"line {self._lines} holds the result of a call that is not there")
            return
        self._open.pop(identity, None)
        yield Result(id=identity, status=status, exit_code=code, output=last_part(output))


def bounded(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events with the first 20 warnings, and one last warning that counts the others."""
    kept: list[Event] = []
    warnings: list[Warning] = []
    for event in events:
        if isinstance(event, Warning):
            warnings.append(event)
        if not isinstance(event, Warning) or len(warnings) <= MAX_WARNINGS:
            kept.append(event)
    if more := warnings[MAX_WARNINGS:]:
        said = f"{len(more)} more warnings of this kind were left out"
        kept.append(Warning(text=said, unread=any(one.unread for one in more)))
    return tuple(kept)


def status_of(code: int) -> CallStatus:
    """Return a shell command's status. Any exit code but 0 is an error, even if the agent sees it differently."""
    return "ok" if code == 0 else "error"


def end_of_api(status: int | None) -> TrialEnd:
    """Return how an agent ended that got no answer from its model, by the HTTP status; None: there was none.

    A status like 400 is about the request itself: the same one is refused every time.
    """
    if status in (401, 403):
        return "auth"
    return "outage" if status is None or status in (408, 409, 429) or status >= 500 else "refused_request"
