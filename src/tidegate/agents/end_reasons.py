"""How an agent's program ended: its own last word and its exit status together."""

from __future__ import annotations

from tidegate.model.command import CommandResult
from tidegate.model.event import End


def own_end(told: End | None, result: CommandResult) -> End:
    """The program's own last word; it completed only if its exit status says so too."""
    if told is None:
        return End(end="crashed", message=f"ended without an end event, {how(result)}")
    if told.end == "completed" and not result.ok:
        return told.model_copy(update={"end": "crashed", "message": f"said completed, but {how(result)}"})
    return told


def how(result: CommandResult) -> str:
    """How the program ended, with its last word on stderr."""
    return ": ".join([result.how_it_ended(), *result.stderr.strip().splitlines()[-1:]])
