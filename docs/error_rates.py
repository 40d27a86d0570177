"""Writes docs/error-rates.md: the shipped procedure, measured on simulated suites."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tidegate.authoring.simulate import Cell, Gate, Situation, drifts, simulate, situations
from tidegate.procedure.rules import Rules

PAGE = Path(__file__).parent / "error-rates.md"
MIXED = (1.0,) * 5 + (0.95,) * 5 + (0.8,) * 5 + (0.5,) * 5
STABLE = (1.0,) * 14 + (0.95,) * 4 + (0.8,) * 2
GATES = {
    "quick": Gate(1),
    "standard": Gate(3),
    "thorough": Gate(5),
    "standard, `suite: block`": Gate(3, rules=Rules(suite="block")),
    "standard, alpha 0.01": Gate(3, rules=Rules(alpha=0.01)),
    "standard, alpha 0.05": Gate(3, rules=Rules(alpha=0.05)),
    "standard, 10 trials of history": Gate(3, history=10),
    "standard, no history": Gate(3, history=0),
}
ALIKE = (0.5, 0.7, 0.8, 0.9, 0.95)
HEAD = """\
# Error rates

Written by `make error-rates` with the code that judges pull requests: {count} simulated ones a cell. Chance makes them
differ by two tenths of a point near 0.4, by 1.3 points near 80. *Mixed*: 20 scenarios, five each with a base success
rate of 1.0, 0.95, 0.8 and 0.5. *Stable*: 14 of 1.0, 4 of 0.95, 2 of 0.8. All with 40 trials of history
if not said otherwise.
"""


ALONE = """\
## What costs power without history

With a history a verification has up to ten fresh base trials. Without one, base and head are tried in pairs, there
too: base has as many fresh trials as head. Up to ten base trials would change next to nothing where two drop by 50
points (44.6 in place of 44.7 on the mixed suite, 47.6 in place of 48.4 on the stable one; chance makes them differ by
a point), and would cost four trials more where one fails completely. What costs power is the level, half of what it is
with a history: at the whole level the two would be 54.0 and 58.1, and 0.8 in place of 0.3 of the clean pull requests
of the mixed suite would be blocked. Ten trials of history do better than either.
"""
REAL = """\
## With real processes and real git

`make real-rates` judges a population of pull requests by `tidegate pr`, each with draws of its own: the `scripted`
agent, and ten scenarios with 40 trials of history, of which three pass every time, three in 0.95, two in 0.8 and two
in 0.5 of all trials. As measured in November 2026, in two runs of half the size each, with other draws:

| pull requests | blocked | |
|---|---|---|
| 200 clean ones | 1 | 33.5 trials each |
| 20 with a scenario that fails completely | 20 | each names it; 26 trials each |
| 20 after a change that breaks a scenario on base and head alike | 0 | each says that baseline changed |
"""


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--prs", type=int, default=4000, help="a cell")
    count = parser.parse_args().prs
    began = time.monotonic()
    with ProcessPoolExecutor() as pool:
        PAGE.write_text("\n".join(_page(pool, count)), encoding="utf-8")
    print(f"{PAGE.name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


def _page(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield HEAD.format(count=f"{count:,}")
    names = [situation.name for situation in situations(MIXED)]
    for title, rates in (("Mixed suite", MIXED), ("Stable suite", STABLE)):
        yield f"## {title}\n\nShare of pull requests blocked, in percent, where …\n"
        yield _table("| policy | trials of a clean one |", names)
        for gate_name, gate in GATES.items():
            cells = list(_cells(pool, situations(rates), gate, count))
            yield f"| {gate_name} | {cells[0].trials:.1f} | " + " | ".join(_percent(cell) for cell in cells) + " |"
        yield ""
    yield "## False alarms where the provider drifts\n"
    yield "After the history was made, both sides are hit alike: nothing may be blocked. Standard preset, in percent.\n"
    yield _table("| suite |", [situation.name.removeprefix("drift: ") for situation in drifts(MIXED)])
    for title, rates in (("mixed", MIXED), ("stable", STABLE)):
        cells = list(_cells(pool, drifts(rates), Gate(3), count))
        yield f"| {title} | " + " | ".join(_percent(cell) for cell in cells) + " |"
    yield "\n## False alarms where all scenarios are alike\n"
    yield "Suites of 20 scenarios of one success rate, standard preset, in percent.\n"
    yield _table("| history |", [f"{rate:g}" for rate in ALIKE])
    for history in (40, 10, 0):
        alike = [Situation.of(f"all {rate:g}", (rate,) * 20) for rate in ALIKE]
        cells = list(_cells(pool, alike, Gate(3, history), count))
        yield f"| {history or 'none'} | " + " | ".join(_percent(cell) for cell in cells) + " |"
    yield ""
    yield ALONE
    yield REAL.rstrip("\n")
    yield ""


def _cells(pool: ProcessPoolExecutor, cases: list[Situation], gate: Gate, count: int) -> Iterator[Cell]:
    yield from pool.map(simulate, cases, [gate] * len(cases), [count] * len(cases))


def _table(first: str, columns: list[str]) -> str:
    head = f"{first} {' | '.join(columns)} |"
    return f"{head}\n|{'---|' * (head.count('|') - 1)}"


def _percent(cell: Cell) -> str:
    return f"{100 * cell.blocked:.1f}"


if __name__ == "__main__":
    sys.exit(main())
