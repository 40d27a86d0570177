"""`tidegate check`: validates the suite and prints what a pull request would run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options

if TYPE_CHECKING:
    from tidegate.model.plan import Plan
    from tidegate.model.suite import Scenario, Suite

DESCRIPTION = """\
Validates the suite and every file that it names. Prints all errors at once, with file, line and column, or what would
run on a pull request. Runs nothing.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Print the planned trials and advice. An invalid suite raises ConfigurationError."""
    from tidegate.suite.folders import uncommitted, unmatched  # 380 ms
    from tidegate.suite.load import load_suite
    from tidegate.suite.plan import make_plan, refuse_self_judging
    from tidegate.suite.suggestions import advice, missing_here

    root = _root(args.repo, args.config)
    suite = load_suite(root, args.config, environ=options.environ(args))
    plan = make_plan(suite)
    refuse_self_judging(suite, plan)
    hints = (
        *advice(suite, plan, root),
        *missing_here(suite, plan, options.environ(args)),
        *uncommitted(root, suite),
        *unmatched(root, suite),
    )
    print(_totals(suite, plan))
    print(f"\n{listing(plan)}")
    if hints:
        print("\nadvice:", *(f"  {hint}" for hint in hints), sep="\n")
    return 0


def _root(folder: Path, config: str) -> Path:
    """Return the folder that the suite is relative to: `folder` if it has the file, else the repository root."""
    from tidegate.vcs.revisions import repository_root  # 110 ms

    return folder if (folder / config).exists() else repository_root(folder)


def _first_trials(suite: Suite, plan: Plan) -> int:
    """Return the number of trials that a pull request takes if nothing has to be repeated."""
    from tidegate.decide.procedure.rules import screening_of  # 310 ms
    from tidegate.suite.plan import run_rows

    return sum(2 * screening_of(row, suite.policy) for row in run_rows(plan, suite))


def _totals(suite: Suite, plan: Plan) -> str:
    scenarios = len({row.key.scenario for row in plan.rows})
    agents = len({row.key.agent for row in plan.rows})
    rows = len(plan.rows)
    product = "=" if scenarios * agents == rows else "→"
    trials = _first_trials(suite, plan)
    steady = sum(row.deterministic for row in plan.rows)
    kinds = "deterministic" if steady == rows else f"{steady} of {rows} rows deterministic"
    return (
        f"{suite.file} is valid.\n"
        f"{_count(scenarios, 'scenario')} × {_count(agents, 'agent')} {product} {_count(rows, 'row')}, "
        f"each on base and head: {trials} trials if all is well ({kinds})"
    )


def listing(plan: Plan) -> str:
    """Return a table of the rows, with what checks them and their files."""
    table = [(row.key.scenario, row.key.agent, _checks(row.scenario), row.scenario.file) for row in plan.rows]
    widths = [max(len(line[column]) for line in table) for column in range(4)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table)
    return "\n".join(f"  {line.rstrip()}" for line in padded)


def _checks(scenario: Scenario) -> str:
    parts = [_count(len(scenario.gates), "gate")]
    if scenario.evaluators:
        parts.append(_count(len(scenario.evaluators), "evaluator"))
    if scenario.judge:
        parts.append("a judge")
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
