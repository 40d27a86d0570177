"""`select_best`: the judge chooses the best of a row's trials, and the choice is reported and calibrated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import FILES
from tests.e2e.test_judges import FEWER, JUDGED, SCENARIO

Make = Callable[..., Any]
JUDGE = """\
import json, re, sys
prompt = sys.stdin.read()
if "Choose the one that meets" in prompt:
    works = re.findall(r"Number \\d+:\\n(.*?)</data", prompt, re.S)
    print(json.dumps({"reason": "It has both notes.", "best": CHOICE}))
else:
    print(json.dumps({"scores": {"complete": 1, "clear": 1, "direct": 1}}))
"""
BY_CONTENT = "[n for n, work in enumerate(works, 1) if 'add second' in work][0]"


def compared(choice: str, make_repository: Make, tidegate: Make) -> tuple[Any, Any]:
    repo = make_repository()
    suite = FILES["tidegate.yaml"] + (
        "judge: {type: command, model: m, command: python3 judge.py, select_best: true}\n"
    )
    judge = JUDGE.replace("CHOICE", choice)
    repo.commit(JUDGED | {"tidegate.yaml": suite, "scenarios/keep.yaml": SCENARIO, "judge.py": judge})
    repo.branch("fewer", FEWER)
    return repo, tidegate("pr", "--base", "main", cwd=repo.root)


def chosen(ran: Any) -> dict[str, Any]:
    """The result `select_best` of each side's only trial."""
    return {
        trial["side"]: next(one for one in trial["evaluators"] if one["name"] == "select_best")
        for trial in ran.result["trials"]
    }


def test_the_best_trial_is_the_one_with_both_notes(make_repository: Make, tidegate: Make) -> None:
    repo, ran = compared(BY_CONTENT, make_repository, tidegate)

    found = chosen(ran)
    assert {side: one["score"] for side, one in found.items()} == {"base": 1, "head": 0}
    assert found["base"]["reason"] == "It has both notes."
    assert found["head"]["reason"] == "another trial of the row is the best"
    assert ran.result["judge"]["calls"] == 2 + 2  # a rubric for each trial, and the choice in two orders
    assert "select_best 1.00 → 0.00" in ran.comment
    assert ran.code == 0

    labels = repo.root.parent / "labels.jsonl"
    marks = {"base": "met", "head": "met"}
    labels.write_text(
        "".join(
            json.dumps({"trial": f"{side}/keep_notes/docs/1", "criterion": "select_best", "verdict": mark}) + "\n"
            for side, mark in marks.items()
        )
    )
    done = tidegate("calibrate", str(labels), "--run", str(repo.root.parent / "out"), cwd=repo.root)
    assert done.code == 0, done.stderr
    table = json.loads((repo.root / "tidegate.calibration.json").read_text())["table"]
    assert table == {"met/met": 1, "met/unmet": 1, "unmet/met": 0, "unmet/unmet": 0}

    stored = repo.root.parent / "out" / "runs" / "base"
    assert regraded(stored, "again", repo, tidegate) == [found["base"]]
    rubric = repo.root / "scenarios" / "rubrics" / "notes.yaml"
    rubric.write_text(rubric.read_text().replace("description: ", "description: Reworded. ", 1))
    assert regraded(stored, "reworded", repo, tidegate) == []


def regraded(stored: Path, out: str, repo: Any, tidegate: Make) -> list[dict[str, Any]]:
    """The results `select_best` of a stored run that is graded again."""
    again = tidegate("regrade", str(stored), "--out", str(repo.root.parent / out), "--json", cwd=repo.root)
    assert again.code == 0, again.stderr
    (trial,) = json.loads(again.stdout)["trials"]
    return [one for one in trial["evaluators"] if one["name"] == "select_best"]


@pytest.mark.parametrize(("choice", "scores"), [("1", (0, 0)), ("0", (0, 0)), ("3", (None, None))])
def test_a_choice_by_the_order_and_no_choice_are_none_and_an_impossible_one_is_not_measured(
    choice: str, scores: tuple[float | None, ...], make_repository: Make, tidegate: Make
) -> None:
    _, ran = compared(choice, make_repository, tidegate)
    found = chosen(ran)
    assert (found["base"]["score"], found["head"]["score"]) == scores
    wanted = "no trial is the best in both orders" if scores[0] == 0 else "`best` is 3, not a number from 0 to 2"
    assert wanted in found["head"]["reason"]
