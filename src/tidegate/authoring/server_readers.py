"""Which calls of an MCP server read what others have changed. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from tidegate.authoring.server_example import Example
from tidegate.authoring.server_tools import READS, WRITES
from tidegate.model.agent import taken_from

MOST_READERS, FEW_READERS = 3, 2  # after a call that changes something, and after one with more parameters


def with_readers(
    calls: Sequence[Example], ranks: Mapping[str, int], unknown: Container[tuple[str, str]]
) -> Iterator[Example]:
    """Yield the calls; each that may change something is followed by those that read it, or all. Where no tool writes,
    those with usual values are.

    `unknown`: tools, each with a name by which it does not find what others write.
    """
    reading = {call.tool: call for call in reversed(calls) if ranks[call.tool] == READS and not call.tries}.values()
    writes = WRITES in ranks.values()
    for call, following in zip_longest(calls, calls[1:]):
        yield call
        if ranks[call.tool] == READS or call.tries == "unknown" or (call.tries and not writes):
            continue
        for one in _about(call, reading)[: FEW_READERS if call.tries else MOST_READERS]:
            keys = [key for key in one.input.keys() & call.input.keys() if (one.tool, key) not in unknown]
            reader = one._replace(input={**one.input, **{key: call.input[key] for key in keys}}, tries=call.tries)
            yield from (own for own in _of_ids(reader, call) if own not in (call, following))


def _about(call: Example, reading: Iterable[Example]) -> list[Example]:
    """Return the calls that read in the order in which they fit: those with the same parameters, then those that ask
    for the id which was given last.
    """

    def fits(one: Example) -> tuple[int, bool, int]:
        ids = [value for value in map(taken_from, one.input.values()) if value is not None]
        return (
            -len(one.input.keys() & call.input.keys()),
            not any(one.answer_of == call.tool for one in ids),
            len(one.input),
        )

    return sorted(reading, key=fits)


def _of_ids(reader: Example, call: Example) -> list[Example]:
    """Return the call that reads, for each id of an answer that the other call has; for its own if that has none."""
    ids = [value for value in call.input.values() if isinstance(value, dict) and taken_from(value)]
    names = [key for key, value in reader.input.items() if taken_from(value) and key not in call.input]
    return [reader._replace(input={**reader.input, names[0]: one}) for one in ids] if ids and names else [reader]
