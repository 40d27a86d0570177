"""Render prove.html: a self-contained page with mutants that are alive and a map of what the scenarios use."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from tidegate.model.proof import Proof, ToolProof, UsedPart
from tidegate.reports.filters import count
from tidegate.reports.html import environment, hash_of, source
from tidegate.reports.prove_text import (
    AliveGroup,
    alike_text,
    alive_groups,
    mutants_text,
    partial_text,
    trend_text,
)

_LISTED = ("option", "json_key", "parameter")


class ProvedCommand(NamedTuple):
    """A subcommand or a tool of an MCP server, '' for the program itself, with its parts. `own`: the part itself."""

    name: str
    own: UsedPart | None
    parts: tuple[UsedPart, ...]


class ToolView(NamedTuple):
    """What the page shows of a tool."""

    proof: ToolProof
    title: str
    alive: tuple[AliveGroup, ...]
    map: tuple[ProvedCommand, ...]
    used: str


def prove_page(proof: Proof) -> str:
    """Return the page. It has no script and works offline."""
    style = source("page/style.css") + source("page/prove.css")
    return (
        environment()
        .get_template("page/prove.html.j2")
        .render(
            proof=proof,
            tools=[_view(tool) for tool in proof.tools],
            partial=partial_text(proof) if proof.partial else "",
            trend=None if proof.trend is None else trend_text(proof, proof.trend),
            alike=None if proof.alike is None else alike_text(proof.alike),
            style=style,
            policy=f"default-src 'none'; style-src '{hash_of(style)}'; img-src data:; form-action 'none'",
        )
    )


def _view(tool: ToolProof) -> ToolView:
    title = mutants_text(tool) if tool.mutants else f"Surface of {tool.tool or 'the docs'}"
    used = f"{count(tool.scenarios, 'passing scenario')}: {tool.counts}"
    return ToolView(tool, title, alive_groups(tool.mutants, tool.tool), tuple(_map(tool)), used)


def _map(tool: ToolProof) -> Iterator[ProvedCommand]:
    """Yield the subcommands or tools in the order of the surface, the program itself first."""
    own = {one.part.name: one for one in tool.parts if one.part.kind in ("subcommand", "tool")}
    listed = [one for one in tool.parts if one.part.kind in _LISTED]
    names = ["", *own]
    listed.sort(key=lambda one: names.index(one.part.command) if one.part.command in names else 0)
    parts = {name: tuple(found) for name, found in groupby(listed, key=lambda one: one.part.command)}
    for name in names:
        if name in own or parts.get(name):
            yield ProvedCommand(name, own.get(name), parts.get(name, ()))
