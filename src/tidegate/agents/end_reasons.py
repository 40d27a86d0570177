"""How an agent's program ended, from its own report and its exit status."""

from __future__ import annotations

from tidegate.model.command import CommandResult
from tidegate.model.event import End


def own_end(told: End | None, result: CommandResult) -> End:
    """Return the end that the program reports. It counts as completed only if the exit status is 0 too."""
    if told is None:
        return End(end="crashed", message=f"ended without an end event, {how(result)}")
    if told.end == "completed" and not result.ok:
        return told.model_copy(update={"end": "crashed", "message": f"said completed, but {how(result)}"})
    return told


def how(result: CommandResult) -> str:
    """Return how the program ended, with its last line on stderr."""
    return ": ".join([result.how_it_ended(), *result.stderr.strip().splitlines()[-1:]])
