"""Writes docs/error-rates.md: the shipped procedure, and rules of other tools, measured on simulated suites."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.rival_rules import RIVALS, simulate_rival
from tests.simulated_pushes import simulate_after_clean, simulate_pushes
from tests.simulated_rows import Chances, Ends, simulate_runs
from tidegate.lab.simulate import (
    Cell,
    Gate,
    Rates,
    Situation,
    drifts,
    error_of,
    simulate,
    situations,
)
from tidegate.model.suite import Policy

PAGE = Path(__file__).parent / "error-rates.md"
MIXED = (1.0,) * 4 + (0.95,) * 4 + (0.9,) * 4 + (0.8,) * 4 + (0.5,) * 2 + (0.3,) * 2
STABLE = (1.0,) * 14 + (0.95,) * 4 + (0.8,) * 2
SUITES: dict[str, Rates] = {"mixed": MIXED, "stable": STABLE}
GATES = {
    "quick": Gate(1),
    "standard": Gate(3),
    "thorough": Gate(5),
    "standard, `suite: block`": Gate(3, policy=Policy(suite="block")),
    "standard, alpha 0.01": Gate(3, policy=Policy(alpha=0.01)),
    "standard, alpha 0.05": Gate(3, policy=Policy(alpha=0.05)),
    "standard, 10 trials of history": Gate(3, history=10),
    "standard, no history": Gate(3, history=0),
}
ALIKE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
WEAK = (0.9, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4, 0.3)
HISTORIES = (0, 8, 10, 20, 30, 40)
SIZES = {"1": (0.95,), "3": (1.0, 0.95, 0.8), "20": MIXED, "20 × 2 agents": MIXED * 2, "100": MIXED * 5}
SHARED = 0.1  # correlation
RANDOM_FAILURES = (0.05, 0.1, 0.2, 0.5)
RUNS = (1, 2, 5)
LOSSES = {
    "head loses half of its failures": (0.0, 0.5),
    "head loses all of its failures": (0.0, 1.0),
    "both sides lose half of their failures": (0.5, 0.5),
    "both sides lose all of their failures": (1.0, 1.0),
}
HEAD = """\
# Error rates

Written by `make error-rates` with the code that judges pull requests. Each cell is measured on {count} simulated pull
requests, in some tables on fewer, as the errors beside them show. Two standard errors are about {small:.1f} points near
0.4 and {large:.1f} points near 80. *Mixed*: 20 scenarios, of which base passes four each in 1.0, 0.95, 0.9 and 0.8 of
all trials, and two each in 0.5 and 0.3. *Stable*: 14 of 1.0, 4 of 0.95, 2 of 0.8. All with 40 trials of history unless
stated otherwise. *Blocked*: exit code 1. *Exit 5*: a row is unproven. *Amber*: neither, but a row or the suite is
unconfirmed, which is exit code 0 by default.
"""
MISSED = """\
What is missed: three screening trials notice a drop by 50 points in 88, 84, 77 and 73 % of pull requests where base
passes 1.0, 0.95, 0.9 and 0.8 of all trials (40 trials of history), in 83, 79, 75 and 69 % without a history; on pairs,
93, 82, 76 and 69 % of these are confirmed. So without a history two at 0.95 and 0.9 stay at about 80 %, and an aim of
84 % with 160 trials is not reached: `thorough` buys more. A test that knew base's rates would find 98 % with 65 trials.
"""
REAL = """\
## With real processes and real git

`make real-rates` judges a population of pull requests by `tidegate pr`, each with its own random samples: the
`scripted` agent, and ten scenarios with 40 trials of history, of which three pass every time, three in 0.95, two in 0.8
and two in 0.5 of all trials. As measured in November 2026:

| pull requests | blocked | exit 5 | |
|---|---|---|---|
| 40 clean ones | 0 | 0 | 39.4 trials each |
| 4 with a scenario that fails completely | 4 | 0 | each names it; 44.0 trials each |
| 4 after a change that breaks a scenario on base and head alike | 0 | 4 | baseline changed |

### Trouble that is not the pull request's

`make trouble-rates` judges clean pull requests, four scenarios without a history, while something else goes wrong at
random moments. Blocked means that the run ends with exit code 1. As measured in November 2026:

| trouble | pull requests | blocked | exit code 0 | exit code 4 | exit code 5 |
|---|---|---|---|---|---|
| one to four processes of base's trials are killed | 17 | 0 | 17 | 0 | 0 |
| the disk of all trials is filled from outside, and stays full in some of them | 17 | 0 | 12 | 3 | 2 |
| the provider answers with 500 for five seconds or a minute | 17 | 0 | 17 | 0 | 0 |

