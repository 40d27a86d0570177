"""Turns reStructuredText into Markdown, line by line, so that examples in both are found by the same rules."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

_DIRECTIVE = re.compile(r"^(?P<indent>\s*)\.\. +(?:code-block|code|sourcecode|prompt)::\s*(?P<language>[\w-]*)")
_LITERAL = re.compile(r"^(?P<indent>\s*)(?!\.\. |\s).*::\s*$")
_OPTION = re.compile(r"^\s*:[\w-]+:")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+:.<>_])\1{2,}\s*$")


SUFFIXES = (".md", ".markdown", ".mkd", ".rst")  # of documents whose examples can be read


def markdown_of(path: str, text: str) -> str:
    """Return a document's text as Markdown."""
    return as_markdown(text) if path.lower().endswith(".rst") else text


def as_markdown(text: str) -> str:
    """Return Markdown with the same headings and blocks of code, each on the same row as in the reStructuredText.

    Rows count the same in both. All other markup is unchanged.
    """
    rows = [row.expandtabs(8) for row in text.splitlines()]
    return "\n".join(_blocks(_headed(rows)))


def _headed(rows: Sequence[str]) -> list[str]:
    """Turn underlined titles into headings. The level follows from the order in which the styles appear."""
    found = list(rows)
    styles: list[tuple[str, bool]] = []
    for place in range(1, len(rows)):
        title, under = rows[place - 1].strip(), _UNDERLINE.match(rows[place])
        if under is None or not title or _UNDERLINE.match(title) or len(rows[place].strip()) < len(title):
            continue
        over = place >= 2 and rows[place - 2].strip() == rows[place].strip()
        style = (under[1], over)
        if style not in styles:
            styles.append(style)
        found[place - 1 : place + 1] = ["#" * min(styles.index(style) + 1, 6) + f" {title}", ""]
        if over:
            found[place - 2] = ""
    return found


def _blocks(rows: Sequence[str]) -> Iterator[str]:
    """Put fences around indented blocks that follow a directive for code or a paragraph that ends with `::`."""
    place = 0
    while place < len(rows):
        opened = _DIRECTIVE.match(rows[place]) or _LITERAL.match(rows[place])
        body = _body(rows, place + 1, len(opened["indent"])) if opened else range(0)
        if opened is None or not body or (opened.re is _LITERAL and rows[place + 1].strip()):
            yield rows[place]
            place += 1
            continue
        if opened.re is _DIRECTIVE:
            yield f"```{opened['language']}"
            yield from [""] * (body.start - place - 1)
        else:
            yield rows[place]
            yield from [""] * (body.start - place - 2)
            yield "```"
        yield from textwrap.dedent("\n".join(rows[body.start : body.stop])).split("\n")
        yield "```"
        place = body.stop + 1  # of the blank rows after the block, the fence takes the first


def _body(rows: Sequence[str], start: int, indent: int) -> range:
    """Return the rows of the block that is indented by more than `indent`, without blank rows and options around it."""
    while start < len(rows) and (not rows[start].strip() or _OPTION.match(rows[start])):
        start += 1
    stop = start
    while stop < len(rows) and (not rows[stop].strip() or len(rows[stop]) - len(rows[stop].lstrip()) > indent):
        stop += 1
    while stop > start and not rows[stop - 1].strip():
        stop -= 1
    return range(start, stop)
