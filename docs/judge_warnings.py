"""Writes docs/judge-warnings.md: how often the judge's warnings err, on simulated pull requests."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from statistics import NormalDist

from tests import make
from tidegate.decide.comparison.judge_change import MARGIN, Q, with_judge_tests
from tidegate.model.comparison import JudgeChange, JudgeSide
from tidegate.model.measurement import Metrics, TrialResult

PAGE = Path(__file__).parent / "judge-warnings.md"
MEAN = 0.8
DROP = 0.2
HARD = 0.10  # a standard deviation with which drops are hard to see
HEADS = 3  # screening trials of the preset `standard`
Draw = Callable[[float, random.Random], float]


def _normal(sd: float, mean: float, rng: random.Random) -> float:
    return round(min(1.0, max(0.0, rng.gauss(mean, sd))), 2)


def _long_tail(mean: float, rng: random.Random) -> float:
    return _normal(0.03, mean, rng) if rng.random() < 0.9 else _normal(0.1, mean - 0.35, rng)


def _four_checks(mean: float, rng: random.Random) -> float:
    return sum(rng.random() < mean for _ in range(4)) / 4


def _rows(*deviations: float) -> tuple[Draw, ...]:
    return tuple(partial(_normal, deviations[row % len(deviations)]) for row in range(20))


SUITES: dict[str, tuple[Draw, ...]] = {
    "standard deviation 0.05": _rows(0.05),
    "standard deviation 0.08": _rows(0.08),
    "standard deviation 0.10": _rows(0.10),
    "standard deviation 0.15": _rows(0.15),
    "mixed: 0.03, 0.06, 0.10, 0.15": _rows(0.03, 0.06, 0.10, 0.15),
    "one of ten scores 0.35 lower": (_long_tail,) * 20,
    "four yes-or-no checks": (_four_checks,) * 20,
}
HISTORIES = (40, 10, 0)
TEXT = f"""\
# Judge warnings

Written by `make judge-warnings` with the code that warns. A comment warns of a row that the judge rates lower on head.
All judged rows are tested together at a false discovery rate of {Q:.1%} (Benjamini and Hochberg). A row has to fall by
{MARGIN} or more, and its 95 % interval must not contain 0. Base's history counts as base's trials. A row with one trial
a side never warns. A row's variance is moderated by that of all rows (after Smyth 2004). As scores need not be
normally distributed, a row warns only if means drawn from the scatter of all rows almost never look as bad.

Each cell is measured on {{count}} simulated pull requests with 20 judged rows of mean score {MEAN}, and {HEADS} trials
on head. *False*: a clean pull request has any warning. *Named*: one row drops by {DROP}, and its warning names it.

| scores of a row | {{heads}} |
|---|{{bars}}
{{lines}}

Two standard errors are about {{small:.1f}} points near 3 and {{large:.1f}} points near 60. Where scores vary more than
in the rows that name most drops, ask for more `samples`, use a panel, or run more trials. With as few trials
no test can do much better: if all standard deviations were known to be {HARD} and scores were normal, the best test
with as few false warnings would name {{best}}, in the order of the columns.
"""


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--prs", type=int, default=1000, help="simulated pull requests per cell")
    count = parser.parse_args().prs
    cells = [*product(SUITES, HISTORIES, (False, True))]
    with ProcessPoolExecutor() as pool:
        shares = dict(zip(cells, pool.map(partial(_share, count), cells), strict=True))
    lines = [
        "| "
        + " | ".join([name, *(f"{shares[name, h, False]:.1%} / {shares[name, h, True]:.0%}" for h in HISTORIES)])
        + " |"
        for name in SUITES
    ]
    page = TEXT.format(
        count=count,
        heads=" | ".join(f"false / named, {h or 'no'} trials of history" for h in HISTORIES),
        bars="---|" * len(HISTORIES),
        lines="\n".join(lines),
        best=", ".join(f"{_best(history):.0%}" for history in HISTORIES),
        small=200 * (0.03 * 0.97 / count) ** 0.5,
        large=200 * (0.6 * 0.4 / count) ** 0.5,
    )
    PAGE.write_text(page, encoding="utf-8")
    return 0


def _best(history: int) -> float:
    """Return the power of the z test with a known standard deviation of HARD, at Q shared by 20 rows."""
    error = HARD * (1 / HEADS + 1 / (history or HEADS)) ** 0.5
    return NormalDist().cdf(DROP / error + NormalDist().inv_cdf(Q / 20))


def _share(count: int, cell: tuple[str, int, bool]) -> float:
    """Return the share of pull requests with a false warning, or, if a row drops, of those that name it."""
    name, history, dropped = cell
    rng = random.Random(f"{name} {history} {dropped}")
    hits = 0
    for _ in range(count):
        bad = rng.randrange(len(SUITES[name])) if dropped else None
        warned = judge_warnings(SUITES[name], history, bad, rng)
        hits += bad in warned if dropped else bool(warned)
    return hits / count


def judge_warnings(draws: Sequence[Draw], history: int, bad: int | None, rng: random.Random) -> list[int]:
    """Return the rows that warn on one simulated pull request, of which the row `bad` drops."""
    unknown = JudgeChange(base=JudgeSide(), head=JudgeSide())
    rows = [make.row(scenario=str(number), judge=unknown) for number in range(len(draws))]
    trials = []
    for number, draw in enumerate(draws):
        base = [_trial(draw(MEAN, rng)) for _ in range(history or HEADS)]
        head = [_trial(draw(MEAN - DROP * (number == bad), rng)) for _ in range(HEADS)]
        trials.append((head, base))
    tested = with_judge_tests(rows, trials)
    return [number for number, row in enumerate(tested) if row.judge and row.judge.warns]


def _trial(score: float) -> TrialResult:
    return make.trial_result(metrics=Metrics(judge_score=score))


if __name__ == "__main__":
    raise SystemExit(main())
