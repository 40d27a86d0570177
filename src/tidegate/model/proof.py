"""What `tidegate prove` finds: how much of the tool the suite uses, and which mutants it catches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import fmean
from typing import Literal

from tidegate.model.mutant import MutantResult
from tidegate.model.surface import Part
from tidegate.model.value import Value


class UsedPart(Value):
    """A part of the surface and the scenarios that use it."""

    part: Part
    scenarios: tuple[str, ...]


class Draft(Value):
    """A check that catches a mutant: a line for the gates or the evaluators of the scenario in `file`."""

    catches: str
    file: str
    text: str
    into: Literal["gates", "evaluators"]


class ToolProof(Value):
    """What was found for one tool under test. `counts`: how much of its surface is used.

    `scenarios`: how many pass on base; only they use something.
    """

    tool: str
    counts: str
    scenarios: int = 0
    parts: tuple[UsedPart, ...]
    mutants: tuple[MutantResult, ...] = ()
    drafts: tuple[Draft, ...] = ()


# What people call and read, and what options do; all other kinds are about results.
_SURFACE = frozenset(
    (
        *("option_removed", "option_renamed", "option_required", "alias_removed", "options_first", "value_refused"),
        *("argument_refused", "subcommand_removed", "subcommand_renamed", "help_dropped", "section_dropped"),
        *("example_dropped", "flag_misspelt", "subcommand_misspelt", "tool_removed", "tool_renamed"),
        *("parameter_renamed", "parameter_required", "description_emptied"),
    )
)
_OPTIONS = frozenset(("option_ignored", "default_changed"))
_REFUSALS = frozenset(("exit_succeeds", "exit_changed", "error_emptied", "error_wrong"))
_WEIGHTS = {"results": 9, "options": 3, "refusals": 2, "surface": 6}  # as often as each breaks in real tools
_INPUTS = frozenset(("input_fails", "result_emptied"))  # one for each call whose result is known


def share_of(results: Iterable[MutantResult]) -> float | None:
    """Return how much of the tool is protected: the mean of its groups, weighted; None if unknown.

    In each of these, a part counts once, however many mutants it has. Of a part with few calls, a breakage is often in
    what none of them shows: the next of n calls is one of n + 1.
    """
    parts: dict[str, dict[tuple[str, str], list[bool]]] = {}
    calls, used = Counter[str](), set[tuple[str, str]]()
    for one in results:
        part, reached = (one.mutant.command, one.mutant.name), one.state != "not_reached"
        calls[one.mutant.command] += reached and one.mutant.kind in _INPUTS
        used |= {part} if reached and one.mutant.kind in _OPTIONS else set()
        if one.state in ("caught", "alive", "not_reached"):
            parts.setdefault(_group(one.mutant.kind), {}).setdefault(part, []).append(one.state == "caught")

    def weight(group: str, command: str, name: str) -> float:
        """Return how much of a part is seen: of an option that no call has, its help, of results those of the calls."""
        if group == "surface":
            return 0.5 if name.startswith("-") and (command, name) not in used else 1.0
        if group != "results" or (name and not calls[command]):  # of a sample without a call
            return 1.0
        return calls[command] / (calls[command] + 1)

    of_groups = {
        group: fmean(weight(group, *part) * fmean(caught) for part, caught in own.items())
        for group, own in parts.items()
    }
    total = sum(_WEIGHTS[group] for group in of_groups)
    return sum(_WEIGHTS[group] * own for group, own in of_groups.items()) / total if total else None


def _group(kind: str) -> str:
    groups = {"surface": _SURFACE, "options": _OPTIONS, "refusals": _REFUSALS}
    return next((group for group, kinds in groups.items() if kind in kinds), "results")


class Proof(Value):
    """All of it. `at`: when it began. `dirty`: with uncommitted changes. `notes`: sentences about what was left out.

    `partial`: why not all mutants, or not all scenarios, were run; '' if they were.
    """

    sha: str
    at: float = 0.0
    dirty: bool = False
    partial: str = ""
    tools: tuple[ToolProof, ...]
    notes: tuple[str, ...] = ()
    trials: int = 0
    seconds: float = 0.0

    @property
    def mutants(self) -> tuple[MutantResult, ...]:
        """The mutants of all tools."""
        return tuple(one for tool in self.tools for one in tool.mutants)

    def count(self, *states: str) -> int:
        """Return how many mutants are in one of these states."""
        return sum(one.state in states for one in self.mutants)

    @property
    def share(self) -> float | None:
        """How much of the tools is protected, by their parts; None if no mutant was decided."""
        return share_of(self.mutants)
