"""`tidegate simulate`: estimates the policy's false-positive rate, power and cost on this suite."""

from __future__ import annotations

import argparse
from math import ceil
from pathlib import Path

from tidegate.cli import options
from tidegate.decide.procedure.detection import Screening
from tidegate.decide.procedure.rules import LEAST_HISTORY, screening_trials
from tidegate.history.known_results import history_counts, replayable_rows
from tidegate.lab.simulate import Cell, Gate, Rates, TrialNumbers, drifts, sensitivity, simulate, situations
from tidegate.model.plan import Plan
from tidegate.model.suite import Suite
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Simulates thousands of pull requests with the suite's policy and Tidegate's own decision code. Prints how many clean
ones are blocked, what is detected, and how many trials that takes, also with `replay: {use: skip}`; then which drops
each row can show, and with how many trials. Runs no agent. Each scenario passes as often as
its history says, or at --rate without history. Deterministic rows are left out.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument(
        "--prs", type=options.positive, default=2000, metavar="N", help="pull requests per situation (default: 2000)"
    )
    parser.add_argument(
        "--rate",
        type=options.rate,
        default=0.95,
        metavar="P",
        help="success rate of scenarios without history (default: 0.95)",
    )
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate pull requests and print the table."""

    root: Path = repository_root(args.repo)
    suite = load_suite(root, args.config, environ=options.environ(args))
    plan = make_plan(suite)
    counts = history_counts(root, suite, plan)
    rates: Rates = tuple((passes + 0.5) / (trials + 1) if trials else args.rate for passes, trials in counts.values())
    if not rates:
        print("Every row is deterministic: a flip is confirmed by repeats, and chance has no part in it.")
        return 0
    plans = []
    for key, (_, trials) in counts.items():
        own = plan.row(key).scenario.trials.over(suite.trials)
        plans.append(
            TrialNumbers(screening_trials(own, suite.policy), trials if trials >= LEAST_HISTORY else 0, own.max)
        )
    gate = Gate(policy=suite.policy, rows=tuple(plans))
    print(_heading(suite, plan, len(rates), [row.history for row in plans]))
    for situation in [*situations(rates), *(drifts(rates) if any(row.history for row in plans) else ())]:
        print(_line(situation.name, simulate(situation, gate, args.prs)))
    replayed = replayable_rows(root, suite, plan)
    left = [number for number, key in enumerate(counts) if key not in replayed]
    of_left = gate._replace(rows=tuple(plans[number] for number in left))
    clean = simulate(situations(tuple(rates[n] for n in left))[0], of_left, args.prs).trials if left else 0.0
    print(_with_replay(suite, len(counts), len(left), clean))
    screened = {
        str(key): Screening(row.screening, rate, row.history, row.most)
        for key, row, rate in zip(counts, plans, rates, strict=True)
    }
    print(f"\n{sensitivity(screened, suite.policy.alpha)}")
    return 0


def _heading(suite: Suite, plan: Plan, rows: int, histories: list[int]) -> str:
    left_out = len(plan.rows) - rows
    steady = f", {left_out} deterministic left out" if left_out else ""
    least, most = min(histories), max(histories)
    history = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"{rows} rows{steady}; preset {suite.policy.preset}, alpha {suite.policy.alpha:g}, "
        f"{history} trials of history for each\n\n"
        f"{'a pull request where …':<30}{'trials':>8}{'blocked':>18}{'names the right one':>22}"
    )


def _with_replay(suite: Suite, rows: int, left: int, trials: float) -> str:
    """Return what a clean pull request takes if sessions replace agents. `trials`: of the rows that are left."""
    checks = ceil(suite.policy.replay.spot_checks * (rows - left))
    return (
        f"\nwith `replay: {{use: skip}}`, one that changes nothing for agents takes {trials + checks:.1f} trials: "
        f"{rows - left} of {rows} rows\n"
        f"have recorded sessions that can replace agents, and {checks} of these are checked"
    )


def _line(name: str, cell: Cell) -> str:
    blocked = f"{cell.blocked:.1%} ± {cell.error:.1%}"
    return f"{name:<30}{cell.trials:>8.1f}{blocked:>18}{cell.named:>22.1%}"
