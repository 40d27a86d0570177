"""Render a run as badge.json, the input of shields.io's endpoint badge (https://shields.io/badges/endpoint-badge)."""

from __future__ import annotations

import json

from tidegate.model.measurement import Run, by_row
from tidegate.reports.filters import count, percent

LABEL = "agents pass"
_COLOURS = ((0.95, "brightgreen"), (0.85, "green"), (0.70, "yellow"), (0.50, "orange"), (0.0, "red"))


def badge_json(run: Run) -> str:
    """Return badge.json with the mean success rate of the measured rows; grey if none was measured."""
    rows = by_row(trial for trial in run.trials if trial.decides is not None)
    if rows:
        rates = [sum(trial.decides == "pass" for trial in trials) / len(trials) for trials in rows.values()]
        rate = sum(rates) / len(rates)
        message = f"{percent(rate)} of {count(len({key.scenario for key in rows}), 'scenario')}"
        colour = next(colour for limit, colour in _COLOURS if rate >= limit)
    else:
        message, colour = "not measured", "lightgrey"
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}, indent=2) + "\n"
