"""The warnings of a result: weak rows, and what trials lacked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tidegate.model.run_row import Weakness

if TYPE_CHECKING:
    from tidegate.model.comparison import Note
    from tidegate.model.measurement import TrialResult

_NAMED = 5  # rows that a warning names
_HOSTS = 4  # hosts that a warning names


def notes_text(notes: Iterable[Note]) -> Iterator[str]:
    """Yield each note as a sentence, after the first rows that it is about."""
    for note in notes:
        names = [str(key) for key in note.rows[:_NAMED]]
        more = f" and {len(note.rows) - _NAMED} more" if len(note.rows) > _NAMED else ""
        yield f"{', '.join(names)}{more}: {_sentence(note)}" if names else _sentence(note)


def _sentence(note: Note) -> str:
    match note.code:
        case "stored":
            return "a one-shot comparison of stored runs: no trial could be asked for to confirm what was seen"
        case "interrupted":
            return f"the run of {note.ref} was interrupted: only the trials that had finished are compared"
        case "demoted":
            return "declared deterministic, but its repeats disagree: compared by its pass rates instead"
        case "never_passes":
            return "passes on neither side, so it cannot show a regression"
        case "new_fails":
            return "new, and no trial passes"
        case "never_called":
            return "the target was never called"
        case "crashed":
            return "the agent crashed in {} of {} trials on head".format(*note.crashed)
        case "shows_little":
            return weakness_text(note.weakness) if note.weakness else ""


def weakness_text(found: Weakness) -> str:
    """Return how little a row shows, and what can help."""
    share = f"a complete failure would be found in about {found.found:.0%} of runs, as base passes {found.rate:.0%}"
    return f"{share}; more trials of history or a higher trials.min help, or a scenario that passes more often"


def trials_text(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield the warnings about what trials lacked."""
    yield from _not_reached(trials)
    yield from refused_hosts(trials)


def _not_reached(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield a warning with the number and estimated price of the trials that the budget left out."""
    left = sum(trial.not_measured == "budget" for trial in trials)
    costs = [trial.metrics.cost_usd for trial in trials if trial.outcome and trial.metrics.cost_usd is not None]
    if left:
        price = f", about ${left * sum(costs) / len(costs):.2f}" if costs else ""
        yield f"the budget was used up; what it left without an outcome would take {left} more trials{price}"


def refused_hosts(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield a sentence for each step whose processes asked for hosts that `network` does not list."""
    asked = sorted({(one.step, one.host) for trial in trials for one in trial.refused_hosts})
    for step in dict.fromkeys(step for step, _ in asked):
        hosts = [host for one, host in asked if one == step]
        asking = [trial for trial in trials if any(one.step == step for one in trial.refused_hosts)]
        sides = {trial.side for trial in asking}
        some = f"{len(asking)} trial{'s' if len(asking) > 1 else ''}"
        some += "" if len(sides) > 1 else f" of {sides.pop()}"
        named = ", ".join(hosts[:_HOSTS])
        more = f" and {len(hosts) - _HOSTS} more" if len(hosts) > _HOSTS else ""
        yield (
            f"{some} asked for {named}{more}, which `network.{step}` does not list. If the tool needs that, write"
            f" `network: {{{step}: [{named}]}}` in tidegate.yaml of the base branch"
        )
