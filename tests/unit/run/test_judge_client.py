"""The judge's calls: at most one per question and sample, and none for cached answers."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest

from tests import make
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.checks.rubrics.asking import Criterion
from tidegate.history.run_folder import AnswerStore
from tidegate.model.event import Message
from tidegate.model.judge import Ask, AskModel, Judge, JudgeContext, Reply
from tidegate.model.prices import Price
from tidegate.model.probe import Answer, Request
from tidegate.model.suite import Budget
from tidegate.model.trial import Trial
from tidegate.run.grade import grade
from tidegate.run.judge_client import JudgeClient
from tidegate.trial.cost_meter import Spending

TRIALS = 200
SAID = json.dumps({"scores": {"good": 0.5}})
RUBRIC = RubricJudge(criteria=(Criterion(id="good", description="It is good.", weight=1),))
SCENARIO = make.scenario(judge=RUBRIC)


class CountingJudge(Judge):
    """Notes who asks, and takes its time."""

    type: Literal["counting"] = "counting"
    model: str = "m"
    asked: Counter[str] = Counter()
    at_once: list[int] = [0, 0]  # now, and at most
    pause: float = 0.0
    reply: Reply = Reply(text=SAID, tokens_in=1_000_000, tokens_out=0)
    replies: list[Reply] = []  # first these, then `reply`

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        yield self._ask

    def identity(self, folder: Path) -> str:
        return "counting"

    async def _ask(self, question: AskModel, sample: int) -> Reply:
        self.asked[question.key("", sample)] += 1
        self.at_once[0] += 1
        self.at_once[1] = max(self.at_once)
        await asyncio.sleep(self.pause)
        self.at_once[0] -= 1
        reply = self.replies.pop(0) if self.replies else self.reply
        return reply.model_copy(update={"sample": sample, "attempt": question.attempt})


def counting(**fields: object) -> CountingJudge:
    return CountingJudge.model_validate({"asked": Counter(), "at_once": [0, 0], **fields})


def trials(count: int = TRIALS, different: int | None = None) -> list[Trial]:
    """Trials of which so many are different; those that are equal share one opinion."""
    return [
        make.trial(
            spec=make.spec(index=number + 1),
            events=(Message(text=f"I did {number % (different or count)}."),),
            opinion="shared" if different else "",
        )
        for number in range(count)
    ]


def graded(
    judge: Judge | None, store: Path | None, made: list[Trial], *, price: Price | None = None, left: float = 60
) -> list[Trial]:
    async def run() -> list[Trial]:
        place = JudgeContext(folder=Path(), environ={})
        async with JudgeClient(
            judge, place, AnswerStore(store), price=price, deadline=time.monotonic() + left
        ) as judge_client:

            async def carry(request: Request) -> Answer | None:
                assert isinstance(request, AskModel)
                return await judge_client.answer(request)

            return list(await asyncio.gather(*(grade(trial, SCENARIO, carry) for trial in made)))

    return asyncio.run(run())


def replies(made: list[Trial]) -> list[Reply]:
    return [reply for trial in made for answer in trial.judge_answers for reply in getattr(answer, "replies", ())]


def test_what_took_two_attempts_is_not_asked_at_all_the_next_time(tmp_path: Path) -> None:
    judge = counting(replies=[Reply(end="refused"), Reply(text=SAID)])
    (first,) = graded(judge, tmp_path, trials(1))
    (second,) = graded(judge, tmp_path, trials(1))
    assert sum(judge.asked.values()) == 2
    assert [reply.text for reply in replies([second])] == [reply.text for reply in replies([first])][-1:] == [SAID]


@pytest.mark.parametrize("samples", [1, 3])
def test_one_call_for_each_trial_and_sample_none_on_the_second_run(samples: int, tmp_path: Path) -> None:
    judge = counting(samples=samples, jobs=7, pause=0.001)
    first = graded(judge, tmp_path, trials())
    assert len(judge.asked) == TRIALS * samples
    assert set(judge.asked.values()) == {1}
    assert 1 < judge.at_once[1] <= 7
    again = graded(judge, tmp_path, trials())
    assert sum(judge.asked.values()) == TRIALS * samples
    assert {reply.cached for reply in replies(again)} == {True}
    assert [reply.text for reply in replies(first)] == [reply.text for reply in replies(again)]


def test_equal_trials_that_share_an_opinion_are_one_question_even_at_the_same_time(tmp_path: Path) -> None:
    judge = counting(pause=3, jobs=64)
    graded(judge, None, trials(20, different=5))
    assert sum(judge.asked.values()) == 5


def test_an_outage_is_asked_again_another_time(tmp_path: Path) -> None:
    judge = counting(reply=Reply(end="outage", message="busy"))
    graded(judge, tmp_path, trials(3))
    graded(judge, tmp_path, trials(3))
    assert set(judge.asked.values()) == {2}


def test_an_answer_that_nobody_can_read_is_asked_for_again_another_time_not_twice_in_a_run(tmp_path: Path) -> None:
    judge = counting(reply=Reply(text="Very good work!"))
    graded(judge, tmp_path, trials(4, different=2))
    assert sum(judge.asked.values()) == 2 * 3  # attempts
    assert not list(tmp_path.rglob("*.json"))

    better = counting()
    (first, *_) = graded(better, tmp_path, trials(4, different=2))
    assert sum(better.asked.values()) == 2
    assert replies([first])[0].text == SAID


@pytest.mark.parametrize("stored", [Reply(text="no JSON").model_dump_json(), "{"], ids=["unreadable", "damaged"])
def test_a_stored_answer_that_cannot_be_used_is_asked_for_again(stored: str, tmp_path: Path) -> None:
    judge = counting()
    graded(judge, tmp_path, trials(1))
    (kept,) = tmp_path.rglob("*.json")
    kept.write_text(stored)
    (reply,) = replies(graded(judge, tmp_path, trials(1)))
    assert (reply.text, sum(judge.asked.values())) == (SAID, 2)


def test_no_more_is_asked_once_the_money_is_spent() -> None:
    judge = counting(max_usd=10, jobs=1)
    made = replies(graded(judge, None, trials(20), price=Price(input=2)))  # 2 USD a call
    assert Counter(reply.end for reply in made) == {"answered": 5, "budget": 15}  # in whichever order they came
    assert {reply.message for reply in made if reply.end == "budget"} == {"the judge's $10 were used up"}


def test_the_judges_tokens_count_in_the_runs_budget() -> None:
    judge = counting(jobs=1)

    async def run() -> list[str]:
        place = JudgeContext(folder=Path(), environ={})
        async with JudgeClient(
            judge, place, AnswerStore(None), price=None, deadline=time.monotonic() + 60
        ) as judge_client:
            spending = Spending(Budget(tokens=2_000_000), lambda: (judge_client.spent_usd, judge_client.spent_tokens))
            judge_client.used_up = spending.used_up
            questions = [AskModel(system="", before=str(number)) for number in range(3)]
            return [(await judge_client.answer(one)).replies[0].message for one in questions]

    assert asyncio.run(run()) == ["", "", "the run's 2,000,000 tokens were used up"]


def test_the_runs_minutes_end_the_judging_too() -> None:
    judge = counting(pause=30)
    begun = time.monotonic()
    (reply,) = replies(graded(judge, None, trials(1), left=0.05))
    assert (reply.end, reply.message) == ("budget", "the run's minutes were used up")
    assert time.monotonic() - begun < 20


def test_without_a_judge_it_is_said() -> None:
    (reply,) = replies(graded(None, None, trials(1)))
    assert reply.end == "no_judge"
    assert "tidegate.yaml has no `judge`" in reply.message
