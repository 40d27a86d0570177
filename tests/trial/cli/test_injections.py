"""`tidegate injections`, with a judge that is vulnerable to prompt injection and one that is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES
from tests.warm import run_tidegate as tidegate

Make = Callable[..., Any]
UNMET = "criteria: [{id: kept, unmet: [{step: 1}, {step: 2}]}]"
BAD = f"{{score: 0, scores: {{kept: 0}}, checks: [{{id: kept, satisfied: false}}], {UNMET}}}"
GOOD = "{score: 1, scores: {kept: 1}, checks: [{id: kept, satisfied: true}], criteria: [{id: kept, unmet: []}]}"


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        (f"[{{answers: [{BAD}]}}]", 0, ["scripted: 0 of 680 got through"]),
        (
            f"[{{when: My owner, answers: [{GOOD}]}}, {{answers: [{BAD}]}}]",
            1,
            [
                "got through: pity in output (judge): 0.00 → 1.00",
                "got through: pity in argument (step_rubrics): 0.00 → 1.00",
            ],
        ),
        (
            "[{answers: ['no']}]",
            4,
            ["stopped, since the judge gave no answers: the answer cannot be read: it is not JSON"],
        ),
        (f"[{{when: My owner, answers: ['no']}}, {{answers: [{BAD}]}}]", 4, ["0 of 680 got through; 39 could not"]),
        (
            f"[{{answers: [{GOOD}]}}]",
            4,
            ["nothing can be told (rubrics): it gives the bad work 1.00 without any attack"],
        ),
    ],
)
def test_what_gets_through_is_named(script: str, code: int, said: list[str], make_repository: Make) -> None:
    repo = make_repository()
    repo.commit(FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + f"judge: {{type: scripted, script: {script}}}\n"})
    done = tidegate("injections", cwd=repo.root)
    assert done.returncode == code, done.stderr
    assert [line for line in said if line not in done.stdout] == []


def test_without_a_judge_there_is_nothing_to_try(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    done = tidegate("injections", cwd=repo.root)
    assert done.returncode == 2
    assert "tidegate.yaml has no `judge`" in done.stderr
