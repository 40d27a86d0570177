"""An independent calculation of a confirmation's end, with scipy, for the vectors of kind `decision_trace`.

It follows the rules of docs/verdict.md and shares no code with the procedure. Probabilities are propagated as floats,
for one common success rate at a time; the procedure counts paths as integers instead.

`python -m tests.procedure.trace_oracle` writes its results to the vectors.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import betabinom, binom, hypergeom  # type: ignore[import-untyped]

FILE = Path(__file__).parent.parent / "fixtures" / "statistics-vectors.json"
PARAMETERS: dict[str, Any] = {
    "j0": 3,
    "K": 18,
    "vh": 2,
    "g": 3,
    "g2": 16,
    "guard": 0.2,
    "drift_p": 0.05,
    "delta": 0.2,
    "drop": 0.5,
    "missed": 0.06,
    "concurrent": 0.015,
    "concurrent_short": 0.005,
    "short_hist": 25,
    "doubt": 0.08,
    "alpha": 0.02,
    "min_hist": 8,
}
RATES = [*(n / 40 for n in range(1, 40)), 0.9875, 0.995]
TIE = 1 + 1e-9


def fisher(head: int, heads: int, base: int, bases: int) -> float:
    return float(hypergeom(heads + bases, head + base, heads).cdf(head))


@cache
def smallest_ever(limit: float, looks: tuple[tuple[int, int], ...]) -> float:
    """The largest probability, over the common rates, that Fisher's p is at most `limit` at any look."""
    state, before, reached = np.ones((len(RATES), 1, 1)), (0, 0), np.zeros(len(RATES))
    for heads, bases in looks:
        state = _spread(_spread(state, heads - before[0], 1), bases - before[1], 2)
        hit = _hypergeometric(heads, bases) <= limit * TIE
        reached += state[:, hit].sum(axis=1)
        state, before = np.where(hit, 0.0, state), (heads, bases)
    return float(reached.max())


@cache
def _hypergeometric(heads: int, bases: int) -> Any:
    head, base = np.meshgrid(range(heads + 1), range(bases + 1), indexing="ij")
    return hypergeom.cdf(head, heads + bases, head + base, heads)


def _spread(state: Any, more: int, axis: int) -> Any:
    """The distribution after so many further trials on one side."""
    for _ in range(more):
        shape = [(0, 1) if place == axis else (0, 0) for place in range(3)]
        passed = [(1, 0) if place == axis else (0, 0) for place in range(3)]
        rates = np.array(RATES)[:, None, None]
        state = np.pad(state, shape) * (1 - rates) + np.pad(state, passed) * rates
    return state


def trace(given: dict[str, Any]) -> dict[str, Any]:  # noqa: C901 - one page of rules, top to bottom
    """Play the scripted outcomes of one row."""
    q, level = PARAMETERS, given["alpha_j"]
    history = tuple(given["history"])
    used = history[1] >= q["min_hist"]
    screened = (0, 0) if used else tuple(given["stage1_base"])
    head, base, most = given["fresh_head_outcomes"], given["fresh_base_outcomes"], q["K"] + q["vh"]
    m = b = 0
    verified_at: int | None = None
    smallest = 1.0

    def rate_of_base() -> tuple[int, int]:
        past = history if used else screened
        return past[0] + sum(base[:b]), past[1] + b

    def p() -> float:
        if smallest >= 1:
            return 1.0
        passes_n = rate_of_base()[1]
        looks = tuple((n, passes_n if used else max(passes_n, screened[1] + n)) for n in range(q["j0"], most + 1))
        return smallest_ever(smallest, looks)

    def recovered() -> bool:
        c, n = rate_of_base()
        if not m or not n or sum(head[:m]) / m < c / n - q["delta"] - 1e-12:
            return False
        return bool(binom.sf(sum(head[:m]) - 1, m, max(0.0, c / n - q["drop"])) <= q["missed"])

    def end(verdict: str) -> dict[str, Any]:
        last = p() if smallest < 1 else None
        if verdict == "inconclusive" and last is not None and last > q["doubt"] * level / q["alpha"] * TIE:
            verdict = "not_confirmed"
        return {
            "verdict": verdict,
            "head": [sum(head[:m]), m],
            "base": [sum(base[:b]), b],
            "p": last,
            "history_used": used,
        }

    c, n = rate_of_base()
    low = max(0.0, c / n - q["drop"]) if n else 1 - q["drop"]
    m = next(count for count in range(1, most + 1) if low**count <= q["missed"])
    if recovered():
        return end("not_confirmed")
    m, b = max(m, q["j0"]), q["g"]
    while True:
        if used:
            fresh = betabinom(b, history[0] + 0.5, history[1] - history[0] + 0.5).cdf(sum(base[:b]))
            c, n = sum(base[:b]), b
            pooled = fisher(c, n, *history) - hypergeom(n + history[1], c + history[0], n).pmf(c) / 2
            if fresh <= q["guard"] or pooled <= q["drift_p"]:
                used, smallest, b = False, 1.0, max(b, m)
        if m >= q["j0"]:
            smallest = min(smallest, fisher(sum(head[:m]), m, *rate_of_base()))
        c, n = rate_of_base()
        if p() <= level * TIE:
            if verified_at is not None:
                late = sum(head[verified_at:m]), m - verified_at
                lower = late[0] * n < c * late[1]
                limit = q["concurrent" if used and history[1] >= q["short_hist"] else "concurrent_short"]
                if lower and fisher(sum(head[:m]), m, sum(base[:b]), b) <= limit:
                    return end("regressed")
            if m == most:
                return end("inconclusive")
            if verified_at is None:
                verified_at, smallest = m, 1.0
                m = min(m + q["vh"], most)
                b = max(b, q["g2"]) if used else max(b, m)
                continue
        elif m == most:
            return end("inconclusive")
        elif recovered():
            return end("not_confirmed")
        else:
            left = most - m
            partners = 0 if used else left
            best = fisher(sum(head[:m]), m + left, c + partners, n + partners)
            looks = tuple((k, n if used else max(n, screened[1] + k)) for k in range(q["j0"], most + 1))
            if smallest_ever(best, looks) > level * TIE:
                return end("inconclusive")
        m += 1
        if not used:
            b = max(b, m)


def main() -> None:
    vectors = json.loads(FILE.read_text(encoding="utf-8"))
    for vector in vectors["vectors"]:
        if vector["kind"] == "decision_trace":
            given = vector["input"]
            for side, least in (("fresh_head_outcomes", 20), ("fresh_base_outcomes", 24)):
                while len(given[side]) < least:  # the same pattern again
                    given[side] += given[side][: least - len(given[side])]
            given["params"] = PARAMETERS
            vector["expected"] = trace(given)
            vector["oracle"] = "tests/procedure/trace_oracle.py: scipy, probabilities as floats, per common rate"
        if vector["kind"] == "screen":
            given, expected = vector["input"], vector["expected"]
            given |= {"tau_last": 0.065, "tau_early": 0.05, "tau_none": 0.2}
            last = given["tau_last"] if given["head_pass"] else given["tau_none"]
            expected["to_confirm"] = expected["midp"] <= (last if given["round"] == given["k0"] else given["tau_early"])
    FILE.write_text(json.dumps(vectors, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
