"""Compare the estimate of unseen behaviour with the truth, for simulated agents whose unseen mass is known.

    python benchmarks/bench_unseen.py

Each agent takes one of its ways in a session; a way has a call shape of its own. Prints two tables:
the estimate, and what `use: skip` loses of the pull requests that break one way.
"""

from __future__ import annotations

from functools import cache
from random import Random
from statistics import fmean

from tidegate.agents.invocations.shapes import unseen_share
from tidegate.decide.procedure.rules import Facts
from tidegate.lab.simulate import Gate, Situation, judge
from tidegate.run.replays import MOST

TAIL = [1 / k for k in range(1, 101)]
AGENTS = {
    "one way": [1.0],
    "three equal ways": [1 / 3] * 3,
    "ten equal ways": [0.1] * 10,
    "a main way, and 20 rare ones of 1 % each": [0.8] + [0.01] * 20,
    "a long tail: way k in proportion to 1/k, k up to 100": [one / sum(TAIL) for one in TAIL],
    "never the same twice": [1 / 10_000] * 10_000,
}
SESSIONS = (5, 10, 40)
REPEATS = 1000
LIMIT = 0.2  # the default of `max_unseen`


BOUNDS = (0.05, 0.1, 0.2)
KNOWN = (10, 20, 40)  # trials of base
DECIDED = 300  # runs of the procedure for each success rate


@cache
def found(rate: float, known: int, *, failing: bool) -> float:
    """Return how often the procedure finds a head with that success rate, of a base that always passes."""
    situation, facts = Situation.of("broken", (1.0,), (rate,)), [Facts((known, known), failing=failing)]
    chance = Random(f"{rate}/{known}/{failing}")
    return sum(bool(judge(situation, Gate(), facts, chance).regressed) for _ in range(DECIDED)) / DECIDED


def lost(ways: list[float], known: int, chance: Random) -> list[float]:
    """Return how often a broken way is found in one pull request: with agents alone, with replays, and by bound.

    The broken way is the one that a new session would take. Spot checks are left out: they find some of the rest.
    """
    taken = chance.choices(range(len(ways)), ways, k=known)
    (broken,) = chance.choices(range(len(ways)), ways)
    rate = round(1 - ways[broken], 2)
    differs = broken in taken[:MOST]
    alone, replayed = found(rate, known, failing=False), found(rate, known, failing=differs)
    estimate = unseen_share([(str(way),) for way in taken])
    return [alone, replayed, *(0.0 if estimate <= bound and not differs else replayed for bound in BOUNDS)]


def print_lost() -> None:
    """Print what `skip` loses, one line per agent and number of trials of base."""
    bounds = " | ".join(f"`skip`, `max_unseen` {bound}" for bound in BOUNDS)
    print(f"| agent | trials of base | agents alone | `order` | {bounds} |")
    print("|---" * (4 + len(BOUNDS)) + "|")
    for name, ways in AGENTS.items():
        for known in KNOWN:
            chance = Random(f"{name}/{known}/lost")
            shares = zip(*(lost(ways, known, chance) for _ in range(REPEATS)), strict=True)
            print(f"| {name} | {known} | {' | '.join(f'{fmean(share):.1%}' for share in shares)} |", flush=True)


def main() -> None:
    """Print one line per agent and number of sessions."""
    print("| agent | sessions | unseen mass, mean | estimate, mean | estimate ≤ 0.2 | … and unseen mass > 0.3 |")
    print("|---|---|---|---|---|---|")
    for name, ways in AGENTS.items():
        for count in SESSIONS:
            chance = Random(f"{name}/{count}")
            truths, estimates = [], []
            for _ in range(REPEATS):
                taken = chance.choices(range(len(ways)), ways, k=count)
                truths.append(1 - sum(ways[way] for way in set(taken)))
                estimates.append(unseen_share([(str(way),) for way in taken]))
            below = [truth for truth, estimate in zip(truths, estimates, strict=True) if estimate <= LIMIT]
            wrong = sum(truth > LIMIT + 0.1 for truth in below)
            numbers = (
                f"{fmean(truths):.3f} | {fmean(estimates):.3f} | {len(below) / REPEATS:.1%} | {wrong / REPEATS:.1%}"
            )
            print(f"| {name} | {count} | {numbers} |")
    print()
    print_lost()


if __name__ == "__main__":
    main()
