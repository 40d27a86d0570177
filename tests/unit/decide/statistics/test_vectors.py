"""Check values from other implementations and exact arithmetic; each vector names its oracle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tidegate.decide.statistics.exact import fisher_less, fisher_midp_less
from tidegate.decide.statistics.multiplicity import bh
from tidegate.decide.statistics.rates import newcombe, pass_at_k, pass_hat_k, wilson

FILE = Path(__file__).parent / "vectors.json"
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
    "bh": lambda given: bh(given["p"]),
}


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
    assert {vector["kind"] for vector in VECTORS} == {*FUNCTIONS, "pass_at_k_error"}
    assert len(VECTORS) == 47
