"""badge.json, as shields.io reads it."""

from __future__ import annotations

import json

import pytest

from tests.unit.reports.conftest import trial
from tests.unit.reports.test_show import run_of
from tidegate.model.measurement import TrialResult
from tidegate.reports.badge import badge_json

PASS, FAIL = trial("a", "head", 1, "pass"), trial("a", "head", 2, "fail")
OTHER = trial("b", "head", 1, "pass")
LOST = PASS.model_copy(update={"decides": None})


@pytest.mark.parametrize(
    ("trials", "message", "color"),
    [
        ((PASS, OTHER), "100% of 2 scenarios", "brightgreen"),
        ((PASS, FAIL, OTHER), "75% of 2 scenarios", "yellow"),
        ((FAIL,), "0% of 1 scenario", "red"),
        ((PASS, LOST), "100% of 1 scenario", "brightgreen"),
        ((LOST,), "not measured", "lightgrey"),
        ((), "not measured", "lightgrey"),
    ],
)
def test_the_badge_says_how_much_passes(trials: tuple[TrialResult, ...], message: str, color: str) -> None:
    badge = json.loads(badge_json(run_of(*trials)))
    assert badge == {"schemaVersion": 1, "label": "agents pass", "message": message, "color": color}
