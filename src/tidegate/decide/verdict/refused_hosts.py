"""The hosts that trials asked for and could not reach, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidegate.model.measurement import TrialResult

MOST_NAMED = 4


def refused_hosts(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield a sentence for each step whose processes asked for hosts that `network` does not list."""
    asked = sorted({(one.step, one.host) for trial in trials for one in trial.refused_hosts})
    for step in dict.fromkeys(step for step, _ in asked):
        hosts = [host for one, host in asked if one == step]
        asking = [trial for trial in trials if any(one.step == step for one in trial.refused_hosts)]
        sides = {trial.side for trial in asking}
        said = f"{len(asking)} trial{'s' if len(asking) > 1 else ''}"
        said += "" if len(sides) > 1 else f" of {sides.pop()}"
        named = ", ".join(hosts[:MOST_NAMED])
        more = f" and {len(hosts) - MOST_NAMED} more" if len(hosts) > MOST_NAMED else ""
        yield (
            f"{said} asked for {named}{more}, which `network.{step}` does not list. If the tool needs that, write"
            f" `network: {{{step}: [{named}]}}` in tidegate.yaml of the base branch"
        )
