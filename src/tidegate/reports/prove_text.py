"""Group mutants that are alive for the same cause, and render what `tidegate prove` found as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from tidegate.model.proof import Mutant, MutantResult, Proof, ToolProof, share_of
from tidegate.reports.filters import count, percent

_OUTPUT = (
    *("line_dropped", "first_line_dropped", "lines_reversed", "lines_cut", "number_changed", "coloured"),
    *("warning_on_stderr", "lines_prefixed", "line_ends_changed", "letters_lowered", "spaces_doubled", "word_replaced"),
    *("json_reformatted", "json_list_cut", "json_list_reversed"),
    *("middle_changed", "fields_swapped", "rounded", "lines_swapped"),
    *("warning_printed", "output_repeated", "output_truncated", "output_emptied", "streams_swapped", "json_wrapped"),
)
_KEY = ("json_key_renamed", "json_key_dropped", "json_key_retyped", "json_value_wrong", "json_value_null")
_FAILURE = ("exit_fails", "crashes_after", "input_crashes", "input_fails")
_CAUSES: Mapping[str, str] = {
    **dict.fromkeys(_OUTPUT, "what {of} prints"),
    **dict.fromkeys(_FAILURE, "whether {of} fails"),
    **dict.fromkeys(_KEY, "key `{name}` in the output of {of}"),
    **dict.fromkeys(("exit_succeeds", "exit_changed"), "the exit code of {of} where it fails"),
    **dict.fromkeys(("error_emptied", "error_wrong"), "the message of {of} where it fails"),
    **dict.fromkeys(("option_ignored", "default_changed"), "what `{name}` of {of} does"),
    **dict.fromkeys(("option_removed", "option_renamed", "value_refused"), "`{name}` of {of}"),
    **dict.fromkeys(("effect_lost", "written_cut"), "what {of} writes"),
    "hangs": "the time that {of} takes",
    **dict.fromkeys(("tool_removed", "tool_renamed", "parameter_required"), "the tool {of}"),
    **dict.fromkeys(("parameter_renamed",), "`{name}` of {of}"),
    **dict.fromkeys(("result_reshaped", "result_emptied"), "what {of} returns"),
}


class AliveGroup(NamedTuple):
    """Mutants with one cause: what no check looks at."""

    cause: str
    results: tuple[MutantResult, ...]

    @property
    def why(self) -> str:
        """Why the first one is alive."""
        return self.results[0].why

    def __str__(self) -> str:
        """Return the cause, with the number of mutants; of one mutant what it changes."""
        first, *others = self.results
        return f"{self.cause} ({len(self.results)} mutants)" if others else first.mutant.words


def alive_groups(results: Iterable[MutantResult], tool: str) -> tuple[AliveGroup, ...]:
    """Return the mutants that scenarios meet and do not catch, by cause.

    If a subcommand can print nothing and no check fails, its keys are not listed apart.
    """
    alive = [one for one in results if one.state == "alive"]
    silent = {one.mutant.command for one in alive if one.mutant.kind == "output_emptied"}
    groups: dict[str, list[MutantResult]] = {}
    for one in alive:
        groups.setdefault(_cause(one.mutant, tool, silent), []).append(one)
    return tuple(AliveGroup(cause, tuple(own)) for cause, own in groups.items())


def _cause(mutant: Mutant, tool: str, silent: set[str]) -> str:
    kind = "output_emptied" if mutant.kind in _KEY and mutant.command in silent else mutant.kind
    words = _CAUSES.get(kind)
    command = mutant.name if kind in ("tool_removed", "tool_renamed") else mutant.command
    return mutant.words if words is None else words.format(name=mutant.name, of=f"`{command or tool}`")


def survived(mutant: Mutant, met: Sequence[str], *, same: bool = False) -> str:
    """Return why no scenario catches the mutant. `met`: the scenarios that meet it; `same`: they see no difference."""
    if not met:
        return f"no scenario {_use(mutant)}"
    who = f"{met[0]} meets it" if len(met) == 1 else f"{len(met)} scenarios meet it"
    if same:
        return f"{who}, only where it makes no difference"
    return f"{who}, and {'passes' if len(met) == 1 else 'pass'}"


def _use(mutant: Mutant) -> str:
    kind, name = mutant.kind, mutant.name
    if kind == "value_refused":
        return f"gives {mutant.value} to `{name}`"
    if kind in ("default_changed", "option_required"):
        return f"calls `{mutant.command}` without `{name}`" if mutant.command else f"calls it without `{name}`"
    if kind.startswith(("option_", "alias", "subcommand_r", "tool")):
        return f"uses `{name}`"
    if kind == "parameter_renamed":
        return f"gives `{name}`"
    if kind in ("help_dropped", "description_emptied"):
        return "reads it"
    if mutant.file:
        return f"has an agent that reads {mutant.file}"
    return f"calls `{mutant.command}`" if mutant.command else "does so"


MOST = 20  # causes listed


def prove_text(proof: Proof, *, every: bool = False) -> str:
    """Return the text. `every`: list all mutants, with their state."""
    return "\n".join(_lines(proof, every)) + "\n"


def _lines(proof: Proof, every: bool) -> Iterator[str]:
    if proof.partial:
        yield f"Partial run ({proof.partial}): its share is not that of the whole suite"
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
        for draft in tool.drafts:
            yield f"\ndraft  add to the {draft.into} of {draft.file}, which catches: {draft.catches}"
            yield draft.text.rstrip()
    for note in proof.notes:
        yield f"note: {note}"
    yield f"{count(proof.trials, 'trial')}, {proof.seconds:.0f} s"


def mutants_text(tool: ToolProof) -> str:
    """Return the counts of a tool's mutants."""
    states = [one.state for one in tool.mutants]
    caught, same = states.count("caught"), states.count("no_change")
    alive = states.count("alive") + states.count("not_reached")
    share = f" ({percent(share_of(tool.mutants))} of the tool)" if caught + alive else ""
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
