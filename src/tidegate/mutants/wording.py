"""Why a mutant is alive, in words."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.mutant import Mutant


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
