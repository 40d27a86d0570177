"""Calls that undo what another call has done, such as to decompress what was compressed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidegate.authoring.option_calls import Try
from tidegate.model.surface import Part

_UNDOES = re.compile(
    r"-{0,2}(?:(?:de|un)-?(?:compress|code|crypt|serialize|pack|escape|minify|zip|gzip|flatten|archive|quote)"
    r"|extract|expand|reverse|inverse|invert|restore)"
)
_ON_COPY = re.compile(r"(?P<made>cp \S+ (?P<copy>\S+) && .*?) && (?:cat|sha256sum) (?P<written>\S+) && rm \S+")


def round_trips(lines: Sequence[str], plain: Mapping[str, str], binary: str, parts: Iterable[Part]) -> Iterator[Try]:
    """Yield calls that give the output of these lines back to the tool, for each option or subcommand that undoes it.

    `plain`: lines without what shows the files that they write.
    """
    for part in parts:
        if part.takes_value or not any(map(_UNDOES.fullmatch, (part.name, *part.aliases))):
            continue
        undo = " ".join(filter(None, (binary, part.command, part.name)))
        for line in lines:
            if found := _ON_COPY.fullmatch(line):
                made, copy, written = found["made"], found["copy"], found["written"]
                yield Try(ways=(f"{made} && {undo} {written} && cat {copy}",), provides=False)
            else:
                made = plain.get(line, line)
                made = made if ">" in made else f"{made} > output"
                yield Try(ways=(f"{made} && {undo} output", f"{made} && {undo} < output"), provides=False)
