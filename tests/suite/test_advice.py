"""What `check` says of a suite that is valid but could be better."""

from __future__ import annotations

from typing import Any

from tidegate.agents.doc_follower import DocFollower
from tidegate.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.model.gate import Gate
from tidegate.model.suite import Scenario, Suite, Target, TrialCounts
from tidegate.plan import make_plan
from tidegate.suite.advice import advice

GATE = NoTranscriptErrors(type="no_transcript_errors")


def scenario(name: str, *gates: Gate, **more: Any) -> Scenario:
    fields = {"description": "d", "file": f"{name}.yaml", "target": Target(binary="t"), "prompt": "p"}
    return Scenario(name=name, gates=gates, **{**fields, **more})


def said(*scenarios: Scenario, deterministic: bool = True, **suite: Any) -> list[str]:
    agents = {"docs": DocFollower(type="doc-follower", deterministic=deterministic)}
    enough = [scenario(f"filler{n}", GATE) for n in range(20 - len(scenarios))]
    whole = Suite(agents=agents, scenarios=(*scenarios, *enough), **suite)
    return list(advice(whole, make_plan(whole)))


def test_a_good_suite_needs_no_advice() -> None:
    assert said(scenario("a", GATE)) == []


def test_a_scenario_that_cannot_fail() -> None:
    optional = NoTranscriptErrors(type="no_transcript_errors", required=False)

    assert said(scenario("a"), scenario("b", optional)) == [
        "a.yaml: no gate, so every trial passes whatever the agent does",
        "b.yaml: no required gate, so every trial passes whatever the agent does",
    ]


def test_few_regression_cases() -> None:
    assert said(scenario("a", GATE, purpose="capability")) == [
        "only 19 of the scenarios are regression cases; with fewer than 20 much goes unseen"
    ]


def test_trials_max_below_what_a_flip_takes() -> None:
    assert said(scenario("a", GATE, trials=TrialCounts(max=2))) == [
        "a.yaml: with trials.max 2 a regression of docs stays unconfirmed; it takes 3 trials on head"
    ]
    assert len(said(scenario("a", GATE, trials=TrialCounts(max=3)), trials=TrialCounts(max=1))) == 19


def test_too_few_trials_to_tell_a_dead_scenario_from_chance() -> None:
    """Three head trials of screening, and six fresh ones in which all fail."""
    chance = scenario("a", GATE, deterministic=False)

    assert said(chance) == []
    assert said(chance, trials=TrialCounts(max=9)) == []
    assert said(chance, trials=TrialCounts(max=8)) == [
        "a.yaml: with trials.max 8 no regression of docs can be confirmed without history; that takes 9 trials on head"
    ]


def test_a_scenario_s_own_limit_counts_for_it() -> None:
    chance = scenario("a", GATE, deterministic=False)

    assert len(said(chance.model_copy(update={"trials": TrialCounts(max=4)}), trials=TrialCounts(max=20))) == 1
    assert said(chance.model_copy(update={"trials": TrialCounts(max=20)}), trials=TrialCounts(max=4)) == []
