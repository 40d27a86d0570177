"""The shape of a call: what it asks for, without its data. How likely is it that a new session has a new shape?"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Sequence

from tidegate.model.measurement import TrialResult

_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
Shapes = tuple[str, ...]


def call_shape(argv: Sequence[str]) -> str:
    """Return the subcommand and the set of options: `add --priority`; of an MCP call the tool and its keys."""
    given = list(argv)
    name = next((word for word in given if word and not word.startswith("-")), "")
    if len(given) == 2 and given[1].startswith("{"):
        return " ".join([name, *sorted(_keys(given[1]))])
    options = {match[0] for word in given if (match := _OPTION.match(word)) is not None}
    return " ".join([name, *sorted(options)])


def shapes_of(trial: TrialResult) -> Shapes | None:
    """Return the shapes of a trial's calls of the tool under test, each once; None if its calls are not known."""
    if trial.invocations.uses is None:
        return None
    return tuple(sorted({call_shape(_words(call.command)[1:]) for call in trial.calls}))


def unseen_share(sessions: Sequence[Shapes], more: int = 0) -> float:
    """Return the chance that a new session makes a call whose shape no known one has.

    It is estimated by leaving each session out in turn: (k + ½)/(n + 1), where k of n sessions have a shape that no
    other has (a form of Good and Turing's estimate). `more` is added to k.
    """
    seen = Counter(shape for shapes in sessions for shape in set(shapes))
    alone = sum(any(seen[shape] == 1 for shape in shapes) for shapes in sessions)
    return min(1.0, (alone + more + 0.5) / (len(sessions) + 1))


def subcommands_of(sessions: Sequence[Shapes]) -> frozenset[str]:
    """Return the subcommands that the sessions call, without their own subcommands."""
    return frozenset(shape.partition(" ")[0] for shapes in sessions for shape in shapes)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _keys(text: str) -> list[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return list(value) if isinstance(value, dict) else []
