"""A panel of judges end to end: `judge: [a, b, c]`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES
from tests.journeys.test_judges import FEWER, JUDGED, SCENARIO
from tests.model_server import Step, serving

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
    assert "the judge's model, us.anthropic.claude-x-1-v1:0, is the one that docs is tested with" in ran.stderr


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


def test_models_of_three_providers_are_one_panel(make_repository: Make, tidegate: Make) -> None:
    """Every provider is asked by its own API with its own key, its cost is counted, and each is calibrated."""
    with serving([]) as server:
        server.judge = lambda body: Step(json.dumps({"scores": {"complete": _seen(body), "clear": 1, "direct": 1}}))
        judges = (
            "  - {type: anthropic, model: claude-sonnet-4-6, "
            f"provider: {{type: anthropic, base_url: '{server.url}'}}}}\n"
            f"  - {{type: openai, model: gpt-5.5, provider: {{type: openai, base_url: '{server.url}/v1'}}}}\n"
            f"  - {{type: google, model: gemini-3, provider: {{type: gemini, base_url: '{server.url}'}}}}\n"
        )
        repo = make_repository()
        suite = FILES["tidegate.yaml"] + "judge:\n" + judges + "prices: builtin\n"
        repo.commit(JUDGED | {"tidegate.yaml": suite, "scenarios/keep.yaml": SCENARIO})
        repo.branch("fewer", FEWER)
        keys = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}
        ran = tidegate("pr", "--base", "main", cwd=repo.root, env=keys)

    base, head = ran.result["trials"]
    assert [one["scores"]["complete"] for one in base["judge"]["judgement"]["panel"]] == [1, 1, 1]
    assert [one["scores"]["complete"] for one in head["judge"]["judgement"]["panel"]] == [0, 0, 0]
    assert sorted(path.rpartition("/")[2] for path, _, _ in server.requests) == sorted(
        2 * ["messages", "responses", "gemini-3:generateContent"]
    )
    # Of each trial: 150 · $3 + 20 · $15 and 100 · $5 + 20 · $30 per million; the third model has no known price.
    assert ran.result["judge"]["usd"] == pytest.approx(2 * (0.00075 + 0.0011))
    labels = repo.root.parent / "labels.jsonl"
    labels.write_text('{"trial": "head/keep_notes/docs/1", "criterion": "complete", "verdict": "met"}\n')
    assert tidegate("calibrate", str(labels), "--run", str(repo.root.parent / "out"), cwd=repo.root).code == 0
    assert (repo.root / "tidegate.calibration.json").is_file()


def _seen(body: dict[str, Any]) -> int:
    return int("add second" in json.dumps(body))
