"""Compare the estimate of unseen behaviour with the truth, for simulated agents whose unseen mass is known.

    python benchmarks/bench_unseen.py

Each agent takes one of its ways in a session; a way has a call shape of its own. Prints the table of docs/replay.md.
"""

from __future__ import annotations

from random import Random
from statistics import fmean

from tidegate.invocations.shapes import unseen_share

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


if __name__ == "__main__":
    main()