Exit code 4 means that nothing could be measured, or that Tidegate itself found no room to write; exit code 5 that so
little could be measured on both sides that nothing is proven. A machine whose disk stays full can give no verdict.
"""


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--prs", type=int, default=4000, help="simulated pull requests per cell")
    count = parser.parse_args().prs
    began = time.monotonic()
    with ProcessPoolExecutor() as pool:
        PAGE.write_text("\n".join(_page(pool, count)), encoding="utf-8")
    print(f"{PAGE.name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


def _page(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield HEAD.format(count=f"{count:,}", small=100 * error_of(0.004, count), large=100 * error_of(0.8, count))
    for name, rates in SUITES.items():
        yield from _powers(pool, name, rates, count)
        if name == "mixed":
            yield MISSED
    yield from _drifting(pool, count)
    yield from _alike(pool, count)
    yield from _sizes(pool, count)
    yield from _dead(pool, count)
    yield from _correlated(pool, count)
    yield from _troubled(pool, count)
    yield from _called_deterministic(pool, count)
    yield from _lossy(pool, count)
    yield from _pushes(pool, count)
    yield from _rivals(pool, count)
    yield REAL


def _powers(pool: ProcessPoolExecutor, name: str, rates: Rates, count: int) -> Iterator[str]:
    cases = situations(rates)
    yield f"## {name.capitalize()} suite\n\nShare of pull requests blocked, in percent.\n"
    yield _header("policy", "trials of a clean one", *(case.name for case in cases), "exit 5, clean", "amber, clean")
    for gate_name, gate in GATES.items():
        cells = _cells(pool, cases, gate, count)
        yield _line(gate_name, f"{cells[0].trials:.1f}", *map(_blocked, cells), *_rest(cells[0]))
    yield ""


def _drifting(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## False alarms where the provider drifts\n"
    yield "Both sides changed alike after the history was made: nothing may be blocked. Standard preset, in percent;"
    yield "blocked / exit 5 / amber.\n"
    yield _header("suite", "history", *(case.name.removeprefix("drift: ") for case in drifts(MIXED)))
    for name, rates in SUITES.items():
        for history in (40, 10):
            cells = _cells(pool, drifts(rates), Gate(3, history), count)
            yield _line(name, str(history), *map(_all_three, cells))
    yield ""


def _alike(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## False alarms where all scenarios are alike\n"
    yield "Suites of 20 scenarios of one success rate, standard preset, in percent: blocked / exit 5 / amber.\n"
    yield _header("history", *(f"{rate:g}" for rate in ALIKE))
    for history in (40, 10, 0):
        alike = [Situation.of(f"all {rate:g}", (rate,) * 20) for rate in ALIKE]
        cells = _cells(pool, alike, Gate(3, history), count)
        yield _line(str(history or "none"), *map(_all_three, cells))
    yield ""


def _sizes(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## Suites of other sizes\n"
    yield "Clean pull requests, standard preset. The rates are those of the mixed suite, repeated; a suite of one has"
    yield "0.95, one of three has 1.0, 0.95 and 0.8.\n"
    yield _header("scenarios", "history", "trials", "blocked, %", "exit 5, %", "amber, %", "two drop by 50, found, %")
    for name, rates in SIZES.items():
        for history in (40, 10, 0):
            few = max(100, count * 20 // max(20, 4 * len(rates)))
            cell, drop = _cells(pool, situations(rates)[::2][:2], Gate(3, history), few)
            amber = f"{100 * cell.amber:.1f} ± {100 * error_of(cell.amber, few):.1f}"
            blocked = f"{_blocked(cell)} ± {100 * cell.error:.1f}"
            exit5 = f"{100 * cell.unproven:.1f}"
            found = f"{_blocked(drop)} ± {100 * drop.error:.1f}"
            yield _line(name, str(history or "none"), f"{cell.trials:.1f}", blocked, exit5, amber, found)
    yield ""


def _dead(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## Scenarios whose base fails often\n"
    yield "How often a scenario that fails completely is named, by its base rate and its trials of history, in percent;"
    yield "and how often the run ends with exit code 5. The suite has nine others that always pass.\n"
    yield _header("base rate", *(str(history or "no history") for history in HISTORIES))
    few = max(200, count // 4)
    for rate in WEAK:
        case = Situation.of(f"dead {rate:g}", (rate, *(1.0,) * 9), (0.0, *(1.0,) * 9))
        cells = [one for history in HISTORIES for one in _cells(pool, [case], Gate(3, history), few)]
        yield _line(f"{rate:g}", *(f"{100 * cell.named:.0f} / {100 * cell.unproven:.0f}" for cell in cells))
    yield "\nA scenario below 0.5 is guarded only in part: even a complete failure differs little from what base does."
    yield "More history helps, and so does a scenario that passes more often; more than 3 screening trials rarely do.\n"


def _correlated(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## False alarms where trials of one run are correlated\n"
    yield f"Clean pull requests. Each side of a run has its own success rate in each row (correlation {SHARED:g}), for"
    yield "the whole run, or another one after the pause before the verification. Percent: blocked / exit 5 / amber.\n"
    yield _header("suite", "one rate for the whole run", "another one after the pause")
    for name, rates in SUITES.items():
        clean = Situation.of("clean", rates)._replace(rho=SHARED)
        cells = _cells(pool, [clean, clean._replace(redrawn=True)], Gate(3), count)
        yield _line(name, *map(_all_three, cells))
    yield "\nWhat differs between the sides for a whole run cannot be distinguished from what the pull request does. So"
    yield "the sides are interleaved trial by trial, take turns at starting, and are verified after a pause.\n"


def _troubled(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## Outages in one stretch, and errors that count as failures\n"
    yield "An outage: both sides pass 0.3 times as often in 20 trials in a row. Errors: the provider makes 20 % of"
    yield "head's trials fail and 5 % of base's, for the whole run, in a way that looks like a failure of the tool. In"
    yield "percent: blocked / exit 5 / amber.\n"
    yield _header("suite", "history", "an outage", "errors on 20 % and 5 %")
    for name, rates in SUITES.items():
        clean = Situation.of("clean", rates)
        base, head = (tuple(rate * share for rate in rates) for share in (0.95, 0.8))
        for history in (40, 10, 0):
            cases = [clean._replace(outage=(0.3, 20)), Situation.of("errors", base, head, rates)]
            cells = _cells(pool, cases, Gate(3, history), count)
            yield _line(name, str(history or "none"), *map(_all_three, cells))
    yield "\nErrors that hit head more often than base look like a defect: no rule that sees passes alone can tell them"
    yield "apart. So a trial that meets an error of the provider has no outcome, instead of a failure.\n"


def _called_deterministic(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    few = max(100, count // 4)
    yield "## Rows wrongly called deterministic\n"
    yield "Ten rows that `deterministic: true` or the agent's type calls deterministic, of a tool that fails at random."
    yield "Clean pull requests, in percent: blocked / exit 5 / amber. Base's trials of each run are history for the"
    yield "next one, and a disagreement among them makes a row stochastic from then on.\n"
    yield _header("the tool fails in", *(f"run {number}" for number in RUNS))
    rates = [(1 - share,) * 10 for share in RANDOM_FAILURES]
    chances = [Chances(one, one, deterministic=True) for one in rates]
    ends = pool.map(simulate_runs, chances, [0] * len(chances), [max(RUNS)] * len(chances), [few] * len(chances))
    head, alike = (Chances((1.0,) * 10, (rate,) * 10, deterministic=True) for rate in (0.8, 1.0))
    alone = pool.map(simulate_runs, [head, alike] * 2, [0, 0, 20, 20], [1] * 4, [few] * 4)
    for share, found in zip(RANDOM_FAILURES, ends, strict=True):
        cells = [found[number - 1] for number in RUNS]
        yield _line(f"{share:.0%} of trials", *map(_all_three, cells))
    yield "\nThe same, where head alone fails in 20 % of its trials, and base in none. A row with ten trials of history"
    yield "or more, which all pass, gets a second head trial. Without a history nothing shows that base is steady, so"
    yield "that one trial a row has to do, and a failure that its repeats do not show makes the row stochastic.\n"
    yield _header("history", "trials", "trials of a clean one", "blocked", "exit 5", "amber", "green")
    for history in (0, 20):
        (end,), (clean,) = next(alone), next(alone)
        green = f"{100 * (1 - end.blocked - end.unproven - end.amber):.1f}"
        yield _line(str(history), f"{end.trials:.0f}", f"{clean.trials:.0f}", _blocked(end), *_rest(end), green)
    yield ""


def _lossy(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    few = max(100, count // 8)
    yield "## Trials that are lost\n"
    yield "Trials that fail lose their record as well, by a cause within the trial. *Clean*: the mixed suite. *Drop*:"
    yield "one of ten scenarios that always pass drops by 65 points. In percent: blocked / exit 5 / amber. Where"
    yield "only head loses trials, green would be wrong.\n"
    yield _header(
        "trials", *(f"{what}, {known}" for what in ("clean", "drop") for known in ("40 of history", "no history"))
    )
    steady = (1.0,) * 10
    for name, (base, head) in LOSSES.items():
        clean = Chances(MIXED, MIXED, lost_base=base, lost_head=head)
        drop = Chances(steady, (0.35, *steady[1:]), lost_base=base, lost_head=head)
        cases = [(one, history) for one in (clean, drop) for history in (40, 0)]
        ends = pool.map(simulate_runs, *zip(*cases, strict=True), [1] * len(cases), [few] * len(cases))
        yield _line(name, *(_all_three(one) for (one,) in ends))
    yield ""


def _pushes(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## Ten pushes of one pull request\n"
    yield "Each has the same defect, and is judged with what the earlier ones showed. In percent. *Not blocked later*:"
    yield "some push after a blocked one is not blocked. *Fixed, not blocked*: after a blocked first push, a second one"
    yield "that fixes everything is not blocked.\n"
    yield _header("suite", "pull request", "blocked ever", "exit 5 ever", "not blocked later", "fixed, not blocked")
    few = max(100, count // 4)
    for name, rates in SUITES.items():
        cases = [situations(rates)[n] for n in (0, 1, 2, 3)]
        found = list(pool.map(simulate_pushes, cases, [Gate(3)] * len(cases), [few] * len(cases)))
        for case, shares in zip(cases, found, strict=True):
            later = (
                ("–", "–")
                if case.name == "clean"
                else (f"{100 * shares.green_later:.1f}", f"{100 * shares.cleared:.1f}")
            )
            ever = f"{100 * shares.blocked:.1f}", f"{100 * shares.unproven:.1f}"
            yield _line(name, case.name, *ever, *later)
    yield "\nTwo scenarios drop by 50 points in the eleventh push, after ten clean ones. Percent: blocked / exit 5.\n"
    yield _header("suite", "40 trials of history", "10", "none")
    for name, rates in SUITES.items():
        gates = [Gate(3, history) for history in (40, 10, 0)]
        ends = pool.map(simulate_after_clean, [situations(rates)[2]] * 3, gates, [few] * 3)
        yield _line(name, *(f"{_blocked(one)} ± {100 * one.error:.1f} / {100 * one.unproven:.1f}" for one in ends))
    yield ""


def _rivals(pool: ProcessPoolExecutor, count: int) -> Iterator[str]:
    yield "## Rules of other tools\n"
    yield "The same suites, and rules like those of other tools in November 2026, restated in our code with settings in"
    yield "their favour. They have no history; their trials are of both sides.\n"
    names = ["clean, mixed", "clean, stable", *(situations(MIXED)[n].name for n in (1, 2, 5))]
    yield _header("rule", "trials", *names, "exit 5, clean, mixed")
    mixed, clean = situations(MIXED), Situation.of("clean, stable", STABLE)
    cases = [mixed[0], clean, mixed[1], mixed[2], mixed[5]]
    few = max(200, count // 2)
    for rival in RIVALS:
        cells = list(pool.map(simulate_rival, [rival.name] * len(cases), cases, [few] * len(cases)))
        yield _line(f"{rival.what} ({rival.source})", f"{cells[0].trials:.0f}", *map(_blocked, cells), "–")
    ours = _cells(pool, cases, Gate(3), few)
    yield _line(
        "Tidegate, `standard`, 40 trials of history", f"{ours[0].trials:.0f}", *map(_blocked, ours), _rest(ours[0])[0]
    )
    yield ""


def _cells(pool: ProcessPoolExecutor, cases: Sequence[Situation], gate: Gate, count: int) -> list[Cell]:
    return list(pool.map(simulate, cases, [gate] * len(cases), [count] * len(cases)))


def _header(*columns: str) -> str:
    return f"{_line(*columns)}\n|{'---|' * len(columns)}"


def _line(*columns: str) -> str:
    return f"| {' | '.join(columns)} |"


def _blocked(cell: Cell | Ends) -> str:
    return f"{100 * cell.blocked:.1f}"


def _rest(cell: Cell | Ends) -> tuple[str, str]:
    return f"{100 * cell.unproven:.1f}", f"{100 * cell.amber:.1f}"


def _all_three(cell: Cell | Ends) -> str:
    return " / ".join((_blocked(cell), *_rest(cell)))


if __name__ == "__main__":
    sys.exit(main())
