"""Render what `tidegate prove` found as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from tidegate.decide.statistics.rates import wilson
from tidegate.model.mutant import MutantResult
from tidegate.model.proof import AlikeSides, ChangedPart, Proof, ProofTrend, ToolProof
from tidegate.model.surface import Part
from tidegate.reports.filters import count, percent
from tidegate.reports.mutant_groups import alive_groups

MOST = 20  # causes listed


def prove_text(proof: Proof, *, every: bool = False) -> str:
    """Return the text. `every`: list all mutants, with their state."""
    return "\n".join(_lines(proof, every)) + "\n"


def _lines(proof: Proof, every: bool) -> Iterator[str]:
    if proof.alike is not None:
        yield alike_text(proof.alike)
    if proof.partial:
        yield partial_text(proof)
    if proof.trend is not None:
        yield from trend_lines(proof, proof.trend)
    for tool in proof.tools:
        if tool.mutants:
            yield mutants_text(tool)
            yield from listed(tool.mutants) if every else alive_lines(tool)
            yield from not_run_lines(tool)
        elif not tool.parts:
            yield f"{tool.tool or 'scenarios without a tool under test'}: nothing is known that could be changed"
        if tool.counts:
            yield f"surface: {tool.counts} used by {count(tool.scenarios, 'passing scenario')}"
            yield from unused_lines(tool)
        yield from map(change_text, tool.changes)
        for draft in tool.drafts:
            yield f"\ndraft  add to the {draft.into} of {draft.file}, which catches: {draft.catches}"
            yield draft.text.rstrip()
    for note in proof.notes:
        yield f"note: {note}"
    yield f"{count(proof.trials, 'trial')}, {proof.seconds:.0f} s"


def alike_text(alike: AlikeSides) -> str:
    """Return what pull requests that change nothing showed, with the bound of a 95 % interval."""
    low, high = wilson(alike.blocked, alike.runs)
    verb = "changes" if alike.runs == 1 else "change"
    told = f"A/A: {count(alike.runs, 'pull request')} that {verb} nothing: {alike.blocked} blocked"
    told += f" (95 % interval {percent(low)} to {percent(high)})"
    return f"{told}, {alike.unconfirmed} with an unconfirmed row"


def partial_text(proof: Proof) -> str:
    """Return a sentence on a run whose share is not that of the whole suite."""
    return f"Partial run ({proof.partial}): its share is not that of the whole suite"


def trend_lines(proof: Proof, trend: ProofTrend) -> Iterator[str]:
    """Yield how the share differs from an earlier commit's, and what is newly alive."""
    yield trend_text(proof, trend)
    for one in trend.alive[:MOST]:
        yield f"newly alive  {one.words:<56} {one.why}"
    if len(trend.alive) > MOST:
        yield f"       … and {len(trend.alive) - MOST} more: proof.json has all"


def trend_text(proof: Proof, trend: ProofTrend) -> str:
    """Return the shares of both commits."""
    was, now = percent(trend.share), percent(proof.share)
    told = f"{was} of {count(trend.decided, 'mutant')} at {trend.sha[:12]}{' (partial run)' if trend.partial else ''}"
    told += f", now {now} of {proof.decided:,}{' (partial run)' if proof.partial else ''}"
    return f"{told}: {len(trend.alive)} newly alive, {trend.caught} newly caught"


def mutants_text(tool: ToolProof) -> str:
    """Return the counts of a tool's mutants."""
    states = [one.state for one in tool.mutants]
    caught, same = states.count("caught"), states.count("no_change")
    alive = states.count("alive") + states.count("not_reached")
    share = f" ({percent(caught / (caught + alive))})" if caught + alive else ""
    told = f"{count(len(states), 'mutant')} of {tool.tool or 'the docs'}: {caught} caught{share}"
    told += f", {same} that {'changes' if same == 1 else 'change'} nothing, {alive} alive"
    if missed := states.count("not_reached"):
        told += f", {missed} of them in parts that no scenario uses"
    if left := states.count("not_run"):
        told += f", {left} not run"
    return told


def alive_lines(tool: ToolProof) -> Iterator[str]:
    """Yield the mutants that scenarios meet and do not catch; those with one cause in one line.

    Those of unused parts are in the list of the surface.
    """
    groups = alive_groups(tool.mutants, tool.tool)
    for group in groups[:MOST]:
        yield f"alive  {group!s:<62} {group.why}"
    if len(groups) > MOST:
        yield f"       … and {len(groups) - MOST} more: `-v` lists all"


def not_run_lines(tool: ToolProof) -> Iterator[str]:
    """Yield why mutants were not run, and how many for each reason."""
    reasons = Counter(one.why for one in tool.mutants if one.state == "not_run")
    for why, times in reasons.most_common():
        yield f"not run  {count(times, 'mutant')}: {why}"


def listed(mutants: Iterable[MutantResult]) -> Iterator[str]:
    """Yield all mutants."""
    for one in mutants:
        by = f"caught by {', '.join(one.caught_by)}" if one.caught_by else one.why
        yield f"{one.state.replace('_', ' '):<12} {one.mutant.words:<62} {by}"


def change_text(change: ChangedPart, tool: str = "") -> str:
    """Return one line on a part that a branch adds, removes or changes. `tool`: named for parts of no subcommand."""
    used = f"used by {', '.join(change.scenarios)}" if change.scenarios else "no scenario uses it"
    name = f"{change.part}" + (f" of `{tool}`" if tool and not change.part.command else "")
    if change.state == "removed":
        places = ", ".join(f"{line.path}:{line.line}" for line in change.docs)
        return f"Removed: {name}" + (f"; still named in {places}" if places else "")
    if change.state == "added":
        return f"New: {name}; {used}"
    return f"Changed: {name} ({_difference(change.before or change.part, change.part)}); {used}"


def _difference(before: Part, after: Part) -> str:
    """Return how the form of a part differs."""
    told = []
    if lost := [*({before.name, *before.aliases} - {after.name, *after.aliases})]:
        told.append(f"no longer `{'`, `'.join(sorted(lost))}`")
    if gone := [one for one in before.choices if one not in after.choices]:
        told.append(f"no longer takes {', '.join(gone)}")
    if new := [one for one in after.choices if one not in before.choices]:
        told.append(f"takes {', '.join(new)}")
    if before.takes_value != after.takes_value:
        told.append("takes a value" if after.takes_value else "no longer takes a value")
    if before.default != after.default:
        told.append(f"default {before.default or 'not listed'}, now {after.default or 'not listed'}")
    if before.required != after.required:
        told.append("required" if after.required else "no longer required")
    return ", ".join(told) or "another form"


def unused_lines(tool: ToolProof) -> Iterator[str]:
    """Yield what no scenario uses, by subcommand."""
    unused = [
        one.part for one in tool.parts if not one.scenarios and one.part.kind not in ("exit_code", "file", "argument")
    ]
    gone = {part.name for part in unused if part.kind in ("subcommand", "tool")}
    names = [f"`{part.name}`" for part in unused if part.name in gone]
    if names:
        yield f"unused {', '.join(names)}"
    rest = [part for part in unused if part.name not in gone and part.command not in gone]
    for command, parts in groupby(sorted(rest, key=lambda part: part.command), key=lambda part: part.command):
        named = ", ".join(f"`{part.name}`" for part in parts)
        yield f"unused {named} of `{command or tool.tool}`"
