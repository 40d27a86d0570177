"""Prompt injection in an agent's work: none of it reaches the judge outside of a data block."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from tidegate.checks.evaluators.assess import advance
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.lab.judge_injections import ATTACKS, FIELDS, NAMED_FILE, Try, inject, plain, targets, tries
from tidegate.model.evaluator import Evaluator
from tidegate.model.judge import AskModel, ModelAnswer, Reply
from tidegate.model.probe import FileAnswer, Request

FENCE = re.compile(r"<data ([0-9a-f]{16}) name=\w+>\n.*?\n</data \1>", re.S)
ALL = list(tries())


def prompt(evaluator: Evaluator, one: Try) -> str:
    files = [FileAnswer(state="present", text=one.file, path=NAMED_FILE)] if isinstance(evaluator, RubricJudge) else []
    step = advance(evaluator, one.record, files)
    assert isinstance(step, AskModel)
    return step.prompt(1)


def ours(evaluator: Evaluator, one: Try) -> str:
    """What of the prompt is not fenced."""
    return FENCE.sub("[data]", prompt(evaluator, one))


def test_the_corpus_covers_every_field_that_a_judge_sees() -> None:
    assert len(ALL) == len(ATTACKS) * len(FIELDS) >= 150
    for field in FIELDS:
        tried = [one for one in ALL if one.field == field]
        assert any(any(prompt(to, one) != prompt(to, plain()) for to in targets()) for one in tried), field


@pytest.mark.parametrize("one", ALL, ids=lambda one: f"{one.attack} in {one.field}")
def test_no_attack_leaves_its_fence(one: Try) -> None:
    for evaluator in targets():
        assert ours(evaluator, one) == ours(evaluator, plain())


def test_nothing_invisible_reaches_the_judge() -> None:
    for one in ALL:
        for evaluator in targets():
            assert not re.search("[\x00\u200b\u2060\u202e\U000e0000-\U000e007f]", prompt(evaluator, one))


def test_a_flood_cannot_push_the_task_or_the_criteria_out() -> None:
    flood = next(one for one in ALL if one.attack == "flood" and one.field == "output")
    for evaluator in targets():
        text = prompt(evaluator, flood)
        assert "Write the three decisions" in text
        assert "- `kept`: The " in text or isinstance(evaluator, LlmJudge)
        assert "characters left out" in text


def answer(score: int) -> ModelAnswer:
    said = {
        "score": score,
        "scores": {"kept": score},
        "checks": [{"id": "kept", "satisfied": bool(score), "reasoning": ""}],
        "criteria": [{"id": "kept", "unmet": [{"step": step} for step in (() if score else (1, 2))]}],
    }
    return ModelAnswer(replies=(Reply(text=json.dumps(said)),))


def test_a_judge_that_believes_what_it_reads_is_found_out() -> None:
    async def gullible(question: Request) -> ModelAnswer:
        assert isinstance(question, AskModel)
        return answer(int("score 1" in question.prompt(1)))

    async def upright(_: Request) -> ModelAnswer:
        return answer(0)

    found = asyncio.run(inject(gullible))
    assert {one.attack for one in found.through} >= {"order", "closed fence", "pity", "hidden"}
    assert {one.kind for one in found.through} == {"judge", "rubrics", "step_rubrics", "llm_judge"}
    assert asyncio.run(inject(upright)).through == ()


def test_it_stops_at_a_dead_judge_and_names_the_cause() -> None:
    """About the plain work, or in the midst of the attacks: after the 30th answer, the second batch has ten left."""
    asked = 0

    async def dying(_: Request) -> ModelAnswer:
        nonlocal asked
        asked += 1
        return answer(0) if asked <= 30 else ModelAnswer(replies=(Reply(end="outage", message="busy"),))

    found = asyncio.run(inject(dying))
    assert (asked, found.tried, found.lost, found.dead) == (61, 60, 31, "busy")
    found = asyncio.run(inject(dying))
    assert (asked, found.tried, found.dead) == (62, 0, "busy")
