"""`tidegate guidance`: compares two versions of the agents' instructions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from tidegate.authoring.guidance import Compared, GuidanceTexts, compare_guidance, improve_guidance, judge_for
from tidegate.checks.judges import judge_of_model
from tidegate.cli import options
from tidegate.decide.comparison.metric_tests import matters
from tidegate.errors import ConfigurationError
from tidegate.history.our_folder import make_our_folder
from tidegate.history.run_folder import write_text
from tidegate.model.comparison import MetricChange
from tidegate.model.suite import RULES
from tidegate.reports.diagnosis import diagnose, hint
from tidegate.reports.filters import words
from tidegate.suite.load import load_suite
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Runs the same scenarios on the same commit, once with A as AGENTS.md and once with B, and reports what is worse with
either: metrics first, then scenarios. It uses the procedure for pull requests, in both directions.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("first", type=Path, metavar="A.md", help="a guidance file")
    parser.add_argument("second", type=Path, nargs="?", metavar="B.md", help="the guidance file to compare with it")
    parser.add_argument(
        "--improve", action="store_true", help="let a model edit A.md, and keep each edit that is better; without B.md"
    )
    parser.add_argument("--judge", metavar="MODEL", help="the model that edits (default: the suite's judge)")
    parser.add_argument(
        "--rounds", type=options.positive, default=3, metavar="N", help="edits at most (default: %(default)s)"
    )
    parser.add_argument(
        "--as",
        dest="name",
        default="AGENTS.md",
        metavar="NAME",
        help="the file name for both in the workspace (default: AGENTS.md)",
    )
    parser.add_argument("--rev", default="HEAD", metavar="REV", help="the commit to test (default: HEAD)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: .tidegate/guidance)")
    options.add_repository(parser)
    options.add_selection(parser)


def run(args: argparse.Namespace) -> int:
    """Compare the two files and print the findings. Returns 0 even if one of them is worse."""
    if (args.second is None) != args.improve:
        raise ConfigurationError("two texts are compared, and one is improved.", "Name B.md, or pass `--improve`.")
    root = repository_root(args.repo)
    out = (args.out or make_our_folder(root) / "guidance").resolve()
    texts = GuidanceTexts(args.first.resolve(), (args.second or args.first).resolve(), args.name, args.rev)
    if args.improve:
        return _improve(args, root, texts, out)
    compared = options.run_work(args, lambda chosen: compare_guidance(root, texts, out, chosen), gate=False)
    print("\n".join(_told(compared, args.first.name, args.second.name)))
    for name in ("forward", "backward"):
        print(f"{name}: {out / name / 'report.html'}")
    return 0


def _improve(args: argparse.Namespace, root: Path, texts: GuidanceTexts, out: Path) -> int:
    """Improve the file in rounds, print a table of them and the diff, and write the new text."""
    suite = load_suite(root, args.config, environ=options.environ(args))
    judge = judge_for(judge_of_model(args.judge) if args.judge else suite.judge and suite.judge.members[0])
    out = options.new_folder(out / "improved" if args.out is None else out)
    done = options.run_work(
        args, lambda chosen: improve_guidance(root, texts, out, chosen, judge, args.rounds), gate=False
    )
    print(f"{'round':<7}{'before':>8}{'after':>8}   {'kept':<6}why")
    for number, one in enumerate(done.rounds, 1):
        passed = [f"{passes}/{trials}" for passes, trials in (one.old, one.new)]
        print(f"{number:<7}{passed[0]:>8}{passed[1]:>8}   {'yes' if one.kept else 'no':<6}{one.why}")
    if not done.diff:
        print("\nno change was better" if done.rounds else "\nnothing fails that an edit could help with")
        return 0
    write_text(out / texts.name.replace("/", "_"), done.text)
    print(f"\n{done.diff}\nthe new text: {out / texts.name.replace('/', '_')}")
    return 0


def _told(compared: Compared, first: str, second: str) -> Iterator[str]:

    forward, backward = compared
    yield f"A: {first}   B: {second}\n"
    yield f"{'metric':<28}{'A':>12}{'B':>12}   finding"
    exact = all(row.deterministic for row in forward.rows)
    for name, change in forward.suite.metrics.items():
        finding = _metric_finding(name, change, backward.suite.metrics.get(name), exact=exact)
        yield f"{words(name):<28}{_number(change.base):>12}{_number(change.head):>12}   {finding}"
    yield f"\n{'scenario × agent':<40}{'A':>8}{'B':>8}   finding"
    reverse = {row.key: row for row in backward.rows}
    for row in forward.rows:
        mirror = reverse.get(row.key)
        a_passes, a_trials = row.base.passes, row.base.trials
        b_passes, b_trials = row.head.passes, row.head.trials
        if mirror is not None:
            a_passes, a_trials = a_passes + mirror.head.passes, a_trials + mirror.head.trials
            b_passes, b_trials = b_passes + mirror.base.passes, b_trials + mirror.base.trials
        finding = _finding(row.state, mirror.state if mirror else "")
        name = str(row.key)
        yield f"{name:<40}{f'{a_passes}/{a_trials}':>8}{f'{b_passes}/{b_trials}':>8}   {finding}"
    for text, result in (("A", backward), ("B", forward)):
        for found in diagnose(result.rows, result.trials, result.diagnosis, result.agents):
            yield f"likely cause with {text}: {hint(found)}"
    yield ""


def _metric_finding(name: str, forward: MetricChange, backward: MetricChange | None, *, exact: bool) -> str:
    """Return the finding for a metric. With `exact`, no chance is involved: a change that matters needs no test."""

    exact = exact and not RULES[name].concurrent
    for change, finding in ((forward, "B is worse"), (backward, "A is worse")):
        if change is not None and (change.warns or (exact and matters(name, change))):
            return finding
    return "not told apart" if not exact or forward.base != forward.head else "the same"


def _finding(forward: str, backward: str) -> str:
    """Return the finding for one row from its states in both directions."""
    if forward == "regressed":
        return "B is worse"
    if backward == "regressed":
        return "A is worse"
    if "not_measured" in (forward, backward):
        return "not measured"
    if "unconfirmed" in (forward, backward):
        return f"{'B' if forward == 'unconfirmed' else 'A'} may be worse: not confirmed"
    return "not told apart"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
