"""A run → badge.json, what shields.io's endpoint badge reads (https://shields.io/badges/endpoint-badge)."""

from __future__ import annotations

import json

from tidegate.model.measurement import Run
from tidegate.model.plan import RowKey
from tidegate.reports.filters import count, percent

LABEL = "agents pass"
_COLOURS = ((0.95, "brightgreen"), (0.85, "green"), (0.70, "yellow"), (0.50, "orange"), (0.0, "red"))


def badge_json(run: Run) -> str:
    """The mean success rate of the rows that were measured; a run without one has no colour to be proud of."""
    rows: dict[RowKey, list[bool]] = {}
    for trial in run.trials:
        if trial.decides is not None:
            rows.setdefault(trial.key, []).append(trial.decides == "pass")
    if rows:
        rate = sum(sum(passed) / len(passed) for passed in rows.values()) / len(rows)
        message = f"{percent(rate)} of {count(len({key.scenario for key in rows}), 'scenario')}"
        colour = next(colour for limit, colour in _COLOURS if rate >= limit)
    else:
        message, colour = "not measured", "lightgrey"
    badge = {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
    return json.dumps(badge, indent=2) + "\n"
