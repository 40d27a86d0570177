"""Group mutants that are alive for the same cause: what of the tool no check looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tidegate.model.mutant import Mutant, MutantResult
from tidegate.model.proof import NewlyAlive, Proof, ProofTrend

_ALIVE = ("alive", "not_reached")
_Id = tuple[str, str, str, str, str, str]

_OUTPUT = (
    *("line_dropped", "first_line_dropped", "lines_reversed", "lines_cut", "number_changed", "coloured"),
    *("warning_on_stderr", "lines_prefixed", "line_ends_changed", "letters_lowered", "spaces_doubled", "word_replaced"),
    *("json_reformatted", "json_list_cut", "json_list_reversed"),
    *("warning_printed", "output_repeated", "output_truncated", "output_emptied", "streams_swapped", "json_wrapped"),
)
_KEY = ("json_key_renamed", "json_key_dropped", "json_key_retyped", "json_value_wrong", "json_value_null")
_FAILURE = ("exit_fails", "crashes_after")
_CAUSES: Mapping[str, str] = {
    **dict.fromkeys(_OUTPUT, "what {of} prints"),
    **dict.fromkeys(_FAILURE, "whether {of} fails"),
    **dict.fromkeys(_KEY, "key `{name}` in the output of {of}"),
    **dict.fromkeys(("exit_succeeds", "exit_changed"), "the exit code of {of} where it fails"),
    **dict.fromkeys(("error_emptied", "error_wrong"), "the message of {of} where it fails"),
    **dict.fromkeys(("option_ignored", "default_changed", "value_swapped"), "what `{name}` of {of} does"),
    **dict.fromkeys(("option_removed", "option_renamed", "value_refused"), "`{name}` of {of}"),
    **dict.fromkeys(("effect_lost", "effect_twice", "written_cut", "written_renamed"), "what {of} writes"),
    **dict.fromkeys(("slower", "hangs"), "the time that {of} takes"),
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
    if kind in ("value_refused", "value_swapped"):
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


def trend(now: Proof, before: Proof) -> ProofTrend:
    """Return what is newly alive and newly caught. A mutant that was not run in one of them is neither."""
    old, new = dict(_by_id(before)), dict(_by_id(now))
    alive = tuple(
        NewlyAlive(words=one.mutant.words, why=_why(old.get(key)))
        for key, one in new.items()
        if one.state in _ALIVE and (key not in old or old[key].state == "caught")
    )
    both = [(old[key].state, one.state) for key, one in new.items() if key in old]
    caught = sum(was in _ALIVE and is_now == "caught" for was, is_now in both)
    earlier = ProofTrend(
        sha=before.sha, at=before.at, share=before.share, decided=before.decided, partial=before.partial
    )
    return earlier.model_copy(update={"alive": alive, "caught": caught})


def _by_id(proof: Proof) -> Iterator[tuple[_Id, MutantResult]]:
    for tool in proof.tools:
        for one in tool.mutants:
            mutant = one.mutant
            yield (tool.tool, mutant.kind, mutant.command, mutant.name, mutant.value, mutant.file), one


def _why(old: MutantResult | None) -> str:
    return "it is new" if old is None else f"it was caught by {', '.join(old.caught_by)}"
