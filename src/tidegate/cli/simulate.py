"""`tidegate simulate`: estimates the policy's false-positive rate, power and cost on this suite."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options

if TYPE_CHECKING:
    from tidegate.authoring.simulate import Cell, Rates
    from tidegate.model.plan import Plan
    from tidegate.model.suite import Suite

DESCRIPTION = """\
Judges thousands of simulated pull requests with the suite's own policy, by the very code that judges real ones, and
says how many clean ones it blocks, what it catches, and how many trials that costs. No agent is run. A scenario
passes as often as its history says; --rate stands in where there is none. Deterministic rows are left out: chance
has no part in them.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "simulate", help="error rates and cost of the policy on this suite", description=DESCRIPTION
    )
    parser.add_argument("--prs", type=options.positive, default=2000, metavar="N", help="a situation (default: 2000)")
    parser.add_argument(
        "--rate",
        type=options.rate,
        default=0.95,
        metavar="P",
        help="success of scenarios without history (default: 0.95)",
    )
    parser.add_argument(
        "--history", type=int, metavar="N", help="trials of history for each scenario (default: what there is)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for other draws")
    options.add_repository(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Simulate pull requests and print the table."""
    from tidegate.authoring.simulate import Gate, drifts, simulate, situations
    from tidegate.history.known_results import history_counts
    from tidegate.plan import make_plan
    from tidegate.procedure.rules import LEAST_HISTORY, Rules
    from tidegate.procedure.steps import screening_trials
    from tidegate.suite.load import load_suite
    from tidegate.vcs.revisions import repository_root

    root: Path = repository_root(args.repo)
    suite = load_suite(root, args.config, environ=options.environ())
    plan = make_plan(suite)
    counts = history_counts(root, suite, plan)
    rates: Rates = tuple((passes + 0.5) / (trials + 1) if trials else args.rate for passes, trials in counts.values())
    if not rates:
        print("Every row is deterministic: a flip is confirmed by repeats, and chance has no part in it.")
        return 0
    known = min(trials for _, trials in counts.values()) if args.history is None else args.history
    gate = Gate(
        screening_trials(suite.trials, suite.policy), known if known >= LEAST_HISTORY else 0, Rules.of(suite.policy)
    )
    print(_heading(suite, plan, len(rates), gate.history))
    for situation in [*situations(rates), *(drifts(rates) if gate.history else ())]:
        print(_line(situation.name, simulate(situation, gate, args.prs, args.seed)))
    return 0


def _heading(suite: Suite, plan: Plan, rows: int, history: int) -> str:
    left_out = len(plan.rows) - rows
    steady = f", {left_out} deterministic left out" if left_out else ""
    return (
        f"{rows} rows{steady}; preset {suite.policy.preset}, alpha {suite.policy.alpha:g}, "
        f"{history} trials of history for each\n\n"
        f"{'a pull request where …':<30}{'trials':>8}{'blocked':>18}{'names the right one':>22}"
    )


def _line(name: str, cell: Cell) -> str:
    blocked = f"{cell.blocked:.1%} ± {cell.error:.1%}"
    return f"{name:<30}{cell.trials:>8.1f}{blocked:>18}{cell.named:>22.1%}"
