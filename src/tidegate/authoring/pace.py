"""How much longer everything takes on this machine than on one without other work."""

from __future__ import annotations

import os
from functools import cache

MOST_SLOW = 3.0  # times


@cache
def slowness() -> float:
    """Return how many times longer everything takes here than on a machine without other work, MOST_SLOW at most.

    It is that of the first call: later, the load is also that of what is tried.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return min(MOST_SLOW, max(1.0, load / (os.cpu_count() or 1)))
