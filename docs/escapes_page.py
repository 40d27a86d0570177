"""The generated table in docs/security.md: what programs in a trial try to reach, what stops them, and what remains.

It is read from tests/thorough/escapes/table.py, which the tests hold to what real machines do.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.thorough.escapes.table import AREAS, OPEN, ROLES, WAYS  # noqa: E402

START = "<!-- escapes: written by `make docs` from tests/thorough/escapes/table.py -->\n"
END = "<!-- end of escapes -->\n"


def escapes(page: str) -> str:
    """Return the page with its table."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    head = f"| on what | attempts | {' | '.join(WAYS.values())} |\n"
    lines = "".join(_line(area) for area in AREAS)
    count = sum(count for count, *_ in AREAS.values())
    text = f"{count} attempts, each in the role of {', '.join(ROLES[:-1])} and {ROLES[-1]}.\n\n"
    return f"{before}{START}\n{text}{head}{'|---' * (2 + len(WAYS))}|\n{lines}\n{END}{after}"


def _line(area: str) -> str:
    count, what, *stops = AREAS[area]
    cells = []
    for way, stop in zip(WAYS, stops, strict=True):
        remains = [f"{', '.join(one.names)} ({one.why})" for one in OPEN if one.area == area and way in one.ways]
        cells.append(f"{stop}. Remains: {'; '.join(remains)}" if remains else f"{stop}. Nothing remains")
    return f"| {what} | {count} | {' | '.join(cells)} |\n"
