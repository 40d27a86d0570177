"""The suites in examples/, as a person runs them; every expected number is computed by hand beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Make = Callable[..., Any]
Trials = dict[str, dict[str, Any]]


@pytest.fixture
def measured(make_repository: Make, tidegate: Make) -> Callable[[str], Trials]:
    """Checks an example, runs it once as it is, and gives its trials by their scenario."""

    def run(name: str) -> Trials:
        repo = make_repository()
        shutil.copytree(
            ROOT / "examples" / name, repo.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
        )
        repo.commit({})
        checked = tidegate("check", cwd=repo.root)
        assert checked.code == 0, checked.stderr
        ran = tidegate("run", "--trials", "1", "--json", cwd=repo.root)
        assert ran.code == 0, ran.stderr
        return {trial["scenario"]: trial for trial in json.loads(ran.stdout)["trials"]}

    return run


def scores(trial: dict[str, Any]) -> dict[str, float]:
    return {evaluator["name"]: evaluator["score"] for evaluator in trial["evaluators"]}


def test_a_task_manager(measured: Callable[[str], Trials]) -> None:
    trials = measured("taskmgr")

    assert {name: trial["outcome"] for name, trial in trials.items()} == dict.fromkeys(
        ("create_and_link", "create_tasks", "prioritise", "report"), "pass"
    )
    # AGENTS.md: add, add, done, list; nothing twice, nothing fails
    first = trials["create_tasks"]["metrics"]
    assert (first["command_count"], first["unique_commands"], first["error_count"]) == (4, 4, 0)
    assert (first["first_try_success_rate"], first["iteration_ratio"], first["retry_rate"]) == (1, 1, 0)
    counts = {name: value["count"] for name, value in trials["create_tasks"]["subcommands"].items()}
    assert counts == {"add": 2, "done": 1, "list": 1}
    assert [len(trials[name]["gates"]) for name in sorted(trials)] == [3, 3, 3, 4]


def test_a_research_agent_with_traces(measured: Callable[[str], Trials]) -> None:
    trials = measured("research")

    tides = trials["research/tides"]
    # moon, sea and .md: 3 of 3; search, read: both in order. (2 × 1 + 1 × 1) / 3
    assert (scores(tides), tides["case_score"], tides["outcome"]) == ({"answer": 1, "way": 1}, 1, "pass")

    notes = trials["research/notes"]
    # moon and .md: 2 of 2; search, read, open: 3 of 3; of the three minimums, open: 2 is not met. (2 × 1 + 1 × 1) / 3
    assert scores(notes) == pytest.approx({"answer": 1, "exact": 1, "often": 2 / 3})
    assert (notes["case_score"], notes["outcome"]) == (1, "pass")

    storms = trials["research/storms"]
    # the trace is search, read, search. exact: 2 of 3 positions; in order: 2 of 2. both: (1 × 2/3 + 3 × 1) / 4 = 11/12
    assert scores(storms) == pytest.approx({"answer": 1, "both": 11 / 12})
    assert storms["case_score"] == pytest.approx((1 + 11 / 12) / 2)
    assert (storms["agent"], storms["outcome"]) == ("older", "pass")


def test_a_batch_program(measured: Callable[[str], Trials]) -> None:
    trials = measured("screening")

    for name in ("toys", "parts", "cars"):
        trial = trials[f"screening/{name}"]
        # risk and review: 2 of 2; look_up expected once, called once: F1 = 1. (3 × 1 + 1 × 1) / 4
        assert scores(trial) == {"decision": 1, "looked-up": 1}
        assert (trial["case_score"], trial["outcome"]) == (1, "pass")


def test_rubrics_and_weighted_evaluators(measured: Callable[[str], Trials]) -> None:
    trials = measured("review")

    guide = trials["review/status-codes"]
    assert scores(guide) == pytest.approx(
        {
            "rubrics": (1 + 2 + 2) / 5.5,  # all but the teapot, of all that is declared
            "words": 4 / 5,  # 503 is missing
            "mixed": (3 * 0.8 + 1 * 1) / 4,  # in `inner` only what has a weight counts: (1 × 1 + 0 × 0) / 1
            "never": 0,  # weight 0: reported only
        }
    )
    assert guide["case_score"] == pytest.approx((1 * 5 / 5.5 + 3 * 0.8 + 2 * 0.85) / (1 + 3 + 2))
    assert (guide["outcome"], guide["decides"]) == ("pass", "pass")

    quicksort = trials["review/quicksort"]
    assert (scores(quicksort), quicksort["case_score"]) == ({"rubrics": 0.5}, 0.5)  # one of two
    # the verdict does not hear the judge, unless policy.judge_blocks says so
    assert quicksort["outcome"] == "fail"


def test_a_rubric_with_weighted_criteria_in_a_native_scenario(measured: Callable[[str], Trials]) -> None:
    trial = measured("handover")["hand_over"]

    # medians of three answers: complete of 0.9, 0.7, 0.8; clear of 0.8, 0.6, 1; brief of 0.5, 0.9, 0.4
    judge = trial["judge"]
    judgement = judge["judgement"]
    assert [(one["id"], one["score"], one["spread"]) for one in judgement["criteria"]] == [
        ("complete", 0.8, pytest.approx(0.2)),
        ("clear", 0.8, pytest.approx(0.4)),
        ("brief", 0.5, pytest.approx(0.5)),
    ]
    assert judge["weighted_score"] == pytest.approx(0.5 * 0.8 + 0.3 * 0.8 + 0.2 * 0.5)  # 0.74, and 0.7 is enough
    # each answer alone: 0.45 + 0.24 + 0.1, 0.35 + 0.18 + 0.18, 0.4 + 0.3 + 0.08
    assert judgement["samples"] == pytest.approx([0.79, 0.71, 0.78])
    # of three pairs of answers, at 0.7: all agree on complete, one on clear, one on brief
    assert judgement["agreement"] == pytest.approx((3 + 1 + 1) / 9)

    # told: decisions and owners are met by most answers, reasons is not: (3 + 2) / (3 + 2 + 1)
    # way: add, add, list and send, in this order
    assert scores(trial) == pytest.approx({"told": 5 / 6, "way": 1})
    assert trial["case_score"] == pytest.approx((3 * 5 / 6 + 1 * 1) / 4)  # 0.875, and 0.8 is enough
    # gates 2 of 2, the judge, and all four calls right at the first try
    assert trial["composite"] == pytest.approx(0.5 * 1 + 0.3 * 0.74 + 0.2 * 1)
    assert (trial["outcome"], trial["decides"]) == ("pass", "pass")
