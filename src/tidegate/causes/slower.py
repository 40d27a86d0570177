"""A call that takes several times as long on head as on base."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tidegate.causes.seen import Found, command_line
from tidegate.model.measurement import Call, TrialResult

FACTOR = 2.0  # the fastest on head against the slowest on base
LEAST_S = 0.3  # seconds that the fastest on head takes more
SAMPLES = 2  # calls of each side, at least


def slower(trials: Iterable[TrialResult], *, samples: int = SAMPLES) -> Found | None:
    """Return the call whose every run on head is slower than every run on base by the factor; the worst first."""
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"base": [], "head": []})
    calls: dict[str, Call] = {}
    for trial in trials:
        for call in trial.calls:
            if call.status == "ok" and call.duration_s is not None:
                times[call.command][trial.side].append(call.duration_s)
                calls[call.command] = call
    found = [
        (min(took["head"]) - max(took["base"]), command)
        for command, took in times.items()
        if min(len(took["base"]), len(took["head"])) >= samples and _is_slower(took["base"], took["head"])
    ]
    if not found:
        return None
    took = times[max(found)[1]]
    base, head = (sorted(took[side])[len(took[side]) // 2] for side in ("base", "head"))
    by = f"{head / base:.0f}×" if base > 0 else "much"
    says = f"`{command_line(calls[max(found)[1]])}` is {by} slower: {base:.1f} s on base, {head:.1f} s on head"
    return Found("slow", says)


def _is_slower(base: list[float], head: list[float]) -> bool:
    return min(head) >= FACTOR * max(base) and min(head) - max(base) >= LEAST_S
