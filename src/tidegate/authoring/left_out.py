"""Says what a first suite leaves out or checks weakly, and why. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tidegate.authoring.examples import Candidate
from tidegate.authoring.observed_gates import COLOUR, Ran, checked_output, printing
from tidegate.text.shorten import excerpt

MOST_LISTED = 10


def left_out(candidate: Candidate, kept: Iterable[str], runs: Sequence[Mapping[str, Ran]]) -> list[str]:
    """Return a sentence for each command of the candidate that is not kept: the command, and why."""
    lost = [line for line in candidate.commands if line not in {*kept}]
    return [f"{candidate.name}: `{excerpt(line)}`: {_why(line, runs)}" for line in lost]


def left_out_notes(lost: Sequence[str], lines: int) -> tuple[str, ...]:
    """Return notes about these of so many example lines; empty if none was left out."""
    if not lost:
        return ()
    head = f"{len(lost)} of {lines} example lines failed and are left out. Fix the docs if they are wrong:"
    return (head, *listed_rows(lost))


def weak_notes(scenarios: Iterable[tuple[Candidate, Sequence[Mapping[str, Any]]]]) -> tuple[str, ...]:
    """Return notes about examples of which neither output nor files are checked; empty if there are none."""
    weak = [
        f"{candidate.name}: `{excerpt(line)}`"
        for candidate, gates in scenarios
        if not candidate.asks_help and not any("path" in gate for gate in gates)
        for line in candidate.commands
        if not {line, printing(line)} & checked_output(gates)
    ]
    if not weak:
        return ()
    count = f"{len(weak)} example{'' if len(weak) == 1 else 's'}"
    return (f"for {count} only the exit code is checked: add a check of the output", *listed_rows(weak))


def listed_rows(rows: Sequence[str]) -> list[str]:
    """Return the first rows, indented, and how many more there are."""
    more = len(rows) - MOST_LISTED
    return [f"  {row}" for row in rows[:MOST_LISTED]] + ([f"  and {more} more"] if more > 0 else [])


def _why(line: str, runs: Sequence[Mapping[str, Ran]]) -> str:
    """Return why a command was left out: how it ended and the last line of its output, from the first failed run."""
    seen = [next((ran for command, ran in commands.items() if command.endswith(line)), None) for commands in runs]
    failed = next((ran for ran in seen if ran is not None and not ran.ok), None)
    if failed is None:
        return "it was not run, or not twice"
    rows = [row.strip() for row in COLOUR.sub("", failed.output).splitlines() if row.strip()]
    once = "" if all(ran is not None and not ran.ok for ran in seen) else "only in one of two runs, "
    return f"{once}{failed.ended}" + (f", {excerpt(rows[-1])}" if rows else ", no output")
