"""How many opinions of the judge a comparison counts, with a judge that answers at random."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest

from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.checks.measure import measure_trial
from tidegate.checks.rubrics.asking import Criterion
from tidegate.decide.comparison.compare import compare
from tidegate.decide.procedure.steps import next_step, observe, start
from tidegate.decide.verdict import decide
from tidegate.history.run_folder import AnswerStore
from tidegate.model.agent import Agent
from tidegate.model.event import Message
from tidegate.model.judge import Ask, AskModel, Judge, JudgeContext, Reply
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.revision import Revision
from tidegate.model.suite import Policy, Scenario, Suite
from tidegate.model.target import Target
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.grade import grade, with_opinion
from tidegate.run.judge_client import JudgeClient, PanelClient
from tidegate.suite.plan import make_plan, run_rows

RUBRIC = RubricJudge(criteria=(Criterion(id="good", description="It is good.", weight=1),), pass_threshold=0.5)
SCENARIO = Scenario(name="s", description="d", file="s.yaml", target=Target(binary=""), prompt="p", judge=RUBRIC)
POLICY = Policy(judge_blocks=True)


class DrawingJudge(Judge):
    """Draws every score anew, uniformly; a score of 0.5 or more passes."""

    type: Literal["drawing"] = "drawing"
    model: str = "m"
    draw: Callable[[], float]
    asked: list[str] = []

    @asynccontextmanager
    async def opened(self, place: JudgeContext) -> AsyncIterator[Ask]:
        yield self._ask

    def identity(self, folder: Path) -> str:
        return "drawing"

    async def _ask(self, question: AskModel, sample: int) -> Reply:
        self.asked.append(question.prompt(sample))
        return Reply(sample=sample, text=json.dumps({"scores": {"good": self.draw()}}))


def run_of(side: Side, suite: Suite, trials: Sequence[TrialResult]) -> Run:
    return Run(
        tidegate_version="0",
        side=side,
        revision=Revision(sha=side * 10, ref=side),
        suite_file="tidegate.yaml",
        suite_hash="",
        policy=POLICY,
        rows=run_rows(make_plan(suite), suite),
        agents={},
        started_at=0,
        seconds=0,
        trials=tuple(trial for trial in trials if trial.side == side),
    )


def suite_of(deterministic: bool) -> Suite:
    agent = Agent(type="a", deterministic=deterministic)
    return Suite(file="tidegate.yaml", scenarios=(SCENARIO,), agents={"a": agent}, policy=POLICY)


async def pull_request(
    judge: DrawingJudge, shas: tuple[str, str], said: dict[Side, str], *, deterministic: bool, store: Path | None = None
) -> tuple[str, list[TrialResult]]:
    """The verdict on a pull request whose trials all say the same on each side, and its trials."""
    suite = suite_of(deterministic)
    plan = make_plan(suite)
    place = JudgeContext(folder=Path(), environ={})
    state = start(run_rows(plan, suite), POLICY)
    results: list[TrialResult] = []
    async with JudgeClient(judge, place, AnswerStore(store), price=None, deadline=time.monotonic() + 60) as client:

        async def result(spec: TrialSpec) -> TrialResult:
            trial = Trial(spec=spec, end="completed", events=(Message(text=said[spec.side]),), started_at=time.time())
            graded = await grade(with_opinion(trial, shas), SCENARIO, PanelClient((client,)).carry)
            return measure_trial(graded, SCENARIO, judge_blocks=True)

        while step := next_step(state):
            batch = [await result(spec) for spec in step]
            results += batch
            state = observe(state, batch)
    verdict = decide(compare(run_of("base", suite, results), run_of("head", suite, results)), POLICY)
    return verdict.state, results


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("head", [" 1.1", ""])
def test_a_judge_that_draws_at_random_blocks_at_most_2_percent_of_harmless_pull_requests(
    deterministic: bool, head: str, tmp_path: Path
) -> None:
    """All trials of a side read the same. The answers of earlier pull requests are kept, as on a real machine."""

    async def all_of_them() -> list[str]:
        judge = DrawingJudge(draw=random.Random(21).random)
        states = []
        for number in range(50):
            said: dict[Side, str] = {"base": f"I kept note {number}.", "head": f"I kept note {number}.{head}"}
            pair = ("b", f"h{number}")
            state, _ = await pull_request(judge, pair, said, deterministic=deterministic, store=tmp_path)
            states.append(state)
        return states

    states = asyncio.run(all_of_them())
    assert states.count("failed") <= 1, states.count("failed")


def play(said: dict[Side, str], shas: tuple[str, str] = ("b", "h"), store: Path | None = None) -> DrawingJudge:
    judge = DrawingJudge(draw=random.Random(1).random)
    asyncio.run(pull_request(judge, shas, said, deterministic=False, store=store))
    return judge


def test_every_trial_of_a_side_is_asked_about_anew() -> None:
    judge = DrawingJudge(draw=random.Random(3).random)
    _, results = asyncio.run(
        pull_request(judge, ("b", "h"), {"base": "It is kept.", "head": "It is lost."}, deterministic=False)
    )
    assert len(judge.asked) == len(results)
    assert sum(result.judge_use.cached for result in results if result.judge_use) == 0


def test_trials_of_both_sides_that_read_the_same_share_one_opinion(tmp_path: Path) -> None:
    """Or a change that the judge cannot see would be compared by chance alone."""
    judge = DrawingJudge(draw=random.Random(3).random)
    same: dict[Side, str] = {"base": "It is kept.", "head": "It is kept."}
    _, results = asyncio.run(pull_request(judge, ("b", "h"), same, deterministic=False, store=tmp_path))
    scores = {side: [r.metrics.judge_score for r in results if r.side == side] for side in ("base", "head")}
    assert scores["base"] == scores["head"]
    assert len(judge.asked) == len(set(scores["base"])) == 3


def test_a_second_run_of_the_same_comparison_asks_nothing_and_another_asks_everything(tmp_path: Path) -> None:
    said: dict[Side, str] = {"base": "It is kept.", "head": "It is kept."}
    first = play(said, store=tmp_path)
    assert len(first.asked) == 3
    assert play(said, store=tmp_path).asked == []
    assert len(play(said, ("b", "h2"), tmp_path).asked) == 3
