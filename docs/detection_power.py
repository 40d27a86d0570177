"""Writes src/tidegate/procedure/detection_power.py: how likely one row's drop is found, by simulation."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

from tidegate.authoring.simulate import Gate, Situation, simulate

MODULE = Path(__file__).parent.parent / "src" / "tidegate" / "procedure" / "detection_power.py"
RATES = (1.0, 0.95, 0.8, 0.6, 0.5, 0.4, 0.3)
HISTORIES = (0, 10, 20, 40)
SCREENINGS = (1, 3, 5, 10)
DROPS = (0.1, 0.2, 0.3, 0.5, 1.0)
HEAD = '''"""Detection power of one screened row at alpha 0.02. Written by docs/detection_power.py.

Each number is the share found of {count} simulated pull requests.
"""

from __future__ import annotations

DROPS = {drops}
# (base rate, trials of history, screening trials): the share of regressions found, for each of DROPS
POWER: dict[tuple[float, int, int], tuple[float, ...]] = {{
'''


def main() -> int:
    """Write the module."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--prs", type=int, default=2000, help="simulated pull requests per number")
    count = parser.parse_args().prs
    places = list(product(RATES, HISTORIES, SCREENINGS))
    with ProcessPoolExecutor() as pool:
        powers = list(pool.map(_powers, places, [count] * len(places)))
    lines = [f"    {place}: {power},\n" for place, power in zip(places, powers, strict=True)]
    MODULE.write_text("".join([HEAD.format(count=count, drops=DROPS), *lines, "}\n"]), encoding="utf-8")
    return 0


def _powers(place: tuple[float, int, int], count: int) -> tuple[float, ...]:
    rate, history, screening = place
    gate = Gate(screening, history)
    cases = [Situation.of(f"{rate}-{drop}", (rate,), (max(0.0, rate - drop),)) for drop in DROPS]
    return tuple(round(simulate(case, gate, count).named, 2) for case in cases)


if __name__ == "__main__":
    sys.exit(main())
