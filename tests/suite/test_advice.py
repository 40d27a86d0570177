"""What `check` says of a suite that is valid but could be better."""

from __future__ import annotations

from typing import Any

from tidegate.agents.doc_follower import DocFollower
from tidegate.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.model.gate import Gate
from tidegate.model.suite import Policy, Scenario, Suite, Target, TrialCounts
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
    """One chance row at alpha .02: 3 trials a side can reach 1/C(6,3) = .05, 4 reach 1/C(8,4) = .0143."""
    chance = scenario("a", GATE, deterministic=False)

    said_so = "cannot confirm any regression; `trials: {min: 4}` can"
    assert said(chance) == [f"a.yaml: 3 head and 3 base trials of docs {said_so}"]
    assert said(chance, trials=TrialCounts(min=4)) == []
    assert len(said(chance, trials=TrialCounts(min=4), policy=Policy(alpha=0.01))) == 1
    assert len(said(chance, chance.model_copy(update={"name": "b"}), trials=TrialCounts(min=4))) == 2


def test_trials_max_cuts_head_alone() -> None:
    """Three head against five base trials can reach 1/C(8,3) = .018, two cannot: 1/C(7,2) = .048."""
    chance = scenario("a", GATE, deterministic=False)

    assert said(chance.model_copy(update={"trials": TrialCounts(min=5, max=3)})) == []
    assert len(said(chance.model_copy(update={"trials": TrialCounts(min=5, max=2)}))) == 1
