"""How evaluators affect a trial's outcome: weights, thresholds, required ones, and ones that were not measured."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tests import make
from tests.unit.checks.evaluators.records import record, score
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.composite import CompositeEvaluator
from tidegate.checks.evaluators.tool_trajectory import ToolF1
from tidegate.checks.gates.text_gates import FileExists
from tidegate.checks.measure import measure_trial
from tidegate.model.evaluator import Score
from tidegate.model.event import CommandResult, ToolCall
from tidegate.model.measurement import DETAILS, TrialResult
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer
from tidegate.model.suite import RULES

OUT = FileExists(path="out")


def judge(name: str, **fields: Any) -> CodeJudge:
    return CodeJudge(type="code_judge", script="x", name=name, **fields)


def said(score: float | None) -> tuple[Answer, ...]:
    stdout = "prose" if score is None else f'{{"score": {score}}}'
    return (CommandAnswer(result=CommandResult(command="x", end="exited", exit_code=0, stdout=stdout)),)


def measured(
    *judged: tuple[CodeJudge, float | None], file: Literal["present", "missing"] = "present", answers: Any = None
) -> TrialResult:
    scenario = make.scenario(gates=(OUT,), evaluators=tuple(evaluator for evaluator, _ in judged))
    trial = make.trial(
        answers=(FileAnswer(state=file, text="" if file == "present" else None),),
        evaluator_answers=tuple(said(score) for _, score in judged) if answers is None else answers,
    )
    return measure_trial(trial, scenario)


@pytest.mark.parametrize(
    ("score", "verdict"),
    [(1, "pass"), (0.8, "pass"), (0.79, "borderline"), (0.6, "borderline"), (0.59, "fail"), (0, "fail")],
)
def test_thresholds(score: float, verdict: str) -> None:
    assert Score(value=score).verdict == verdict


def test_the_case_score_is_the_weighted_mean_and_decides_at_08() -> None:
    enough = measured((judge("a", weight=3), 0.9), (judge("b", weight=1), 0.5))  # (2.7 + 0.5) / 4 = 0.8
    assert enough.outcome == "pass"
    assert enough.case_score == pytest.approx(0.8)
    assert enough.reason == "all 1 required gates passed; case score 0.80"
    short = measured((judge("a", weight=3), 0.9), (judge("b", weight=1), 0.4))
    assert (short.outcome, short.decides) == ("fail", "fail")
    assert short.reason == "case score 0.775 is below 0.8; lowest: b, fail with 0.40"


def test_hits_misses_and_the_members_of_a_composite_are_kept() -> None:
    said = '{"score": 0.5, "hits": ["names the moon"], "misses": ["says why"]}'
    answer = CommandAnswer(result=CommandResult(command="x", end="exited", exit_code=0, stdout=said))
    both = CompositeEvaluator(type="composite", name="both", evaluators=(judge("a"), judge("b")))
    trial = make.trial(evaluator_answers=((answer, answer),))
    (result,) = measure_trial(trial, make.scenario(evaluators=(both,))).evaluators
    assert (result.hits[0], result.misses[0]) == ("[a] names the moon", "[a] says why")
    assert [(one.name, one.score, one.hits, one.misses) for one in result.members] == [
        (name, 0.5, ("names the moon",), ("says why",)) for name in "ab"
    ]


def test_details_of_evaluators_are_metrics_that_are_compared() -> None:
    """Plan adherence, routing, precision and valid arguments: a fall of one of them is more than a line of JSON."""
    called = (ToolCall(id="1", tool="get"), ToolCall(id="2", tool="get"), ToolCall(id="3", tool="send"))
    tools = ToolF1(type="tool_f1", expected=("get", "send"))
    inside = CompositeEvaluator(type="composite", evaluators=(tools,))
    for evaluator in (tools, inside):
        trial = make.trial(events=called, evaluator_answers=((),))
        metrics = measure_trial(trial, make.scenario(evaluators=(evaluator,))).metrics
        assert metrics.tool_routing_accuracy == pytest.approx(1 / 3)
        assert metrics.tool_precision == pytest.approx(2 / 3)
        assert (metrics.plan_adherence, metrics.parameter_schema_valid) == (None, None)
    assert all(RULES[name].lower_is_worse for name in DETAILS)


def test_rounding_never_fails_a_mean_of_exactly_08() -> None:
    assert measured(*((judge(str(n)), score) for n, score in enumerate((0.7, 0.8, 0.9)))).outcome == "pass"


def test_weight_0_is_reported_and_decides_nothing() -> None:
    result = measured((judge("a", weight=0), 0.1))
    assert (result.outcome, result.case_score) == ("pass", None)
    assert (result.evaluators[0].score, result.evaluators[0].verdict) == (0.1, "fail")
    assert measured((judge("a", weight=0), None)).outcome == "pass"


def test_a_required_part_that_fails_fails_the_trial_whatever_the_score() -> None:
    part = judge("part", weight=1, required=True)
    whole = CompositeEvaluator(type="composite", name="whole", evaluators=(judge("rest", weight=9), part))
    there = FileAnswer(state="present", text="")
    ran = make.trial(answers=(there,), evaluator_answers=((*said(1), *said(0)),))
    result = measure_trial(ran, make.scenario(gates=(OUT,), evaluators=(whole,)))
    assert (result.outcome, result.case_score) == ("fail", 0.9)
    assert result.reason.startswith("evaluator whole, of which a required part failed: fail with 0.90")


def test_a_required_one_that_does_not_pass_fails_the_trial() -> None:
    result = measured((judge("a", weight=9), 1), (judge("b", required=True), 0.7))
    assert (result.outcome, result.reason) == ("fail", "evaluator b, which is required: borderline with 0.70")
    assert measured((judge("b", required=True, weight=0), 0.1)).outcome == "fail"


def test_not_measured_is_neither_pass_nor_fail() -> None:
    result = measured((judge("a"), 1), (judge("b"), None))
    assert (result.outcome, result.decides, result.not_measured) == (None, None, "evaluator")
    assert result.reason.startswith("evaluator b: the script printed no JSON")
    assert result.case_score is None
    assert result.gates[0].passed


def test_what_has_failed_stays_failed_even_if_another_part_was_not_measured() -> None:
    assert measured((judge("b"), None), file="missing").outcome == "fail"
    assert measured((judge("a", required=True), 0), (judge("b"), None)).outcome == "fail"


def test_without_stored_answers_it_is_not_measured() -> None:
    result = measured((judge("a"), 1), answers=())
    assert (result.outcome, result.reason) == (None, "evaluator a: nothing was found out for it")


def test_an_evaluator_that_breaks_is_not_measured_and_ends_no_run() -> None:
    """A schema that refers to itself has no end."""
    found = score(record(("t", {"a": 1}, "")), type="parameters", schemas={"t": {"$ref": "#"}})

    assert (found.value, found.missing) == (None, "evaluator")
    assert "the comparison takes too long" in found.reason
