"""What `tidegate prove` finds: how much of the tool the suite uses, which mutants it catches, and its false alarms."""

from __future__ import annotations

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


class AlikeSides(Value):
    """Pull requests that change nothing: how many were run, blocked, and had a row that was left unconfirmed."""

    runs: int
    blocked: int = 0
    unconfirmed: int = 0
    trials: int = 0


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


class NewlyAlive(Value):
    """A mutant that is alive and was not in an earlier proof."""

    words: str
    why: str


class ProofTrend(Value):
    """What differs from an earlier proof: its commit, time and share, and what is newly alive or caught.

    `partial`: as in the earlier proof.
    """

    sha: str
    at: float
    share: float | None
    decided: int
    partial: str = ""
    alive: tuple[NewlyAlive, ...] = ()
    caught: int = 0


# What people call and read, and what options do; all other kinds are about results.
_SURFACE = frozenset(
    (
        *("option_removed", "option_renamed", "option_required", "alias_removed", "options_first", "value_refused"),
        *("argument_refused", "subcommand_removed", "subcommand_renamed", "help_dropped", "section_dropped"),
        *("example_dropped", "flag_misspelt", "subcommand_misspelt", "tool_removed", "tool_renamed"),
        *("parameter_renamed", "parameter_required", "description_emptied"),
    )
)
_OPTIONS = frozenset(("option_ignored", "value_swapped", "default_changed"))


def share_of(results: Iterable[MutantResult]) -> float | None:
    """Return how much of the tool is protected: the mean of its results, its options and its surface; None if unknown.

    In each of these, a part counts once, however many mutants it has: two thirds are behaviour, as of real breakages.
    """
    parts: dict[str, dict[tuple[str, str], list[bool]]] = {}
    for one in results:
        if one.state in ("caught", "alive", "not_reached"):
            kind = one.mutant.kind
            group = "surface" if kind in _SURFACE else "options" if kind in _OPTIONS else "results"
            own = parts.setdefault(group, {}).setdefault((one.mutant.command, one.mutant.name), [])
            own.append(one.state == "caught")
    means = [fmean(fmean(own) for own in group.values()) for group in parts.values()]
    return fmean(means) if means else None


class Proof(Value):
    """All of it. `at`: when it began. `dirty`: with uncommitted changes. `notes`: sentences about what was left out.

    `partial`: why not all mutants, or not all scenarios, were run; '' if they were.
    """

    sha: str
    at: float = 0.0
    dirty: bool = False
    partial: str = ""
    trend: ProofTrend | None = None
    tools: tuple[ToolProof, ...]
    alike: AlikeSides | None = None
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
    def decided(self) -> int:
        """The number of mutants that change something and were decided."""
        return self.count("caught", "alive", "not_reached")

    @property
    def share(self) -> float | None:
        """How much of the tools is protected, by their parts; None if no mutant was decided."""
        return share_of(self.mutants)
