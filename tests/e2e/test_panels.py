"""A panel of judges end to end: `judge: [a, b, c]`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import FILES
from tests.e2e.test_judges import FEWER, JUDGED, SCENARIO

Make = Callable[..., Any]
PANEL = "".join(
    f"  - {{type: scripted, model: {name}, script: [{{when: 'add second', answers: [{{scores: {good}}}]}},"
    f" {{answers: [{{scores: {bad}}}]}}]}}\n"
    for name, good, bad in (
        ("one", "{complete: 1, clear: 1, direct: 1}", "{complete: 0.2, clear: 1, direct: 1}"),
        ("two", "{complete: 0.8, clear: 1, direct: 0.6}", "{complete: 0, clear: 0.8, direct: 1}"),
        ("three", "{complete: 0.9, clear: 0.7, direct: 0.1}", "{complete: 0.9, clear: 0.9, direct: 1}"),
    )
)
FILES_OF_PANEL = JUDGED | {"tidegate.yaml": FILES["tidegate.yaml"] + "judge:\n" + PANEL}


def test_three_judges_are_asked_and_their_median_counts(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES_OF_PANEL)
    repo.branch("fewer", FEWER)

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    base, head = ran.result["trials"]
    assert base["judge"]["scores"] == {"complete": 0.9, "clear": 1, "direct": 0.6}
    assert base["judge"]["weighted_score"] == pytest.approx(0.3 * 0.9 + 0.4 * 1 + 0.3 * 0.6)
    assert head["judge"]["scores"] == {"complete": 0.2, "clear": 0.9, "direct": 1}
    assert [one["model"] for one in head["judge"]["judgement"]["panel"]] == ["one", "two", "three"]
    assert (ran.result["judge"]["judge"]["panel"], ran.result["judge"]["calls"]) == (["one", "two", "three"], 6)
    # Met at 0.7: base's `direct` is yes, no, no, and head's `complete` no, no, yes: 4 of 6 are agreed by all.
    assert ran.result["judge"]["panel_agreement"] == pytest.approx((4 * 3 + 2) / 18)
    assert "the judges agree 78" in ran.comment


def test_a_panel_that_judges_a_tested_model_is_found_by_check(make_repository: Make, tidegate: Make) -> None:
    """Dates and providers do not make a model another one."""
    repo = make_repository()
    suite = FILES_OF_PANEL["tidegate.yaml"].replace(
        "doc-follower}", "doc-follower, model: anthropic/claude-x-1-20260131}"
    )
    repo.commit(FILES_OF_PANEL | {"tidegate.yaml": suite.replace("model: two", "model: us.anthropic.claude-x-1-v1:0")})

    ran = tidegate("check", cwd=repo.root)

    assert ran.code == 2
    assert "tidegate.yaml:8:29: judge[1].model: the judge's model, us.anthropic.claude-x-1-v1:0, is" in ran.stderr


def test_a_model_sits_in_a_panel_once(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    suite = FILES_OF_PANEL["tidegate.yaml"].replace("model: three", "model: lab/one")
    repo.commit(FILES_OF_PANEL | {"tidegate.yaml": suite})

    ran = tidegate("check", cwd=repo.root)

    assert ran.code == 2
    assert "judge[2].model: lab/one is already a judge of this panel" in ran.stderr


def test_a_panel_is_calibrated(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES_OF_PANEL | {"scenarios/keep.yaml": SCENARIO})
    repo.branch("fewer", FEWER)
    tidegate("pr", "--base", "main", cwd=repo.root)
    labels = repo.root.parent / "labels.jsonl"
    said = {"complete": "unmet", "clear": "met", "direct": "unmet"}
    lines = [{"trial": "head/keep_notes/docs/1", "criterion": name, "verdict": one} for name, one in said.items()]
    labels.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    ran = tidegate("calibrate", str(labels), "--run", str(repo.root.parent / "out"), cwd=repo.root)

    assert ran.code == 0, ran.stderr
    found = json.loads((repo.root / "tidegate.calibration.json").read_text())
    assert found["model"] == "one + two + three"
    assert {one["model"]: one["table"]["unmet/met"] for one in found["judges"]} == {"one": 1, "two": 1, "three": 2}
    assert "three alone: agrees in 33%" in ran.stdout
