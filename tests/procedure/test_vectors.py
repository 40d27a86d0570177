"""Check values from other implementations and exact arithmetic; each vector names its oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.procedure.trace_oracle import PARAMETERS, trace
from tidegate.procedure.confirm import Confirmation
from tidegate.procedure.rules import DELTA, DROP, LEAST_HISTORY, SHORT_HISTORY, Ask, Facts, Rules, level
from tidegate.procedure.screen import ScreenConfirmVerify
from tidegate.statistics.beta import as_few
from tidegate.statistics.exact import fisher_less, fisher_midp_less
from tidegate.statistics.multiplicity import bh, holm
from tidegate.statistics.pair import Pair
from tidegate.statistics.passk import pass_at_k, pass_hat_k
from tidegate.statistics.rates import newcombe, wilson
from tidegate.statistics.sequential import p_seq
from tidegate.statistics.stratified import stratified_less, suite_weights

T = TypeVar("T")

FILE = Path(__file__).parent.parent / "fixtures" / "statistics-vectors.json"
VECTORS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["vectors"]
FUNCTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pass_at_k": lambda given: pass_at_k(given["c"], given["n"], given["k"]),
    "pass_hat_k": lambda given: pass_hat_k(given["c"], given["n"], given["k"]),
    "fisher_less": lambda given: fisher_less(**given),
    "fisher_midp_less": lambda given: fisher_midp_less(**given),
    "wilson": lambda given: wilson(given["c"], given["n"], given["conf"]),
    "newcombe_diff": lambda given: newcombe(
        given["head_pass"], given["head_n"], given["base_pass"], given["base_n"], given["conf"]
    ),
    "holm": lambda given: holm(given["p"]),
    "bh": lambda given: bh(given["p"]),
    "stratified_exact_less": lambda given: stratified_less(_tables(given), given["weights"]),
    "suite_weights": lambda given: suite_weights(_tables(given)),
    "p_seq_fixed_base": lambda given: p_seq(
        given["min_fisher"], tuple((look, given["base"][1]) for look in given["looks"])
    ),
    "guard_predictive": lambda given: as_few(
        given["fresh_pass"], given["fresh_n"], given["hist_pass"], given["hist_n"]
    ),
    "alpha_spend": lambda given: level(Rules(alpha=given["alpha"]), given["j"], has_history=True),
}


def _tables(given: dict[str, Any]) -> list[Pair]:
    return [Pair(*table) for table in given["tables_head_pass_head_n_base_pass_base_n"]]


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] in FUNCTIONS], ids=lambda vector: vector["id"])
def test_vector(vector: dict[str, Any]) -> None:
    computed = FUNCTIONS[vector["kind"]](vector["input"])
    assert computed == pytest.approx(vector["expected"], abs=vector["tolerance"], rel=0)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "pass_at_k_error"], ids=lambda v: v["id"])
@pytest.mark.parametrize("function", [pass_at_k, pass_hat_k])
def test_more_than_n_of_n_is_an_error_and_never_clamped(
    vector: dict[str, Any], function: Callable[[int, int, int], float]
) -> None:
    given = vector["input"]
    with pytest.raises(ValueError, match="k = 5"):
        function(given["c"], given["n"], given["k"])


def test_every_kind_of_vector_is_used() -> None:
    assert {vector["kind"] for vector in VECTORS} == {*FUNCTIONS, "pass_at_k_error", "decision_trace", "screen"}
    assert len(VECTORS) == 88


# Screen, confirm and verify

FOUND = {"regressed": "regressed", "inconclusive": "unconfirmed", "not_confirmed": "ok"}


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "decision_trace"], ids=lambda v: v["id"])
def test_decision_trace(vector: dict[str, Any]) -> None:
    """A scripted future: verdict, trial counts of both sides, p, and whether the history was used to the end."""
    given, expected = vector["input"], vector["expected"]
    facts = Facts(history=tuple(given["history"]))
    confirmation = Confirmation(0, facts, tuple(given["stage1_base"]), given["alpha_j"], Rules(), [])
    future = {"head": iter(given["fresh_head_outcomes"]), "base": iter(given["fresh_base_outcomes"])}
    end = play(confirmation.run(), lambda ask: bool(next(future[ask.side])))

    assert end.found == FOUND[expected["verdict"]]
    assert [list(end.head), list(end.fresh)] == [expected["head"], expected["base"]]
    assert end.p == pytest.approx(expected["p"], abs=vector["tolerance"], rel=0)
    assert expected["history_used"] == (given["history"][1] > 0 and not end.moved)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "decision_trace"], ids=lambda v: v["id"])
def test_an_independent_calculation_agrees_with_the_trace(vector: dict[str, Any]) -> None:
    computed, expected = trace(vector["input"]), vector["expected"]
    assert computed | {"p": None} == expected | {"p": None}
    assert computed["p"] == pytest.approx(expected["p"], abs=vector["tolerance"], rel=0)


def test_the_parameters_of_the_traces_are_the_defaults() -> None:
    rules = Rules()
    ours = {
        "j0": rules.first_heads,
        "K": rules.heads,
        "vh": rules.verify_heads,
        "g": rules.guard_bases,
        "g2": rules.verify_bases,
        "guard": rules.guard,
        "drift_p": rules.drift_p,
        "delta": DELTA,
        "drop": DROP,
        "missed": rules.missed,
        "concurrent": rules.concurrent,
        "concurrent_short": rules.concurrent_short,
        "short_hist": SHORT_HISTORY,
        "doubt": rules.doubt,
        "alpha": rules.alpha,
        "min_hist": LEAST_HISTORY,
    }
    assert ours == PARAMETERS
    assert all(vector["input"]["params"] == ours for vector in VECTORS if vector["kind"] == "decision_trace")


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "screen"], ids=lambda v: v["id"])
def test_screen(vector: dict[str, Any]) -> None:
    """A row that failed in its last rounds goes to be confirmed, or it does not; its earlier rounds are no hits."""
    given, expected = vector["input"], vector["expected"]
    past = given["hist_pass"], given["hist_n"]
    midp = fisher_midp_less(given["head_pass"], given["round"], *past)
    assert midp == pytest.approx(expected["midp"], abs=vector["tolerance"], rel=0)
    rules = Rules()
    ours = rules.tau_early, rules.tau_last, rules.tau_none
    assert ours == (given["tau_early"], given["tau_last"], given["tau_none"])
    heads = iter([True] * given["head_pass"] + [False] * (given["round"] - given["head_pass"]))
    machine = ScreenConfirmVerify([Facts(past, given["k0"])], rules)
    steps = machine.steps()
    asks = next(steps)
    for _ in range(given["round"]):
        try:
            asks = steps.send([next(heads)])
        except StopIteration:
            break
    assert (asks[0].phase == "confirm" and machine.report().rows[0].hit) == expected["to_confirm"]


def play(steps: Generator[Sequence[Ask], Sequence[bool | None], T], outcome: Callable[[Ask], bool | None]) -> T:
    """Run a procedure to its end."""
    try:
        asks = next(steps)
        while True:
            asks = steps.send([outcome(ask) for ask in asks])
    except StopIteration as end:
        value: T = end.value
        return value
